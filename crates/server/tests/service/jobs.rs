//! Jobs as programs and people meet them: each kind started, watched, stopped and resumed on small
//! inputs and a web on loopback; what they may not read and whom they may not ask.

use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wonbon_app::jobs::JobsConfig;
use wonbon_cluster::clustering::{ClusterConfig, cluster};
use wonbon_cluster::dedup::{DedupConfig, dedup};
use wonbon_crawl::guard::Guard;
use wonbon_documents::{Limits, Unwatched};
use wonbon_server::Config;
use wonbon_store::Store;
use wonbon_testkit::crawl::toy_web::{Reply, ToyHost, linking};

use crate::process::{Served, request, start};
use crate::support::{Answer, Running, text};

/// The configuration of jobs below a folder, for tests: small parts, and loopback hosts by number.
pub(crate) fn jobs_in(folder: &Path, allowed: &[&str]) -> JobsConfig {
    let allowed: Vec<String> = allowed.iter().map(|text| (*text).to_owned()).collect();
    let mut jobs = JobsConfig::new(folder.join("jobs"));
    jobs.part_bytes = 20_000;
    jobs.guard = Guard::allowing(&allowed, &Default::default()).unwrap();
    std::fs::create_dir_all(folder.join("jobs/in")).unwrap();
    jobs
}

fn config_in(folder: &Path, allowed: &[&str]) -> Config {
    Config { jobs: Some(jobs_in(folder, allowed)), ..Config::default() }
}

/// Documents as JSON lines; every third copies the one before.
pub(crate) fn corpus(path: &Path, documents: u64) {
    let mut lines = String::new();
    for number in 0..documents {
        let about = 100_000 + if number % 3 == 2 { number - 1 } else { number };
        let document = json!({"id": format!("c{number}"), "created": number, "text": text(about)});
        lines.push_str(&document.to_string());
        lines.push('\n');
    }
    std::fs::write(path, lines).unwrap();
}

