//! Several instances of the service on one store in PostgreSQL.

use std::time::Duration;

use serde_json::{Value, json};
use wonbon_app::jobs::JobsConfig;
use wonbon_app::tokens::{Scope, Tokens};
use wonbon_server::Config;
use wonbon_store::{Follow, Store};
use wonbon_testkit::postgres::shared_server;

use crate::pages::{form_of, send_form};
use crate::support::{Running, place, text};

/// Instances on one store, and the place of the store.
struct Instances {
    running: Vec<Running>,
    place: std::path::PathBuf,
    folder: tempfile::TempDir,
}

impl Instances {
    fn new(configs: Vec<Config>) -> Option<Self> {
        shared_server()?;
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let running = configs
            .into_iter()
            .map(|config| Running::over_with(Store::open_or_create(&place, None).unwrap(), config))
            .collect();
        Some(Instances { running, place, folder })
    }
}

fn document(id: &str, about: u64) -> Value {
    json!({"id": id, "text": text(about)})
}

#[tokio::test]
async fn a_check_is_as_fresh_as_it_is_asked_to_be_on_every_instance() {
    let Some(instances) = Instances::new(vec![Config::default(); 3]) else { return };
    let [one, two, three] = &instances.running[..] else { unreachable!() };
    let mut last = 0;
    for round in 0..20 {
        let added = one.add(&document(&format!("key {round}"), round)).await;
        assert_eq!(added.status, 201, "{added:?}");
        let change: u64 = added.header("wonbon-change").parse().unwrap();
        assert!(change > last, "{change}");
        last = change;
        // By default, whatever was acknowledged is known.
        let checked = two.post("/v1/check", &json!({"text": text(round)})).await;
        assert_eq!(checked.json()["original"], format!("key {round}"));
        let known: u64 = checked.header("wonbon-change").parse().unwrap();
        assert!(known <= change, "{known}");
        let asked = format!("/v1/check?at_least={change}");
        let checked = three.post(&asked, &json!({"text": text(round)})).await;
        assert_eq!(checked.json()["original"], format!("key {round}"));
        // What the instance that stored it knows, it has stored.
        let checked = one.post("/v1/check?stale=ok", &json!({"text": text(round)})).await;
        assert_eq!(checked.json()["original"], format!("key {round}"));
    }
    for wrong in ["stale=no", "stale=ok&at_least=1", "at_least=x", "at_least=-1"] {
        let refused = two.post(&format!("/v1/check?{wrong}"), &json!({"text": "a"})).await;
        assert_eq!(refused.code(), "bad_parameter", "{wrong}");
    }
}

#[tokio::test]
async fn the_status_tells_where_each_instance_is() {
    let Some(instances) = Instances::new(vec![Config::default(); 2]) else { return };
    let [one, two] = &instances.running[..] else { unreachable!() };
    for about in 0..5 {
        one.add(&document(&format!("key {about}"), about)).await;
    }
    let mut shared = two.get("/v1/status").await.json()["shared"].clone();
    while shared["behind"] != 0 {
        shared = two.get("/v1/status").await.json()["shared"].clone();
    }
    let status = one.get("/v1/status").await;
    assert_eq!(status.json()["store"], "PostgreSQL");
    assert!(!status.body.contains("wonbon-pg"), "nobody is told where it is: {status:?}");
    let own = &status.json()["shared"];
    assert_eq!((&own["change"], &shared["change"]), (&json!(5), &json!(5)));
    assert_eq!(own["history"], shared["history"]);
    assert_eq!(own["history"].as_str().unwrap().len(), 16);
    for shared in [own, &shared] {
        assert_eq!(shared["begun_anew"], 0);
        assert_eq!(shared["losses"], 0);
        assert_eq!(shared["queued"], 0);
        assert_eq!(shared["follows"], true);
        assert!(shared["turns_per_second"].is_number());
    }
    // Turns are counted over a second and more.
    let begun = std::time::Instant::now();
    loop {
        one.add(&document("key 0", 100 + begun.elapsed().as_millis() as u64)).await;
        let status = one.get("/v1/status").await.json();
        if status["shared"]["turns_per_second"].as_f64().unwrap() > 0.0 {
            break;
        }
    }
}

