//! Bodies out of their content coding, never more than a limit.
//!
//! gzip, deflate (with or without its zlib frame), br and zstd, one inside the other at most twice. The
//! bound is checked as the output grows: a bomb costs what the limit allows and no more. zstd frames
//! that ask for a window beyond 8 MiB are refused, as RFC 8878 advises.

use std::borrow::Cow;
use std::io::{self, Read};

/// Why a body could not be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// It is larger than the limit.
    TooLarge,
    /// It is not in its coding, or nobody knows that coding.
    Broken,
}

const MOST_CODINGS: usize = 2;
/// 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Unpacks `body`, whose `Content-Encoding` is `coding`, to at most `most` bytes.
///
/// # Errors
///
/// See [`Unpacked`].
pub fn unpack<'a>(body: &'a [u8], coding: &str, most: usize) -> Result<Cow<'a, [u8]>, Unpacked> {
    let codings: Vec<String> = coding
        .split(',')
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect();
    if codings.len() > MOST_CODINGS {
        return Err(Unpacked::Broken);
    }
    let mut body = Cow::Borrowed(body);
    for name in codings.iter().rev() {
        if !body.is_empty() {
            body = Cow::Owned(unpack_one(&body, name, most)?);
        }
    }
    if body.len() > most { Err(Unpacked::TooLarge) } else { Ok(body) }
}

fn unpack_one(body: &[u8], coding: &str, most: usize) -> Result<Vec<u8>, Unpacked> {
    match coding {
        "gzip" | "x-gzip" => read(flate2::bufread::MultiGzDecoder::new(body), most),
        "deflate" => {
            // Some servers leave out the frame that the name stands for.
            let framed = body.len() >= 2
                && body[0] & 0x0f == 8
                && u16::from_be_bytes([body[0], body[1]]).is_multiple_of(31);
            if framed {
                read(flate2::bufread::ZlibDecoder::new(body), most)
            } else {
                read(flate2::bufread::DeflateDecoder::new(body), most)
            }
        }
        "br" => read(brotli_decompressor::Decompressor::new(body, 16 << 10), most),
        "zstd" => {
            let decoder = zstd::Decoder::with_buffer(body).and_then(|mut decoder| {
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Ok(decoder)
            });
            read(decoder.map_err(|_| Unpacked::Broken)?, most)
        }
        _ => Err(Unpacked::Broken),
    }
}

fn read(mut reader: impl Read, most: usize) -> Result<Vec<u8>, Unpacked> {
    let mut out = Vec::new();
    let mut piece = vec![0; 32 << 10];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(out),
            Ok(count) if out.len() + count > most => return Err(Unpacked::TooLarge),
            Ok(count) => out.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Unpacked::Broken),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn packed(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(bytes).unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::best());
        raw.write_all(bytes).unwrap();
        vec![
            ("gzip", gzip(bytes)),
            ("GZIP, identity", gzip(bytes)),
            ("gzip, gzip", gzip(&gzip(bytes))),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("zstd", zstd::encode_all(bytes, 19).unwrap()),
            ("", bytes.to_vec()),
        ]
    }

    #[test]
    fn every_coding_is_undone() {
        let page = "<p>원본</p>".repeat(1000);
        for (coding, body) in packed(page.as_bytes()) {
            assert_eq!(&*unpack(&body, coding, 1 << 20).unwrap(), page.as_bytes(), "{coding}");
        }
        // `printf 'hello\n' | brotli`, in full.
        let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', b'\n', 0x03];
        assert_eq!(&*unpack(&brotli, "br", 100).unwrap(), b"hello\n");
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        for (coding, body) in packed(&vec![b' '; 4 << 20]) {
            assert_eq!(unpack(&body, coding, 1 << 20), Err(Unpacked::TooLarge), "{coding}");
            assert!(unpack(&body, coding, 4 << 20).is_ok(), "{coding}");
        }
    }

    #[test]
    fn what_is_not_in_its_coding_is_broken() {
        for coding in ["gzip", "deflate", "br", "zstd", "compress", "gzip, gzip, gzip"] {
            let body = b"this is in no coding at all, whatever the field says";
            assert_eq!(unpack(body, coding, 1 << 20), Err(Unpacked::Broken), "{coding}");
        }
        let cut = gzip(&[7; 1000]);
        assert_eq!(unpack(&cut[..cut.len() / 2], "gzip", 1 << 20), Err(Unpacked::Broken));
    }
}