/// A request with JSON, answered whole.
pub(crate) fn call(address: SocketAddr, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let answer = request(address, &head).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Value {
    let (status, body) = call(address, "GET", path, &Value::Null);
    assert_eq!(status, 200, "{path}: {body}");
    body
}

/// Starts a job and gives back its number.
pub(crate) fn begin(address: SocketAddr, asked: &Value) -> u64 {
    let (status, job) = call(address, "POST", "/v1/jobs", asked);
    assert_eq!(status, 202, "{job}");
    assert_eq!(job["address"], format!("/v1/jobs/{}", job["number"]));
    job["number"].as_u64().unwrap()
}

pub(crate) fn change(address: SocketAddr, number: u64, change: &str) -> (u16, Value) {
    call(address, "POST", &format!("/v1/jobs/{number}/{change}"), &Value::Null)
}

/// Waits until a job is as wanted.
pub(crate) fn until(
    address: SocketAddr,
    number: u64,
    what: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    let begun = Instant::now();
    loop {
        let job = get(address, &format!("/v1/jobs/{number}"));
        if wanted(&job) {
            return job;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "not {what}: {job}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn until_state(address: SocketAddr, number: u64, state: &str) -> Value {
    until(address, number, state, |job| {
        let now = job["state"].as_str().unwrap();
        let ended = matches!(now, "done" | "failed" | "cancelled");
        assert!(now == state || !ended, "{now} instead of {state}: {job}");
        now == state
    })
}

/// The events of a job until the stream ends: name and data.
fn events(address: SocketAddr, number: u64) -> Vec<(String, Value)> {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "GET /v1/jobs/{number}/events HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\nconnection: close\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(connection);
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    let all = String::from_utf8(all).unwrap();
    let (head, _) = all.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("200 OK") && head.contains("text/event-stream"), "{head}");
    let mut told = Vec::new();
    let mut name = String::new();
    for line in all.lines() {
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            // A chunk may end in the middle of a line; such an event is told again with the next.
            if let Ok(data) = serde_json::from_str(data) {
                told.push((name.clone(), data));
            }
        }
    }
    told
}

pub(crate) fn served(allowed: &[&str]) -> (tempfile::TempDir, Served) {
    let folder = tempfile::tempdir().unwrap();
    let config = config_in(folder.path(), allowed);
    let served = start(folder.path(), config);
    (folder, served)
}

#[test]
fn an_import_stores_every_document_and_tells_how_it_went() {
    let (folder, served) = served(&[]);
    let address = served.address;
    corpus(&folder.path().join("jobs/in/a.jsonl"), 300);
    std::fs::write(folder.path().join("jobs/in/b.jsonl"), "{\"id\": \"x\"}\nno json\n").unwrap();
    let number = begin(address, &json!({"kind": "import", "inputs": ["a.jsonl", "b.jsonl"]}));
    assert_eq!(number, 1);
    let told = events(address, number);
    assert_eq!(told.first().unwrap().0, "state");
    let (name, last) = told.last().unwrap();
    assert_eq!((name.as_str(), last["state"].as_str()), ("state", Some("done")), "{last}");
    let job = get(address, "/v1/jobs/1");
    assert_eq!(job["kind"], "import");
    assert_eq!(job["result"]["documents"], 300);
    assert_eq!(job["result"]["copies"], 100);
    assert_eq!(job["result"]["refused"], 2);
    assert!(job["ended"].is_string() && job["error"].is_null());
    let skipped = job["result"]["skipped_first"].as_array().unwrap();
    assert_eq!(skipped.len(), 2);
    assert!(!job.to_string().contains(folder.path().to_str().unwrap()), "no path is told: {job}");
    assert_eq!(get(address, "/v1/status")["documents"], 300);
    // Again: everything is known.
    let again = begin(address, &json!({"kind": "import", "inputs": ["a.jsonl"]}));
    let job = until_state(address, again, "done");
    assert_eq!(
        (&job["result"]["unchanged"], &job["result"]["originals"]),
        (&json!(300), &json!(0))
    );
    let list = get(address, "/v1/jobs?limit=1");
    assert_eq!(list["jobs"][0]["number"], 2, "the latest first");
    let cursor = list["next"].as_str().unwrap();
    assert_eq!(get(address, &format!("/v1/jobs?cursor={cursor}"))["jobs"][0]["number"], 1);
    served.stop();
}

/// What a run of the library without a service writes.
pub(crate) fn undisturbed_dedup(input: &Path, output: &Path) {
    let fields = wonbon_documents::ChosenFields::default();
    let inputs = vec![input.to_owned()];
    let config = DedupConfig {
        fields: fields.names(&inputs, None).unwrap(),
        inputs,
        output: output.to_owned(),
        dates: Default::default(),
        method: Default::default(),
        pairs: None,
        annotate: false,
        strict: false,
        limits: Limits::default(),
        against: Vec::new(),
        part_bytes: wonbon_cluster::corpus::PART_BYTES,
        save_sketches: false,
        passages: None,
    };
    dedup(&config, &Unwatched).unwrap();
}

/// The same of clustering.
pub(crate) fn undisturbed_cluster(input: &Path, output: &Path) {
    let fields = wonbon_documents::ChosenFields::default();
    let inputs = vec![input.to_owned()];
    let config = ClusterConfig {
        fields: fields.names(&inputs, None).unwrap(),
        inputs,
        output: output.to_owned(),
        dates: Default::default(),
        method: Default::default(),
        super_shingles: None,
        part_bytes: wonbon_cluster::corpus::PART_BYTES,
        strict: false,
        limits: Limits::default(),
    };
    cluster(&config, &Unwatched).unwrap();
}

pub(crate) fn same_files(one: &Path, other: &Path, names: &[&str]) {
    for name in names {
        let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
        assert!(read(one) == read(other), "{name} differs");
    }
}

#[test]
fn deduplicating_and_clustering_write_what_the_library_writes() {
    let (folder, served) = served(&[]);
    let address = served.address;
    let input = folder.path().join("jobs/in/a.jsonl");
    corpus(&input, 500);
    let dedup = begin(address, &json!({"kind": "dedup", "inputs": ["a.jsonl"]}));
    let cluster = begin(address, &json!({"kind": "cluster", "inputs": ["a.jsonl"]}));
    let job = until_state(address, dedup, "done");
    assert_eq!(
        (&job["result"]["documents"], &job["result"]["families"]),
        (&json!(500), &json!(166))
    );
    assert!(!job.to_string().contains(folder.path().to_str().unwrap()), "no path is told: {job}");
    undisturbed_dedup(&input, &folder.path().join("alone"));
    let out = folder.path().join(format!("jobs/{dedup}/out"));
    same_files(&out, &folder.path().join("alone"), &["families.jsonl", "kept/a.jsonl"]);
    let job = until_state(address, cluster, "done");
    assert_eq!(job["result"]["documents"], 500);
    assert!(folder.path().join(format!("jobs/{cluster}/out/clusters.jsonl")).is_file());
    // What cannot be done says why, and not where.
    std::fs::write(folder.path().join("jobs/in/bad.parquet"), "PAR1 no").unwrap();
    let bad = begin(address, &json!({"kind": "dedup", "inputs": ["bad.parquet"]}));
    let job = until(address, bad, "ended", |job| job["ended"].is_string());
    if job["state"] == "failed" {
        let error = job["error"].as_str().unwrap();
        assert!(error.contains("bad.parquet") && !error.contains(folder.path().to_str().unwrap()));
    }
    served.stop();
}

/// A web of one host: a tree of pages, every one a little slow.
pub(crate) fn slow_web(pages: u64, slow: Duration) -> ToyHost {
    ToyHost::start("toy.example", 1, move |asked| {
        if asked.path == "/robots.txt" {
            return Reply::status(404);
        }
        let number: u64 = asked.path.trim_start_matches('/').parse().unwrap_or(0);
        if number >= pages {
            return Reply::status(404);
        }
        let links = (1..=3).map(|at| number * 3 + at).filter(|to| *to < pages);
        let links: Vec<String> = links.map(|to| format!("/{to}")).collect();
        // Some pages say what others say.
        let about = if number % 5 == 4 { number / 5 } else { number };
        let html = linking(&format!("page{about}"), links);
        let html = html.replace("</h1>", &format!("</h1><p>{}</p>", text(about)));
        Reply::After(slow, Box::new(Reply::page(html)))
    })
}

pub(crate) fn seed(host: &ToyHost) -> String {
    format!("http://{}/", host.address)
}

pub(crate) fn crawl_of(host: &ToyHost) -> Value {
    json!({"kind": "crawl", "seeds": [seed(host)], "delay": 0, "order": "bfs"})
}

#[test]
fn a_crawl_goes_into_the_store_is_paused_resumed_and_cancelled() {
    let host = slow_web(60, Duration::from_millis(15));
    let (folder, served) = served(&["127.0.0.1"]);
    let address = served.address;
    let number = begin(address, &crawl_of(&host));
    let some = |job: &Value| job["progress"]["counts"]["pages"].as_u64().unwrap_or(0) > 3;
    until(address, number, "under way", some);
    let (status, job) = change(address, number, "pause");
    assert_eq!(status, 202, "{job}");
    let job = until_state(address, number, "paused");
    let pages = job["progress"]["counts"]["pages"].as_u64().unwrap();
    assert!((1..60).contains(&pages), "{job}");
    // A crawl that is paused has the sweep; another waits.
    let other = begin(address, &crawl_of(&host));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(get(address, &format!("/v1/jobs/{other}"))["state"], "waiting");
    assert_eq!(change(address, other, "cancel").1["state"], "cancelled");
    let (status, problem) = change(address, number, "pause");
    assert_eq!((status, &problem["code"]), (409, &json!("wrong_state")));
    assert_eq!(change(address, number, "resume").0, 202);
    let job = until_state(address, number, "done");
    assert_eq!(job["progress"]["counts"]["pages"], 60, "{job}");
    assert_eq!(job["result"]["ended"], "exhausted");
    assert_eq!(job["resumed"], 1);
    assert_eq!(job["crawl"]["exact"], true);
    assert_eq!(job["crawl"]["curve"].as_array().unwrap().last().unwrap()["pages"], 60);
    assert_eq!(job["crawl"]["sites"][0]["pages"], 60);
    let status = get(address, "/v1/status");
    assert_eq!((&status["documents"], &status["sweeps"]), (&json!(60), &json!(1)), "{status}");
    assert!(status["copies"].as_u64().unwrap() >= 10, "{status}");
    let directory = folder.path().join(format!("jobs/{number}/crawl"));
    for file in ["report.html", "stats.json", "graph/urls.txt", "texts.jsonl.zst"] {
        assert!(directory.join(file).is_file(), "{file}");
    }
    let asked: Vec<String> =
        host.paths().into_iter().filter(|path| path != "/robots.txt").collect();
    let mut once = asked.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), asked.len(), "no page is asked for twice: {asked:?}");
    // Cancelled while a server lets it wait: at once, and resumed later.
    let drip = ToyHost::start("drip.example", 1, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        _ => Reply::Drip,
    });
    let slow = begin(address, &crawl_of(&drip));
    until(address, slow, "asking", |job| {
        job["progress"]["counts"]["active"].as_u64().unwrap_or(0) > 0
    });
    let begun = Instant::now();
    change(address, slow, "cancel");
    until_state(address, slow, "cancelled");
    assert!(begun.elapsed() < Duration::from_secs(20), "the answer takes a minute");
    // Its sweep is later than the first crawl's, which therefore cannot be gone on with; it is done anyway.
    assert_eq!(change(address, number, "resume").0, 409);
    let metrics = request(
        address,
        &format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"),
    );
    let metrics = metrics.unwrap();
    for line in [
        "wonbon_jobs{kind=\"crawl\",state=\"done\"} 1",
        "wonbon_jobs{kind=\"crawl\",state=\"cancelled\"} 2",
        "wonbon_jobs{kind=\"import\",state=\"running\"} 0",
        "wonbon_crawl_pages_total 60",
        "wonbon_crawl_errors_total 0",
        "wonbon_crawl_queue_pages 0",
    ] {
        assert!(metrics.contains(&format!("{line}\n")), "{line}: {metrics}");
    }
    served.stop();
}

