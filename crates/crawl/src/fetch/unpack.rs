//! Bodies out of their content coding, never more than a limit.
//!
//! gzip, deflate (with or without its zlib frame), br and zstd, one inside the other at most twice. The
//! bound is checked as the output grows: a bomb costs what the limit allows and no more. A body that
//! breaks off inside its coding is broken: a crawl asks again another time, an archive's reader
//! ([`wonbon_warc::http`], which does the work) takes what there is.

use std::borrow::Cow;

use wonbon_warc::http::{End, decode};

/// Why a body could not be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpacked {
    /// It is larger than the limit.
    TooLarge,
    /// It is not in its coding, or nobody knows that coding.
    Broken,
}

const MOST_CODINGS: usize = 2;

/// Unpacks `body`, whose `Content-Encoding` is `coding`, to at most `most` bytes.
///
/// # Errors
///
/// See [`Unpacked`].
pub(crate) fn unpack<'a>(
    body: &'a [u8],
    coding: &str,
    most: usize,
) -> Result<Cow<'a, [u8]>, Unpacked> {
    let is_coding = |name: &&str| !name.is_empty() && !name.eq_ignore_ascii_case("identity");
    let codings: Vec<&str> = coding.split(',').map(str::trim).filter(is_coding).collect();
    if codings.len() > MOST_CODINGS {
        return Err(Unpacked::Broken);
    }
    let mut body = Cow::Borrowed(body);
    for name in codings.iter().rev() {
        // Servers send empty bodies in any coding.
        if body.is_empty() {
            break;
        }
        let unpacked = decode(name, &body, most).map_err(|_| Unpacked::Broken)?;
        let bytes = match unpacked.end {
            End::Whole => unpacked.bytes.into_owned(),
            End::Limit => return Err(Unpacked::TooLarge),
            End::Damaged => return Err(Unpacked::Broken),
        };
        body = Cow::Owned(bytes);
    }
    if body.len() > most { Err(Unpacked::TooLarge) } else { Ok(body) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;

    use super::*;

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
        // A window of 16 bits, one last metablock that is stored.
        let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(&*unpack(&brotli, "br", 100).unwrap(), b"hello");
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
