//! Whatever a connection sends, it is answered or closed, no answer is an error of the server, and others are served.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use wonbon_server::{Config, Server};
use wonbon_store::{NewDocument, Store, StoreParams};

/// Where the store is.
static FOLDER: Mutex<Option<tempfile::TempDir>> = Mutex::new(None);

/// Removes the store; nothing is sent afterwards.
pub(crate) fn end() {
    drop(FOLDER.lock().expect("no one panics with it").take());
}

/// A service with a few documents, started once.
fn service() -> SocketAddr {
    static SERVICE: OnceLock<SocketAddr> = OnceLock::new();
    *SERVICE.get_or_init(|| {
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let folder = tempfile::tempdir().expect("there is room");
            let place = folder.path().join("store");
            *FOLDER.lock().expect("no one panics with it") = Some(folder);
            let store = Store::create(&place, &StoreParams::default()).expect("it is new");
            for key in ["a", "b"] {
                let document = NewDocument::text(key, None, "one two three four five six");
                store.add(&document).expect("there is room");
            }
            let mut config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
            config.limits.head_time = Duration::from_millis(300);
            config.limits.body_time = Duration::from_millis(300);
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime.worker_threads(1).enable_all().build();
            runtime.expect("threads start").block_on(async {
                let server = Server::bind(store, 0.0, config).await.expect("a port is free");
                tell.send(server.address().expect("it listens")).expect("somebody waits");
                server.run(std::future::pending()).await.expect("it serves");
            });
        });
        told.recv().expect("it starts")
    })
}

/// A good request, after which the connection ends.
const LAST: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";

/// The bytes are what a connection sends before a good request.
///
/// # Panics
///
/// When a promise of the service does not hold.
pub(crate) fn request(data: &[u8]) {
    let answer = send(&[data, LAST].concat());
    let answer = String::from_utf8_lossy(&answer);
    for status in answer.split("HTTP/1.1 ").skip(1).filter_map(|rest| rest.get(..3)) {
        assert!(status != "500", "{answer}");
    }
    if data.len().is_multiple_of(16) {
        assert!(send(LAST).starts_with(b"HTTP/1.1 200"), "others are served");
    }
}

/// What comes until the connection is closed.
fn send(bytes: &[u8]) -> Vec<u8> {
    let mut connection = TcpStream::connect(service()).expect("it takes connections");
    let hangs = Some(Duration::from_secs(60));
    connection.set_read_timeout(hangs).expect("it has a time");
    // The service may close before it has read everything.
    let _ = connection.write_all(bytes);
    let mut answer = Vec::new();
    if let Err(error) = connection.read_to_end(&mut answer) {
        let closed = matches!(error.kind(), std::io::ErrorKind::ConnectionReset);
        assert!(closed, "neither answered nor closed: {error}");
    }
    answer
}
