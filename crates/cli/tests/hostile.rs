//! Input that nobody writes by hand: right answers, in linear time and bounded memory.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::process::Command;

use support::{Files, json, json_lines, stderr, stdout};

/// Runs the program in an address space of `megabytes`.
fn within(megabytes: usize, arguments: &[&str]) -> std::process::Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {} && exec \"$0\" \"$@\"", megabytes << 10))
        .arg(env!("CARGO_BIN_EXE_wonbon"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_hundred_megabytes_of_one_word_are_sketched_in_bounded_memory() {
    let files = Files::new();
    let many = files.write("many.txt", "word ".repeat(20_000_000));
    let long = files.write("long.txt", "w".repeat(100_000_000));
    let output = within(1500, &["sketch", &many, &long, "--threads", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = json_lines(stdout(&output));
    assert_eq!((&lines[0]["words"], &lines[0]["shingles"]), (&20_000_000.into(), &1.into()));
    assert_eq!((&lines[1]["words"], &lines[1]["shingles"]), (&1.into(), &1.into()));

    let short = files.write("short.txt", "word word word word word word");
    let found = json(&within(1500, &["compare", &many, &short, "--json"]));
    assert_eq!(found["verdict"], "same shingles");
    assert_eq!(found["resemblance"], 1.0);
}

#[test]
fn a_million_nested_tags_are_read() {
    let files = Files::new();
    let page = format!("<html><body>{}the post is here", "<div>".repeat(1_000_000));
    let path = files.write("nested.html", page);
    let found = json(&within(1500, &["extract", &path, "--json"]));
    assert!(found["text"].as_str().unwrap().contains("the post is here"));
}

#[test]
fn a_file_of_zeros_is_no_text() {
    let files = Files::new();
    let path = files.write("zeros.bin", vec![0; 10_000_000]);
    let output = within(500, &["sketch", &path]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("refused: {path} is a binary file; a text is wanted\n");
    assert_eq!((stderr(&output), stdout(&output)), (expected.as_str(), ""));
}

#[test]
fn text_cut_in_the_middle_of_a_character_keeps_the_rest() {
    let files = Files::new();
    let whole = "원본은 하나이고 사본은 여럿이다 그래서 찾는 일이 어렵다 하지만 찾을 수 있다";
    let a = files.write("whole.txt", whole);
    let b = files.write("cut.txt", &whole.as_bytes()[..whole.len() - 1]);
    let found = json(&within(500, &["compare", &a, &b, "--json"]));
    // Only the last word is hurt: 12 words, 8 shingles, the last of them differs.
    assert_eq!(found["shingles_shared"], 7, "{found}");
    assert_eq!(found["verdict"], "partly contained");
}

#[test]
fn a_compressed_file_that_does_not_end_is_refused_at_the_limit() {
    // 2 GiB of zeros in 65 kB: beyond the size one document may have.
    let files = Files::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 2 << 30), &mut encoder).unwrap();
    let path = files.write("bomb.txt.zst", encoder.finish().unwrap());
    let output = within(4000, &["extract", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bomb.txt.zst is longer than"), "{}", stderr(&output));
}

/// A row of JSON with a field of its own.
fn row(field: &str) -> Vec<u8> {
    format!("{{\"id\":\"a\",\"text\":\"the ferry did not come that morning\",{field}}}\n").into()
}

/// A zstd frame that asks for a window of 2^31 bytes and ends there.
fn zstd_window() -> Vec<u8> {
    let window = (31 - 10) << 3;
    vec![0x28, 0xB5, 0x2F, 0xFD, 0, window, 1, 0, 0]
}

fn gzip(bytes: &[u8], times: usize) -> Vec<u8> {
    use std::io::Write as _;
    (0..times).fold(bytes.to_vec(), |bytes, _| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&bytes).unwrap();
        encoder.finish().unwrap()
    })
}

fn warc(fields: &str, body: &str) -> Vec<u8> {
    format!("WARC/1.1\r\nWARC-Type: response\r\n{fields}\r\n\r\n{body}").into()
}

/// An archived answer whose body is packed or cut in some way.
fn answer(header: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}\r\n\r\n");
    let block = [head.as_bytes(), body].concat();
    let fields = format!(
        "WARC-Target-URI: http://a.example/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n\
         Content-Type: application/http;msgtype=response\r\nContent-Length: {}",
        block.len()
    );
    [warc(&fields, "").as_slice(), &block, b"\r\n\r\n"].concat()
}

/// What brotli makes of 64 MB of the letter x.
const BROTLI: [u8; 54] = [
    0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x25, 0xf0, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff, 0xff,
    0xff, 0xf0, 0x4b, 0x00, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0xe1, 0x97,
    0x00, 0x88, 0xc3, 0x22, 0x00, 0xdd, 0xfb, 0x7f, 0xfe, 0xff, 0xff, 0xc3, 0x2f, 0x01, 0x10, 0x87,
    0x05, 0x00, 0xba, 0xf7, 0xff, 0x03,
];

/// Files that grow, nest or announce without bound.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let many = 200_000;
    let page =
        |inside: String| format!("<html><body><p>the post{inside}</body></html>").into_bytes();
    let uri = "WARC-Target-URI: http://a.example/\r\n";
    vec![
        ("line.jsonl.gz", gzip(&vec![b'x'; 64 << 20], 1)),
        ("string.jsonl.gz", gzip(format!("{{\"id\":\"{}", "a".repeat(64 << 20)).as_bytes(), 1)),
        ("zeros.txt.gz", gzip(&vec![0; 64 << 20], 1)),
        ("nested.jsonl.gz", gzip(&row("\"n\":1"), 20)),
        ("window.jsonl.zst", zstd_window()),
        ("zeros.jsonl.zst", zstd::bulk::compress(&vec![b'\n'; 64 << 20], 1).unwrap()),
        ("deep.jsonl", row(&format!("\"d\":{}{}", "[".repeat(many), "]".repeat(many)))),
        ("unclosed.jsonl", "[".repeat(many).into()),
        ("objects.jsonl", row(&format!("\"d\":{}", "{\"a\":".repeat(many)))),
        (
            "fields.jsonl",
            row(&(0..many / 10).map(|n| format!("\"f{n}\":1")).collect::<Vec<_>>().join(",")),
        ),
        ("number.jsonl", row(&format!("\"n\":{}", "9".repeat(many)))),
        ("exponent.jsonl", row("\"n\":1e999999999")),
        ("columns.csv", format!("{}\n{}\n", ",a".repeat(many / 10), ",b".repeat(many / 10)).into()),
        ("quote.csv", format!("id,text\na,\"{}", "x\n".repeat(many)).into()),
        ("lines.csv", "\n".repeat(10 * many).into()),
        ("attributes.html", page(format!("<p {}>", "a=b ".repeat(many)))),
        ("attribute.html", page(format!("<p a=\"{}\">", "x".repeat(10 * many)))),
        ("comment.html", page(format!("<!--{}", "-".repeat(10 * many)))),
        ("comments.html", page("<!--".repeat(many))),
        ("entities.html", page("&NotEqualTilde;".repeat(many))),
        ("tags.html", page("<".repeat(10 * many))),
        ("links.html", page("<a href=/x>".repeat(many))),
        ("tables.html", page("<table><tr><td>".repeat(many / 4))),
        ("forms.html", page("<b><i><a href=x>".repeat(many / 4))),
        ("script.html", page(format!("<script>{}", "</scrip".repeat(many)))),
        ("json-ld.html", page(format!("<script type=application/ld+json>{}", "[".repeat(many)))),
        ("options.html", page("<select><option>a".repeat(many))),
        (
            "images.html",
            page(format!("<img src=\"data:image/png;base64,{}\">", "A".repeat(20 << 20))),
        ),
        ("surrogates.jsonl", row(&format!("\"s\":\"{}\"", "\\ud800".repeat(many)))),
        ("strings.jsonl", row(&format!("\"a\":[{}\"\"]", "\"a\",".repeat(5 * many)))),
        ("returns.csv", "id,text\r".repeat(many).into()),
        ("field.csv", format!("id,{}\na,b\n", "t".repeat(20 << 20)).into()),
        (
            "name.txt.gz",
            [&[0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3][..], &[b'n'; 1 << 20].repeat(20)[..]].concat(),
        ),
        ("marks.txt", "a\u{301}".repeat(many).into()),
        ("combining.txt", format!("a{}", "\u{301}".repeat(5 * many)).into()),
        ("ligatures.txt", "\u{FDFA}".repeat(many).into()),
        ("length.warc", warc(&format!("{uri}Content-Length: 9223372036854775807"), "x")),
        ("overflow.warc", warc(&format!("{uri}Content-Length: 99999999999999999999"), "x")),
        ("header.warc", warc(&format!("X: {}", "y".repeat(20 * many)), "")),
        ("headers.warc", warc(&"X: y\r\n".repeat(many), "")),
        ("gzip.warc", answer("Content-Encoding: gzip", &gzip(&vec![b'x'; 64 << 20], 1))),
        ("twice.warc", answer("Content-Encoding: gzip, gzip", &gzip(&vec![b'x'; 64 << 20], 2))),
        ("zstd.warc", answer("Content-Encoding: zstd", &zstd_window())),
        ("brotli.warc", answer("Content-Encoding: br", &BROTLI)),
        ("chunk.warc", answer("Transfer-Encoding: chunked", b"FFFFFFFFFFFFFFFF\r\nx")),
        ("chunks.warc", answer("Transfer-Encoding: chunked", &b"1\r\nx\r\n".repeat(many))),
        ("folded.warc", warc(&format!("{uri}X: y{}", "\r\n y".repeat(many)), "")),
        ("starts.warc", "WARC/1.1\r\n".repeat(many / 4).into()),
        ("members.warc.gz", gzip(b"", 1).repeat(many / 10)),
        (
            "footer.parquet",
            [b"PAR1".as_slice(), &[0xFF; 64], &u32::MAX.to_le_bytes(), b"PAR1"].concat(),
        ),
        (
            "thrift.parquet",
            [b"PAR1".as_slice(), &[0x1C; 4096], &4096_u32.to_le_bytes(), b"PAR1"].concat(),
        ),
        (
            "lists.parquet",
            [
                b"PAR1".as_slice(),
                &[0x29, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
                &[0; 57],
                &64_u32.to_le_bytes(),
                b"PAR1",
            ]
            .concat(),
        ),
    ]
}

#[test]
fn bombs_end_in_bounded_memory_with_a_sentence() {
    let files = Files::new();
    let bombs = bombs();
    assert!(bombs.len() >= 50, "{}", bombs.len());
    for (name, bytes) in bombs {
        let path = files.write(name, &bytes);
        let store = files.path().join("store");
        let arguments = ["--store", store.to_str().unwrap(), "add", &path, "--threads", "1"];
        let output = within(900, &[&arguments[..], &["--max-document-bytes", "16777216"]].concat());
        let said = stderr(&output);
        assert!(matches!(output.status.code(), Some(0..=2)), "{name}: {:?} {said}", output.status);
        assert!(!said.contains("panicked"), "{name}: {said}");
        assert!(!said.is_empty(), "{name}: it says nothing");
        std::fs::remove_file(path).unwrap();
    }
}