#[test]
fn a_clean_end_lets_jobs_go_on_where_they_were() {
    let host = slow_web(80, Duration::from_millis(10));
    let folder = tempfile::tempdir().unwrap();
    corpus(
        &{
            std::fs::create_dir_all(folder.path().join("jobs/in")).unwrap();
            folder.path().join("jobs/in/a.jsonl")
        },
        2000,
    );
    let served = start(folder.path(), config_in(folder.path(), &["127.0.0.1"]));
    let address = served.address;
    let crawl = begin(address, &crawl_of(&host));
    let dedup = begin(address, &json!({"kind": "dedup", "inputs": ["a.jsonl"]}));
    let waiting = begin(address, &json!({"kind": "import", "inputs": ["a.jsonl"]}));
    until(address, crawl, "under way", |job| {
        job["progress"]["counts"]["pages"].as_u64().unwrap_or(0) > 3
    });
    served.stop();
    let served = start(folder.path(), config_in(folder.path(), &["127.0.0.1"]));
    let address = served.address;
    let job = until_state(address, crawl, "done");
    assert_eq!(job["progress"]["counts"]["pages"], 80);
    assert_eq!(job["resumed"], 1);
    until_state(address, dedup, "done");
    until_state(address, waiting, "done");
    assert_eq!(get(address, "/v1/status")["documents"], 2080);
    served.stop();
    let store = Store::open(&folder.path().join("store")).unwrap();
    assert_eq!(store.verify().unwrap().differences, 0);
}

