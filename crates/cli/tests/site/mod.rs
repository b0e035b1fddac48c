//! A small site that tests crawl.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

/// A site of three pages, two of them the same, on an address of this machine.
pub(crate) fn serve() -> u16 {
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
                    let story = "<p>one morning the old ferry did not come and the whole village \
                                 stood on the quay with baskets and bicycles</p>";
                    let (status, body) = match first.split(' ').nth(1).unwrap_or_default() {
                        "/" => {
                            (200, "<a href=/a>a</a> <a href=/b>b</a> <p>home of a story".to_owned())
                        }
                        "/a" => (200, format!("{story}<p>first")),
                        "/b" => (200, format!("{story}<p>first")),
                        _ => (404, String::new()),
                    };
                    let answer = format!(
                        "HTTP/1.1 {status} x\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    if out.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}
