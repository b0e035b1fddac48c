//! Crawls over TLS: HTTP/2 where it is offered, HTTP/1.1 otherwise, and nobody without a certificate.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use toy_web::{archived, linking, outcomes, plan};
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::Guard;
use wonbon_crawl::progress::{Control, Unwatched};
use wonbon_crawl::records::Outcome;

/// A certificate that signs itself, if there is a program to make one.
fn certificate(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=tls.toy"])
        .args(["-addext", "subjectAltName=DNS:tls.toy,DNS:old.toy"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-out")
        .arg(&certificate)
        .arg("-keyout")
        .arg(&key)
        .output();
    made.is_ok_and(|made| made.status.success()).then_some((certificate, key))
}

/// Serves pages over TLS with these protocols; counts answers over HTTP/2.
fn serve(
    certificate: &Path,
    key: &Path,
    last: u8,
    protocols: &[&[u8]],
) -> (SocketAddr, Arc<AtomicU32>) {
    let certificates: Vec<CertificateDer<'static>> =
        CertificateDer::pem_file_iter(certificate).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind(format!("127.0.0.{last}:0")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let twos = Arc::new(AtomicU32::new(0));
    let counted = twos.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, counted) = (acceptor.clone(), counted.clone());
                tokio::spawn(async move {
                    // A client that does not trust us goes away.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                        serve_two(stream, &counted).await;
                    } else {
                        serve_one(stream).await;
                    }
                });
            }
        });
    });
    (address, twos)
}

fn page(path: &str, protocol: &str) -> (u16, String) {
    match path {
        "/robots.txt" => (404, String::new()),
        "/" => (200, linking(&format!("home by {protocol}"), ["/a", "/b"])),
        _ => (200, linking(&format!("{path} by {protocol}"), ["/"])),
    }
}

async fn serve_two<S>(stream: S, counted: &AtomicU32)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        counted.fetch_add(1, Ordering::SeqCst);
        let (status, body) = page(request.uri().path(), "two");
        let response = hyper::Response::builder()
            .status(status)
            .header("content-type", "text/html")
            .body(())
            .unwrap();
        let mut stream = respond.send_response(response, false).unwrap();
        stream.send_data(Bytes::from(body), true).unwrap();
    }
}

async fn serve_one<S>(mut stream: S)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut asked = Vec::new();
    while stream.read_buf(&mut asked).await.is_ok_and(|count| count > 0) {
        if !asked.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8_lossy(&asked).into_owned();
        let (status, body) = page(text.split(' ').nth(1).unwrap_or_default(), "one");
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status} x\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        asked.clear();
    }
}

#[test]
fn pages_come_over_http_2_and_1_and_only_from_whom_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let Some((certificate, key)) = certificate(folder.path()) else {
        println!("skipped: there is no openssl to make a certificate with");
        return;
    };
    let (two, twos) = serve(&certificate, &key, 100, &[b"h2", b"http/1.1"]);
    let (one, ones) = serve(&certificate, &key, 101, &[b"http/1.1"]);
    let seeds = [
        format!("https://tls.toy:{}/", two.port()),
        format!("https://old.toy:{}/", one.port()),
        // The certificate does not name this one.
        format!("https://other.toy:{}/", two.port()),
    ];
    let mut plan = plan(&seeds);
    plan.pace.tries = 1;
    let names: HashMap<String, Vec<IpAddr>> = HashMap::from([
        ("tls.toy".to_owned(), vec![two.ip()]),
        ("old.toy".to_owned(), vec![one.ip()]),
        ("other.toy".to_owned(), vec![two.ip()]),
    ]);
    let run = |directory: &Path, certificates: Option<PathBuf>| {
        let network = Network::new(NetworkConfig {
            agent: plan.params.agent.clone(),
            limits: plan.params.limits,
            guard: Guard::new(vec![one.ip().into(), two.ip().into()]),
            names: names.clone(),
            certificates,
        });
        let crawl = Crawl::begin(directory, plan.clone(), None).unwrap();
        crawl.run(Arc::new(network.unwrap()), None, &Unwatched, &Control::default()).unwrap()
    };
    let trusted = folder.path().join("trusted");
    run(&trusted, Some(certificate));
    let kept = Outcome::Kept;
    let expected = [
        ("old.toy/", kept),
        ("old.toy/a", kept),
        ("old.toy/b", kept),
        ("other.toy/", Outcome::Disallowed),
        ("tls.toy/", kept),
        ("tls.toy/a", kept),
        ("tls.toy/b", kept),
    ];
    assert_eq!(outcomes(&trusted), expected.map(|(path, got)| (path.to_owned(), got)));
    // Three pages and robots.txt.
    assert_eq!((twos.load(Ordering::SeqCst), ones.load(Ordering::SeqCst)), (4, 0));
    archived(&trusted);
    let untrusted = folder.path().join("untrusted");
    assert_eq!(run(&untrusted, None).stats.pages, 0);
}
