//! Heads, chunks, content codings, dates, digests and names.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::io::Write;

use proptest::prelude::*;
use wonbon_warc::http::{Body, End, Head, HttpError, decode, response_head};
use wonbon_warc::{Digest, RecordId};

fn body_of(block: &[u8], limit: usize) -> (Vec<u8>, End) {
    let Body { bytes, end } = Head::parse(block).unwrap().body(block, limit).unwrap();
    (bytes.into_owned(), end)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bare_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// `hello` in brotli: a window of 16 bits, one last metablock that is stored.
const HELLO_IN_BROTLI: [u8; 9] = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];

#[test]
fn a_head_is_read_as_servers_write_it() {
    let block =
        b"HTTP/1.1 301 Moved Permanently\r\nLocation: /x\r\nX: a\r\n b\r\nset-cookie: 1\r\n\
        Set-Cookie: 2\r\nno colon\r\n\r\nbody";
    let head = Head::parse(block).unwrap();
    assert_eq!(head.status, 301);
    assert_eq!(head.header("LOCATION"), Some("/x"));
    assert_eq!(head.header("x"), Some("a b"));
    assert_eq!(head.all("set-cookie").collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(&block[head.body_at..], b"body");
    // Bare line feeds, no reason, no body, bytes of Latin-1.
    let block = b"HTTP/1.0 200\nX: caf\xe9\n\n";
    let head = Head::parse(block).unwrap();
    assert_eq!((head.status, head.header("x"), head.body_at), (200, Some("café"), block.len()));
    assert_eq!(Head::parse(b"HTTP/2 404\r\n").unwrap().status, 404);
    for bad in [
        b"".as_slice(),
        b"GET / HTTP/1.1\r\n\r\n",
        b"HTTP/1.1\r\n",
        b"HTTP/1.1 abc\r\n",
        b"HTTP/1.1 99 x",
    ] {
        assert_eq!(Head::parse(bad), Err(HttpError::NoStatusLine));
    }
}

#[test]
fn chunks_are_put_together_where_there_are_chunks() {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n";
    let block = |body: &[u8]| [head.as_slice(), body].concat();
    assert_eq!(
        body_of(&block(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"), 99),
        (b"abcde".to_vec(), End::Whole)
    );
    assert_eq!(body_of(&block(b"A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"), 99).0.len(), 10);
    assert_eq!(body_of(&block(b"5\r\nabc"), 99), (b"abc".to_vec(), End::Damaged));
    assert_eq!(body_of(&block(b"3\r\nabc\r\n"), 99), (b"abc".to_vec(), End::Damaged));
    assert_eq!(body_of(&block(b"<p>not chunked"), 99), (b"<p>not chunked".to_vec(), End::Whole));
    assert_eq!(body_of(&block(b"ffffffffffffffffff\r\nabc"), 99).1, End::Whole);
}

#[test]
fn content_codings_are_undone_in_turn() {
    let text = b"hello ".repeat(1000);
    let zstd = zstd::encode_all(text.as_slice(), 3).unwrap();
    let cases = [
        ("gzip", gzip(&text)),
        ("X-GZIP", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", bare_deflate(&text)),
        ("zstd", zstd.clone()),
        ("identity", text.clone()),
        ("gzip, zstd", zstd::encode_all(gzip(&text).as_slice(), 3).unwrap()),
        ("", text.clone()),
    ];
    for (coding, coded) in cases {
        let block =
            [format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n").as_bytes(), &coded]
                .concat();
        assert_eq!(body_of(&block, 10_000), (text.clone(), End::Whole), "{coding}");
        let (cut, end) = body_of(&block, 100);
        assert_eq!((cut.as_slice(), end), (&text[..100], End::Limit), "{coding}");
    }
    assert_eq!(decode("br", &HELLO_IN_BROTLI, 99).unwrap().bytes.as_ref(), b"hello");
    assert_eq!(
        decode("compress", b"x", 1),
        Err(HttpError::UnknownCoding { coding: "compress".to_owned() })
    );
}

#[test]
fn damaged_codings_give_what_came_before() {
    let text: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
    for (coding, coded) in
        [("gzip", gzip(&text)), ("zstd", zstd::encode_all(text.as_slice(), 1).unwrap())]
    {
        let Body { bytes, end } = decode(coding, &coded[..coded.len() / 2], 1 << 20).unwrap();
        assert_eq!(end, End::Damaged, "{coding}");
        assert!(text.starts_with(&bytes));
    }
    assert_eq!(decode("gzip", b"not gzip", 99).unwrap().end, End::Damaged);
}

#[test]
fn a_bomb_is_unpacked_up_to_the_limit_and_no_further() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..100 {
        encoder.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let Body { bytes, end } = decode("gzip", &bomb, 4096).unwrap();
    assert_eq!((bytes.len(), end), (4096, End::Limit));
    // What is exactly as long as the limit is whole.
    assert_eq!(decode("gzip", &gzip(&[7; 4096]), 4096).unwrap().end, End::Whole);
}

#[test]
fn a_head_that_is_written_can_be_read_and_not_broken_out_of() {
    let headers: [(&str, &[u8]); 3] =
        [("a", b"1\r\nb: 2"), ("Transfer-Encoding", b"chunked"), ("c", b"3")];
    let head = response_head(200, "O\r\nK", headers);
    let parsed = Head::parse(&head).unwrap();
    assert_eq!(parsed.body_at, head.len());
    assert_eq!(
        parsed.headers,
        [("a".to_owned(), "1b: 2".to_owned()), ("c".to_owned(), "3".to_owned())]
    );
}

#[test]
fn digests_are_those_of_everybody_else() {
    let empty = Digest::of(b"");
    assert_eq!(empty.to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    assert_eq!("sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj".parse(), Ok(empty));
    assert_eq!("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709".parse(), Ok(empty));
    for bad in [
        "",
        "sha1:",
        "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBY1",
    ] {
        assert!(bad.parse::<Digest>().is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn digests_and_names_are_read_as_they_are_written(
        bytes in any::<[u8; 20]>(),
        bits in any::<u128>(),
    ) {
        let digest = Digest::from_bytes(bytes);
        prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        let id = RecordId::from_bits(bits);
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn any_bytes_are_answered(block in proptest::collection::vec(any::<u8>(), 0..300), coding in "gzip|deflate|br|zstd") {
        let Body { bytes, .. } = decode(&coding, &block, 1000).unwrap();
        prop_assert!(bytes.len() <= 1000);
        let block = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice(), &block].concat();
        prop_assert!(body_of(&block, 100).0.len() <= 100);
    }
}