#[tokio::test]
async fn tokens_in_the_store_are_known_to_every_instance_until_they_are_revoked() {
    let Some(server) = shared_server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = std::path::PathBuf::from(server.address("tokens", folder.path()));
    let stores: Vec<Store> = (0..2).map(|_| Store::open_or_create(&place, None).unwrap()).collect();
    let secret = Tokens::change(&place, |tokens| tokens.create("a", &[Scope::Read], None)).unwrap();
    let config = Config { tokens: Some(place.clone()), ..Config::default() };
    let running: Vec<Running> =
        stores.into_iter().map(|store| Running::over_with(store, config.clone())).collect();
    let asked = async |instance: &Running, secret: &str| {
        let bearer = format!("Bearer {secret}");
        instance.call("GET", "/v1/status", &[("authorization", &bearer)], "").await.status
    };
    for instance in &running {
        assert_eq!(asked(instance, &secret).await, 200);
        assert_eq!(asked(instance, "wonbon_00").await, 401);
    }
    // One that is made while they run is known within a second, on each of them.
    let second = Tokens::change(&place, |tokens| tokens.create("b", &[Scope::Read], None)).unwrap();
    for instance in &running {
        while asked(instance, &second).await != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let id = Tokens::read(&place).unwrap().tokens[0].id.clone();
    Tokens::change(&place, |tokens| Ok(tokens.revoke(&id))).unwrap();
    for instance in &running {
        while asked(instance, &secret).await != 401 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(asked(instance, &second).await, 200, "the other stays");
    }
    let kept = server.ask_psql("SELECT value FROM tokens.meta WHERE name = 'tokens'");
    assert!(kept.contains("\"b\"") && !kept.contains(&second), "{kept}");
}

#[tokio::test]
async fn a_form_of_one_instance_is_taken_by_another() {
    let Some(instances) = Instances::new(vec![Config::default(); 2]) else { return };
    let [one, two] = &instances.running[..] else { unreachable!() };
    one.store(&[wonbon_store::NewDocument::text("a", None, &text(1))]);
    let (cookie, mark) = form_of(one, "/watch", "").await;
    let watched = send_form(two, "/watch", &cookie, &format!("form={mark}&key=a")).await;
    assert_eq!(watched.status, 303, "{watched:?}");
    assert_eq!(one.store.watched().unwrap().len(), 1);
    let forged = send_form(two, "/watch", &cookie, "form=0&key=a&then=remove").await;
    assert_eq!(forged.status, 403, "{forged:?}");
}

#[tokio::test]
async fn an_instance_that_follows_nothing_adds_checks_and_reads() {
    let Some(instances) = Instances::new(vec![Config::default()]) else { return };
    let all = &instances.running[0];
    let follows = Follow::Nothing;
    let store = Store::open_or_create_following(&instances.place, None, follows).unwrap();
    let derived = store.directory().to_owned();
    let thin = Running::over(store);
    assert_eq!(thin.add(&document("a", 1)).await.status, 201);
    assert_eq!(all.add(&document("b", 2)).await.status, 201);
    let checked = thin.post("/v1/check", &json!({"text": text(2)})).await;
    assert_eq!(checked.json()["original"], "b");
    assert_eq!(thin.get("/v1/documents/b").await.status, 200);
    for asked in ["/v1/search?q=w1x1", "/v1/similar?key=a", "/v1/within?key=a"] {
        assert_eq!(thin.get(asked).await.code(), "not_followed", "{asked}");
        assert_eq!(all.get(asked).await.status, 200, "{asked}");
    }
    assert_eq!(thin.get("/readyz").await.status, 200);
    let status = thin.get("/v1/status").await.json();
    assert_eq!(
        (&status["shared"]["follows"], &status["search_behind"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(thin.store.verify().unwrap().first, Vec::<String>::new());
    for part in ["search", "shingles"] {
        assert!(!derived.join(part).exists(), "{part}");
    }
    let directory = instances.folder.path().join("alone");
    let refused = Store::open_or_create_following(&directory, None, follows).unwrap_err();
    assert!(refused.to_string().contains("directory"), "{refused}");
    assert!(!directory.exists());
}

#[tokio::test]
async fn jobs_of_one_instance_are_seen_on_all() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = JobsConfig::new(folder.path().join("jobs"));
    let with_jobs = Config { jobs: Some(jobs), ..Config::default() };
    let Some(instances) = Instances::new(vec![with_jobs, Config::default()]) else { return };
    let [one, two] = &instances.running[..] else { unreachable!() };
    assert_eq!(two.get("/v1/jobs").await.json()["jobs"], json!([]));
    let line = document("from a file", 7).to_string();
    std::fs::write(folder.path().join("jobs/in/posts.jsonl"), format!("{line}\n")).unwrap();
    for _ in 0..3 {
        let started =
            one.post("/v1/jobs", &json!({"kind": "import", "inputs": ["posts.jsonl"]})).await;
        assert_eq!(started.status, 202, "{started:?}");
    }
    for number in 1..=3 {
        let address = format!("/v1/jobs/{number}");
        loop {
            let job = two.get(&address).await.json();
            assert_ne!(job["state"], "failed", "{job}");
            if job["state"] == "done" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(two.get(&address).await.json(), one.get(&address).await.json());
    }
    let listed = two.get("/v1/jobs").await.json();
    assert_eq!(listed, one.get("/v1/jobs").await.json());
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 3);
    let page = two.get("/v1/jobs?limit=2").await.json();
    let rest =
        two.get(&format!("/v1/jobs?limit=2&cursor={}", page["next"].as_str().unwrap())).await;
    assert_eq!(rest.json()["jobs"][0]["number"], 1);
    assert_eq!(two.get("/v1/jobs/9").await.code(), "unknown_job");
    // Only the one that runs them starts and stops them.
    assert_eq!(
        two.post("/v1/jobs", &json!({"kind": "import", "inputs": ["x"]})).await.code(),
        "no_jobs"
    );
    assert_eq!(two.post("/v1/jobs/1/cancel", &Value::Null).await.code(), "no_jobs");
    for address in ["/jobs", "/job?number=2"] {
        let page = two.page(address, "en").await;
        assert_eq!(page.status, 200, "{page:?}");
        assert!(page.body.contains("import") && !page.body.contains("<button name=\"change\""));
    }
}