#[test]
fn nothing_forbidden_is_asked_whatever_seeds_and_redirects_say() {
    let secret = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 9), 0)).unwrap();
    let port = secret.local_addr().unwrap().port();
    let secret = ToyHost::on("secret.example", secret, Arc::new(|_| Reply::page("secret")));
    let (_folder, guarded) = served(&[]);
    let seeds = [
        format!("http://127.0.0.9:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://2130706441:{port}/"),
        format!("http://0x7f.0.0.9:{port}/"),
        format!("http://[::ffff:127.0.0.9]:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://user:word@127.0.0.9:{port}/"),
        "http://0.0.0.0/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[fd00:ec2::254]/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://192.168.1.1/".to_owned(),
        "http://metadata.internal/".to_owned(),
        "http://8.8.8.8:22/".to_owned(),
    ];
    for seed in &seeds {
        let asked = json!({"kind": "crawl", "seeds": [seed], "scope": "all"});
        let (status, problem) = call(guarded.address, "POST", "/v1/jobs", &asked);
        let code = problem["code"].as_str().unwrap_or_default();
        assert!(
            (status, code) == (422, "forbidden_address")
                || (status, code) == (400, "bad_parameter"),
            "{seed}: {problem}"
        );
    }
    for (name, value) in [("allow_private", json!(["127.0.0.0/8"])), ("guard", json!([]))] {
        let mut asked = json!({"kind": "crawl", "seeds": [seeds[0]]});
        asked[name] = value;
        let (status, problem) = call(guarded.address, "POST", "/v1/jobs", &asked);
        assert_eq!((status, &problem["code"]), (400, &json!("bad_json")), "{problem}");
    }
    assert_eq!(get(guarded.address, "/v1/jobs")["jobs"], json!([]));
    guarded.stop();

    // A host that may be asked leads to hosts that may not.
    // `localhost` is the address that may be asked; nobody listens there.
    let targets: Vec<String> =
        seeds.iter().filter(|seed| !seed.contains("localhost")).cloned().collect();
    let host = ToyHost::start("toy.example", 1, move |asked| {
        let at: Option<usize> = asked.path.trim_start_matches("/to/").parse().ok();
        match (asked.path.as_str(), at) {
            ("/", _) => {
                let mut links: Vec<String> =
                    (0..targets.len()).map(|at| format!("/to/{at}")).collect();
                links.extend(targets.iter().cloned());
                Reply::page(linking("home", links))
            }
            (_, Some(at)) if at < targets.len() => Reply::redirect(302, &targets[at]),
            _ => Reply::status(404),
        }
    });
    let (_folder, some) = served(&["127.0.0.1"]);
    let mut asked = crawl_of(&host);
    asked["scope"] = json!("all");
    asked["domains"] = json!([]);
    let number = begin(some.address, &asked);
    let job = until_state(some.address, number, "done");
    assert_eq!(job["progress"]["counts"]["pages"], 1, "{job}");
    assert!(secret.connections.lock().unwrap().is_empty(), "somebody came");
    assert!(!job["crawl"]["failures"].as_array().unwrap().is_empty());
    some.stop();
}

