//! What the browser meets: real servers in this process over stores that have something for every page.
//!
//! The posts of `wonbon demo`, a larger family, and a small web that three sweeps saw: pages that stayed,
//! changed, moved, split, died; a watched document with copies that follow, lag and differ.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wonbon_app::jobs::JobsConfig;
use wonbon_app::tokens::{Scope, Tokens};
use wonbon_crawl::guard::Guard;
use wonbon_server::{Config, Server};
use wonbon_store::{By, Decision, NewDocument, Redirect, Rule, Store, StoreParams};
use wonbon_time::Timestamp;

use crate::web::Web;

/// A day, in seconds.
const DAY: i64 = 86_400;

/// 2025-01-01.
const BEGIN: i64 = 20_089 * DAY;

const POSTS: &str = include_str!("../../../cli/sample/posts.jsonl");

/// A server in this process, and what ends it.
pub(crate) struct Served {
    address: SocketAddr,
    end: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    folder: tempfile::TempDir,
    /// What lets in, where something is needed.
    pub(crate) token: String,
}

impl Served {
    /// Serves what `fill` puts into a store, with tokens or without.
    pub(crate) fn start(with_tokens: bool, fill: impl FnOnce(&Store)) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let params = StoreParams { rule: Rule::Threshold(0.8), ..StoreParams::default() };
        let store = Store::create(&folder.path().join("store"), &params).unwrap();
        fill(&store);
        store.catch_up().unwrap();
        let mut config =
            Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() };
        let mut jobs = JobsConfig::new(folder.path().join("jobs"));
        // The webs of tests are there.
        jobs.guard = Guard::allowing(&["127.0.0.1".to_owned()], &Default::default()).unwrap();
        config.jobs = Some(jobs);
        let mut token = String::new();
        if with_tokens {
            let path = folder.path().join("tokens");
            let mut tokens = Tokens::default();
            token = tokens.create("browser", &[Scope::Admin], None).unwrap();
            tokens.write(&path).unwrap();
            config.tokens = Some(path);
        }
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind(store, 0.0, config).await.unwrap();
                tell.send(server.address().unwrap()).unwrap();
                let ended = async {
                    let _ = ended.await;
                };
                server.run(ended).await.unwrap();
            });
        });
        let address = told.recv().unwrap();
        Served { address, end: Some(end), thread: Some(thread), folder, token }
    }

    /// Puts a file into the folder of inputs.
    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join("jobs/in").join(name), text).unwrap();
    }

    /// The whole address of a page.
    pub(crate) fn at(&self, page: &str) -> String {
        format!("http://{}{page}", self.address)
    }
}

