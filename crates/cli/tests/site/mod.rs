//! A small site that tests crawl.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

/// What a site answers: status, other fields of the head, body.
pub(crate) type SiteAnswer = (u16, &'static str, Vec<u8>);

/// A site of three pages, two of them the same, on an address of this machine.
pub(crate) fn serve() -> u16 {
    serve_with(|path| {
        let story = "<p>one morning the old ferry did not come and the whole village \
                     stood on the quay with baskets and bicycles</p>";
        let (status, body) = match path {
            "/" => (200, "<a href=/a>a</a> <a href=/b>b</a> <p>home of a story".to_owned()),
            "/a" | "/b" => (200, format!("{story}<p>first")),
            _ => (404, String::new()),
        };
        (status, "Content-Type: text/html\r\n", body.into_bytes())
    })
}

/// A site that answers by its paths.
pub(crate) fn serve_with(answer: fn(&str) -> SiteAnswer) -> u16 {
    let listener = TcpListener::bind("127.0.0.5:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut out = stream.try_clone().unwrap();
                let mut lines = BufReader::new(stream).lines();
                while let Some(Ok(first)) = lines.next() {
                    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {
                    }
                    let path = first.split(' ').nth(1).unwrap_or_default();
                    let (status, head, body) = answer(path);
                    let length = body.len();
                    let head =
                        format!("HTTP/1.1 {status} x\r\n{head}Content-Length: {length}\r\n\r\n");
                    if out.write_all(&[head.as_bytes(), &body].concat()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}