#[tokio::test]
async fn without_a_place_for_jobs_one_problem_says_so() {
    let service = Running::new();
    let start = json!({"kind": "import", "inputs": ["a"]});
    for answer in [
        service.get("/v1/jobs").await,
        service.get("/v1/jobs/1").await,
        service.get("/v1/jobs/1/events").await,
        service.post("/v1/jobs", &start).await,
        service.call("POST", "/v1/jobs/1/cancel", &[], "").await,
    ] {
        assert_eq!(answer.code(), "no_jobs");
    }
    for path in ["/jobs", "/crawl"] {
        let page = service.page(path, "en").await;
        assert_eq!(page.status, 200);
        assert!(page.body.contains("--jobs DIR"), "{}", page.body);
    }
}

/// The value of a form's mark, and the cookie it goes with.
fn mark_and_cookie(page: &Answer) -> (String, String) {
    let at = page.body.find("name=\"form\" value=\"").unwrap() + "name=\"form\" value=\"".len();
    let mark = page.body[at..].split('"').next().unwrap().to_owned();
    let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
    (mark, cookie)
}

#[tokio::test]
async fn people_start_jobs_with_forms_and_read_them_in_both_languages() {
    let folder = tempfile::tempdir().unwrap();
    let service = Running::with(config_in(folder.path(), &[]));
    corpus(&folder.path().join("jobs/in/<b>.jsonl"), 30);
    let page = service.page("/jobs", "en").await;
    assert!(page.body.contains("&lt;b&gt;.jsonl") && !page.body.contains("<b>.jsonl"));
    let (mark, cookie) = mark_and_cookie(&page);
    let post = async |path: &str, body: String| {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        service.call("POST", path, &[kind, ("cookie", &cookie)], body).await
    };
    let form = |mark: &str| format!("form={mark}&kind=import&inputs=%3Cb%3E.jsonl%0D%0A");
    assert_eq!(post("/jobs", form("0")).await.code(), "bad_form");
    let started = post("/jobs", form(&mark)).await;
    assert_eq!((started.status.as_u16(), started.header("location")), (303, "/job?number=1"));
    let begun = Instant::now();
    loop {
        let job = service.get("/v1/jobs/1").await.json();
        if job["state"] == "done" {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{job}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for (language, done, title) in
        [("en", "done", "Job 1: import"), ("ko", "완료", "작업 1: 가져오기")]
    {
        let page = service.page("/job?number=1", language).await;
        assert!(page.body.contains(done) && page.body.contains(title), "{}", page.body);
        assert!(page.body.contains("&lt;b&gt;.jsonl") && !page.body.contains("<b>.jsonl"));
        let page = service.page("/jobs", language).await;
        assert!(page.body.contains("/job?number=1"), "{}", page.body);
        let page = service.page("/crawl", language).await;
        assert!(page.body.contains("name=\"seeds\""), "{}", page.body);
    }
    let form = format!("form={mark}&number=1&change=cancel");
    assert_eq!(post("/job", form).await.code(), "wrong_state");
    let form = format!(
        "form={mark}&seeds=http%3A%2F%2F127.0.0.1%2F&pages=5&delay=1&order=bfs&scope=host&depth=&site_pages=&include=&exclude=&agent=&sweep_of="
    );
    assert_eq!(post("/crawl", form).await.code(), "forbidden_address");
    let form = format!("form={mark}&seeds=http%3A%2F%2Fa.example%2F&pages=many");
    assert_eq!(post("/crawl", form).await.code(), "bad_parameter");
}