impl Served {
    /// Asks the service as a program does; what it answers.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut connection = TcpStream::connect(self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}",
            self.address
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    fn wait_for_job(&self, number: u32, is_there: impl Fn(&Value) -> bool) {
        let begun = Instant::now();
        loop {
            let job = self.call("GET", &format!("/v1/jobs/{number}"), &Value::Null);
            if is_there(&job) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{job}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lets jobs in most states be there: an import, a deduplication and a crawl that are done, an import that
    /// failed, a crawl that is paused and one that waits for it.
    pub(crate) fn work(&self) {
        let mut lines = String::from("this is no JSON\n");
        for number in 0..30_u64 {
            let text = sentences(1000 + if number % 3 == 2 { number - 1 } else { number });
            let document = json!({"id": format!("imported/{number}"), "text": text});
            lines.push_str(&format!("{document}\n"));
        }
        self.put("posts.jsonl", &lines);
        self.put("broken.parquet", "PAR1 and nothing else that a Parquet file has");
        let web = Web::start();
        web.open();
        let files = json!(["posts.jsonl"]);
        for (at, (asked, state)) in [
            (json!({"kind": "import", "inputs": ["posts.jsonl", "broken.parquet"]}), "done"),
            (json!({"kind": "dedup", "inputs": files, "threshold": 0.9}), "done"),
            (json!({"kind": "crawl", "seeds": [web.seed()], "delay": 0}), "done"),
            // The crawl was a later sweep.
            (json!({"kind": "import", "inputs": files, "sweep": "2020-02-02"}), "failed"),
        ]
        .into_iter()
        .enumerate()
        {
            self.call("POST", "/v1/jobs", &asked);
            self.wait_for_job(at as u32 + 1, |job| job["state"] == state);
        }
        let other = Web::start();
        other.let_through(12);
        let asked = json!({"kind": "crawl", "seeds": [other.seed()], "delay": 0, "order": "bfs"});
        self.call("POST", "/v1/jobs", &asked);
        self.wait_for_job(5, |job| job["progress"]["counts"]["pages"] == 12);
        self.call("POST", "/v1/jobs/5/pause", &Value::Null);
        other.open();
        self.wait_for_job(5, |job| job["state"] == "paused");
        self.call("POST", "/v1/jobs", &asked);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.end.take().unwrap().send(());
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
    }
}

fn language_of(text: &str) -> &'static str {
    let has = |range: std::ops::RangeInclusive<char>| text.chars().any(|c| range.contains(&c));
    if has('가'..='힣') {
        "ko"
    } else if has('ぁ'..='ヿ') {
        "ja"
    } else {
        "en"
    }
}

/// A text of some sentences that no other number shares.
pub(crate) fn sentences(number: u64) -> String {
    const NOUNS: [&str; 8] =
        ["ferry", "harbour", "lantern", "orchard", "bridge", "letter", "kettle", "window"];
    const VERBS: [&str; 6] = ["waited for", "passed", "kept", "lost", "remembered", "painted"];
    let word = |at: u64, of: &[&'static str]| {
        let mixed = (number * 31 + at).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        of[mixed as usize % of.len()]
    };
    let sentence = |at: u64| {
        let (one, verb, other) =
            (word(at * 3, &NOUNS), word(at * 3 + 1, &VERBS), word(at * 3 + 2, &NOUNS));
        format!("On day {} the {one} of house {number} {verb} the {other}", at * 7 + number % 5)
    };
    (0..14).map(sentence).collect::<Vec<_>>().join(". ") + "."
}

/// Something for every page.
pub(crate) fn fill(store: &Store) {
    posts(store);
    family(store);
    small_web(store);
    let by = By { who: "the editor", reason: Some("the author wrote to us") };
    store.decide("travel/2", Decision::Original, &by, None).unwrap();
}

fn posts(store: &Store) {
    for line in POSTS.lines() {
        let post: Value = serde_json::from_str(line).unwrap();
        let (Some(id), Some(text)) = (post["id"].as_str(), post["text"].as_str()) else { continue };
        let created = Timestamp::parse_text(post["created"].as_str().unwrap()).ok();
        let document = NewDocument {
            site: Some(id.split('/').next().unwrap().into()),
            title: post["title"].as_str().map(Into::into),
            language: Some(language_of(text).into()),
            ..NewDocument::text(id, created, text)
        };
        store.add(&document).unwrap();
    }
}

/// An original with enough copies for a second page of them.
fn family(store: &Store) {
    let text = sentences(1);
    for number in 0..60_u64 {
        let key = format!("https://mirror{number}.example/harbour/letters?page={number}");
        let edited = text.replacen("kept", &format!("kept{number}"), (number % 2) as usize);
        let document = NewDocument {
            site: Some(format!("mirror{number}.example").into()),
            title: (number % 3 != 1).then(|| format!("Letters from the harbour, {number}").into()),
            author: Some("the harbour office".into()),
            ..NewDocument::text(
                &key,
                Some(Timestamp::from_seconds(BEGIN + number as i64 * 3 * DAY)),
                &edited,
            )
        };
        store.add(&document).unwrap();
    }
}

fn small_web(store: &Store) {
    let sweeps = [0, 7, 14, 21].map(|days| Timestamp::from_seconds(BEGIN + (300 + days) * DAY));
    let page = |name: &str| format!("https://town.example/{name}");
    let see = |at: usize, key: &str, text: &str| {
        let document = NewDocument {
            site: Some(key.split('/').nth(2).unwrap().into()),
            title: Some(format!("Page {}", key.rsplit('/').next().unwrap()).into()),
            sweep: Some(sweeps[at]),
            ..NewDocument::text(key, Some(sweeps[at]), text)
        };
        store.add(&document).unwrap();
    };
    for (at, sweep) in sweeps.into_iter().enumerate() {
        // One stays, one changes a little each time, one changes altogether.
        see(at, &page("stays"), &sentences(10));
        let changing = sentences(11).replacen("the", "one", at);
        see(at, &page("changes"), &changing);
        see(at, &page("news"), &sentences(20 + at as u64));
        if at < 2 {
            see(at, &page("old"), &sentences(12));
            see(at, &page("gone"), &sentences(13));
        } else {
            see(at, "https://city.example/new", &sentences(12));
        }
        // The watched one, whose copies follow, lag and differ.
        let watched = sentences(14).replacen("kept", "held", usize::from(at > 1));
        see(at, &page("watched"), &watched);
        let followed = if at == 0 { sentences(14) } else { watched };
        see(at, "https://follower.example/copy", &followed);
        see(at, "https://other.example/differs", &sentences(14).replacen("house 14", "hut 41", 2));
        let redirect = Redirect {
            key: page("old"),
            target: "https://city.example/new".to_owned(),
            sweep,
            site: Some("town.example".to_owned()),
        };
        if at == 2 {
            store.add_redirect(&redirect).unwrap();
        }
    }
    store.watch(&page("watched")).unwrap();
    store.add(&NewDocument::text("without words", None, " … ")).unwrap();
}
