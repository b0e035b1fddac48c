//! A web for tests: servers on 127.0.0.x that answer what a test tells them, and remember who asked
//! for what and when.
//!
//! Plain threads and blocking sockets: what a server does must be seen at a glance, misbehaviour
//! included. All traffic is loopback; ports are given by the system.

#![allow(clippy::unwrap_used, reason = "it is part of tests")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When.
    pub at: Instant,
    /// The value of `Host`.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// All fields, their names in small letters.
    pub fields: HashMap<String, String>,
}

/// What a server does.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer with its length.
    Answer {
        /// The status.
        status: u16,
        /// The fields, beside the length.
        fields: Vec<(String, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// These bytes, then the end of the connection.
    Raw(Vec<u8>),
    /// A page in chunks.
    Chunked(Vec<u8>),
    /// Something later.
    After(Duration, Box<Reply>),
    /// A head and then zeros without end.
    Endless,
    /// A byte now and then, for ever.
    Drip,
    /// The end of the connection.
    Nothing,
}

impl Reply {
    /// A page.
    pub fn page(body: impl Into<Vec<u8>>) -> Self {
        Reply::typed("text/html; charset=utf-8", body)
    }

    /// Something of a type.
    pub fn typed(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let fields = vec![("Content-Type".to_owned(), kind.to_owned())];
        Reply::Answer { status: 200, fields, body: body.into() }
    }

    /// Nothing but a status.
    pub fn status(status: u16) -> Self {
        let fields = vec![("Content-Type".to_owned(), "text/plain".to_owned())];
        Reply::Answer { status, fields, body: format!("status {status}").into_bytes() }
    }

    /// Elsewhere.
    pub fn redirect(status: u16, to: &str) -> Self {
        Reply::status(status).with("Location", to)
    }

    /// The same with a field.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        if let Reply::Answer { fields, .. } = &mut self {
            fields.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// A page with links.
pub fn linking(title: &str, links: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let links: String = links
        .into_iter()
        .map(|link| format!("<li><a href=\"{}\">{title}</a></li>", link.as_ref()))
        .collect();
    format!(
        "<html><head><title>{title}</title></head><body><h1>{title}</h1>\
         <p>The page {title} says what no other page says.</p><ul>{links}</ul></body></html>"
    )
}

/// What a server does with a request.
pub type Site = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

/// One server; it ends when it is dropped.
#[derive(Debug)]
pub struct ToyHost {
    /// By which it is known.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
    /// What it was asked.
    pub asked: Arc<Mutex<Vec<Asked>>>,
    /// Connections that were made, whether something was asked or not.
    pub connections: Arc<Mutex<Vec<Instant>>>,
    ended: Arc<AtomicBool>,
}

impl ToyHost {
    /// Starts a server on 127.0.0.`last`, known by a name.
    pub fn start(
        name: &str,
        last: u8,
        site: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, last), 0)).unwrap();
        ToyHost::on(name, listener, Arc::new(site))
    }

    /// Starts a server on a listener.
    pub fn on(name: &str, listener: TcpListener, site: Site) -> Self {
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let connections: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let host = ToyHost {
            name: name.to_owned(),
            address,
            asked: asked.clone(),
            connections: connections.clone(),
            ended: ended.clone(),
        };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { return };
                connections.lock().unwrap().push(Instant::now());
                let (site, asked) = (site.clone(), asked.clone());
                std::thread::spawn(move || {
                    // A client that goes away is no failure of the test.
                    let _ = serve(stream, &site, &asked);
                });
            }
        });
        host
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}:{}{path}", self.name, self.address.port())
    }

    /// Paths that were asked for, in order.
    pub fn paths(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|asked| asked.path.clone()).collect()
    }

    /// The shortest time between two requests.
    pub fn shortest_gap(&self) -> Option<Duration> {
        let asked = self.asked.lock().unwrap();
        asked.windows(2).map(|pair| pair[1].at.duration_since(pair[0].at)).min()
    }
}

impl Drop for ToyHost {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        // The listener looks up when somebody comes.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, site: &Site, log: &Mutex<Vec<Asked>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let at = Instant::now();
        let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let mut fields = HashMap::new();
        loop {
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            fields.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let host = fields.get("host").cloned().unwrap_or_default();
        let asked = Asked { at, host, path, fields };
        log.lock().unwrap().push(asked.clone());
        if !answer(&mut out, site(&asked))? {
            return Ok(());
        }
    }
}

/// Whether the connection goes on.
fn answer(out: &mut TcpStream, reply: Reply) -> std::io::Result<bool> {
    match reply {
        Reply::Answer { status, fields, body } => {
            let mut bytes = format!("HTTP/1.1 {status} Toy\r\nServer: Toy/1\r\n").into_bytes();
            for (name, value) in &fields {
                bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
            }
            if status != 304 {
                bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
            }
            bytes.extend_from_slice(b"\r\n");
            if status != 304 {
                bytes.extend_from_slice(&body);
            }
            out.write_all(&bytes)?;
            Ok(true)
        }
        Reply::Raw(bytes) => {
            out.write_all(&bytes)?;
            Ok(false)
        }
        Reply::Chunked(body) => {
            out.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n",
            )?;
            for piece in body.chunks(100) {
                write!(out, "{:x}\r\n", piece.len())?;
                out.write_all(piece)?;
                out.write_all(b"\r\n")?;
            }
            out.write_all(b"0\r\n\r\n")?;
            Ok(true)
        }
        Reply::After(time, reply) => {
            std::thread::sleep(time);
            answer(out, *reply)
        }
        Reply::Endless => {
            out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")?;
            let zeros = vec![b'0'; 64 << 10];
            loop {
                out.write_all(&zeros)?;
            }
        }
        Reply::Drip => {
            out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")?;
            loop {
                out.write_all(b" ")?;
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Reply::Nothing => Ok(false),
    }
}
