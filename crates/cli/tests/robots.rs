//! `wonbon robots` as a person or a program sees it.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::io::{Read, Write};
use std::net::TcpListener;

use support::{Files, json_lines, stderr, stdout, wonbon, wonbon_reading};

const FILE: &str = "User-agent: *\nDisallow: /private\nAllow: /private/open\n\n\
    User-agent: mybot\nCrawl-delay: 3\nDisallow: /*?utm_source=\n";

#[test]
fn every_address_is_answered_with_its_line() {
    let files = Files::new();
    let path = files.write("robots.txt", FILE);
    let output =
        wonbon(&["robots", &path, "http://a.example/private/x", "/private/open.html", "/other"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stdout(&output),
        "disallowed\tline 2\thttp://a.example/private/x\n\
         allowed\tline 3\t/private/open.html\nallowed\tno rule\t/other\n"
    );
    let output = wonbon(&["robots", &path, "/private/x", "--agent", "mybot/1.0"]);
    assert_eq!(output.status.code(), Some(0));
    // Tracking parameters are asked about as they are.
    let output = wonbon(&["robots", &path, "/?utm_source=x", "--agent", "MyBot"]);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(1), "disallowed\tline 7\t/?utm_source=x\n")
    );
}

#[test]
fn json_has_url_allowed_and_line() {
    let arguments = ["robots", "-", "/private", "/", "--json"];
    let output = wonbon_reading(&arguments, FILE.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        json_lines(stdout(&output)),
        [
            serde_json::json!({"url": "/private", "allowed": false, "line": 2}),
            serde_json::json!({"url": "/", "allowed": true, "line": null}),
        ]
    );
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let files = Files::new();
    let path = files.write("robots.txt", FILE);
    for (arguments, message) in [
        (vec!["robots", "no-such-file", "/"], "could not read no-such-file"),
        (vec!["robots", &path, "mailto:a@b.example"], "is neither an http or https address nor"),
        (
            vec!["robots", "http://127.0.0.1:1/", "/"],
            "could not fetch http://127.0.0.1:1/robots.txt",
        ),
    ] {
        let output = wonbon(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn the_file_of_a_server_is_fetched_and_its_redirects_are_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let site = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let answer = if request.starts_with("GET /robots.txt ") {
                "HTTP/1.1 301 Moved\r\nLocation: /rules.txt\r\nContent-Length: 0\r\n".to_owned()
            } else if request.starts_with("GET /rules.txt ") {
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", FILE.len())
            } else {
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n".to_owned()
            };
            let body = if answer.contains("200 OK") { FILE } else { "" };
            write!(stream, "{answer}Connection: close\r\n\r\n{body}").unwrap();
        }
    });
    let allow = ["--allow-private", "127.0.0.1"];
    let ask = |robots: &str, address: &str| {
        let output = wonbon(&[&["robots", robots, address][..], &allow].concat());
        (output.status.code(), stdout(&output).to_owned(), stderr(&output).to_owned())
    };
    let page = format!("{site}/private/x");
    let (code, printed, _) = ask(&site, &page);
    assert_eq!((code, printed), (Some(1), format!("disallowed\tline 2\t{page}\n")));
    // A file that is not there allows everything.
    let (code, printed, _) = ask(&format!("{site}/none/robots.txt"), "/private/x");
    assert_eq!((code, printed.as_str()), (Some(0), "allowed\tno rule\t/private/x\n"));
    let (code, _, error) = ask(&site, "http://other.example/");
    assert_eq!(code, Some(2));
    assert!(error.contains("http://other.example/ is of another site"), "{error}");
}
