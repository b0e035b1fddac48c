//! A web for tests: servers on 127.0.0.x that answer what a test tells them, and remember who asked
//! for what and when.
//!
//! Plain threads and blocking sockets: what a server does must be seen at a glance, misbehaviour
//! included. All traffic is loopback; ports are given by the system.

#![allow(dead_code, reason = "every test uses a part")]
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::Guard;
use wonbon_crawl::plan::Plan;
use wonbon_crawl::progress::{Control, Summary, Unwatched};
use wonbon_crawl::records::{Outcome, Record};
use wonbon_crawl::sink::PageSink;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub at: Instant,
    pub host: String,
    pub path: String,
    pub fields: HashMap<String, String>,
}

/// What a server does.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer with its length.
    Answer { status: u16, fields: Vec<(String, String)>, body: Vec<u8> },
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
    pub fn page(body: impl Into<Vec<u8>>) -> Self {
        Reply::typed("text/html; charset=utf-8", body)
    }

    pub fn typed(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let fields = vec![("Content-Type".to_owned(), kind.to_owned())];
        Reply::Answer { status: 200, fields, body: body.into() }
    }

    pub fn status(status: u16) -> Self {
        let fields = vec![("Content-Type".to_owned(), "text/plain".to_owned())];
        Reply::Answer { status, fields, body: format!("status {status}").into_bytes() }
    }

    pub fn redirect(status: u16, to: &str) -> Self {
        Reply::status(status).with("Location", to)
    }

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

pub type Site = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

/// One server.
pub struct ToyHost {
    pub name: String,
    pub address: SocketAddr,
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

/// A plan for toy hosts: no delay, short waits, everything in the scope.
pub fn plan(seeds: &[String]) -> Plan {
    let mut plan = Plan::default();
    plan.params.seeds = seeds.to_vec();
    plan.params.scope = wonbon_crawl::plan::ScopeKind::All;
    plan.params.agent = "toybot/1.0 (+test)".to_owned();
    plan.params.limits.connect = Duration::from_secs(2);
    plan.params.limits.first_byte = Duration::from_secs(2);
    plan.params.limits.whole = Duration::from_secs(4);
    plan.pace.delay = Duration::ZERO;
    plan.pace.first_back_off = Duration::from_millis(20);
    plan.pace.commit_every = Duration::from_millis(20);
    plan.pace.threads = 2;
    plan
}

/// A network in which only the toy hosts' addresses may be asked.
pub fn network(plan: &Plan, hosts: &[&ToyHost]) -> Arc<Network> {
    let names: HashMap<String, Vec<IpAddr>> =
        hosts.iter().map(|host| (host.name.clone(), vec![host.address.ip()])).collect();
    let allow = hosts.iter().map(|host| host.address.ip().into()).collect();
    let config = NetworkConfig {
        agent: plan.params.agent.clone(),
        limits: plan.params.limits,
        guard: Guard::new(allow),
        names,
        certificates: None,
    };
    Arc::new(Network::new(config).unwrap())
}

/// Begins a crawl and runs it to its end.
pub fn crawl(directory: &Path, plan: &Plan, hosts: &[&ToyHost]) -> Summary {
    crawl_into(directory, plan, hosts, None)
}

pub fn crawl_into(
    directory: &Path,
    plan: &Plan,
    hosts: &[&ToyHost],
    sink: Option<Arc<dyn PageSink>>,
) -> Summary {
    let crawl = Crawl::begin(directory, plan.clone(), None).unwrap();
    crawl.run(network(plan, hosts), sink, &Unwatched, &Control::default()).unwrap()
}

/// What the log of a crawl says of every page that is done with: path and query (of a host with a
/// name, also the name), sorted.
pub fn outcomes(directory: &Path) -> Vec<(String, Outcome)> {
    let mut addresses: Vec<String> = Vec::new();
    let mut done: Vec<(String, Outcome)> = Vec::new();
    wonbon_crawl::log::read(&directory.join("crawl.log"), |record, _| {
        match record {
            Record::Seed(address) | Record::Known(address) => addresses.push(address),
            Record::Done(page) => {
                addresses.extend(page.new.iter().cloned());
                done.push((addresses[page.page as usize].clone(), page.outcome));
            }
            _ => {}
        }
        Ok(())
    })
    .unwrap();
    for (address, _) in &mut done {
        let url = url::Url::parse(address).unwrap();
        *address = format!("{}{}", url.host_str().unwrap(), &url[url::Position::BeforePath..]);
    }
    done.sort();
    done
}

/// The addresses of pages with this outcome, as [`outcomes`] writes them.
pub fn with_outcome(directory: &Path, outcome: Outcome) -> Vec<String> {
    let all = outcomes(directory);
    all.into_iter().filter(|(_, got)| *got == outcome).map(|(address, _)| address).collect()
}

/// Reads all records of the archive, checking their digests; tells kinds and targets.
pub fn archived(directory: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(directory.join("archive"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut records = Vec::new();
    for path in files {
        let file = std::fs::File::open(&path).unwrap();
        let mut reader = wonbon_warc::Reader::new(BufReader::new(file));
        while let Some(mut found) = reader.next_record().unwrap() {
            let kind = found.header().kind().to_string();
            let target = found.header().target().unwrap_or_default().to_owned();
            found.read_block(64 << 20).unwrap();
            records.push((kind, target));
        }
    }
    records
}

/// The lines of the file of texts.
pub fn texts(directory: &Path) -> Vec<serde_json::Value> {
    let file = std::fs::File::open(directory.join("texts.jsonl.zst")).unwrap();
    let mut text = String::new();
    zstd::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
