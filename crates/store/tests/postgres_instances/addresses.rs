//! What is wrong with an address, a server or a request is one sentence without the password, before anything is changed.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use wonbon_store::{NewDocument, Store, StoreError, StoreParams};
use wonbon_testkit::postgres::Proxy;

use super::support;
use super::{behind, schema, text};

/// The sentence with which a place is refused; nothing was made there.
fn refusal(place: &str) -> String {
    let error = Store::open_or_create(Path::new(place), None).expect_err(place).to_string();
    assert!(!error.contains("hidden") && !error.contains('\n'), "{error}");
    error
}

fn has_schema(name: &str) -> bool {
    let sql = format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{name}'");
    support::server().unwrap().ask_psql(&sql) == "1"
}

#[test]
fn what_is_wrong_is_one_sentence_without_the_password() {
    let Some(server) = support::server() else { return };
    let place = support::place();
    let (schema, address) = (schema(&place), place.path().to_str().unwrap());
    server.psql(
        "CREATE ROLE stranger LOGIN PASSWORD 'hidden'; \
         CREATE ROLE secret LOGIN PASSWORD 'another'",
    );
    server.require_password("secret");
    let sockets = server.sockets().display().to_string();
    let encoded = sockets.replace('/', "%2F");
    let nobody = "n".repeat(64);
    for (place, words) in [
        (address.replace("//wonbon@", "//stranger:hidden@"), "permission denied"),
        (address.replace("//wonbon@", "//secret:hidden@"), "password authentication failed"),
        (address.replace("/postgres?", "/nowhere?"), "does not exist"),
        (address.replace(&encoded, "%2Fnowhere"), "cannot be reached"),
        ("postgres://me:hidden@127.0.0.1:1/db?sslmode=disable".to_owned(), "cannot be reached"),
        (format!("postgres://me:hidden@{nobody}.invalid/db"), "cannot be reached"),
        ("postgres://me:hidden@host/db?sslmode=perhaps".to_owned(), "no sslmode"),
        ("postgres://me:hidden@host/db?pasword=hidden".to_owned(), "no parameter"),
    ] {
        let error = refusal(&place);
        assert!(error.contains(words), "{place}: {error}");
        assert!(!has_schema(schema), "{place}");
    }
    let elsewhere = Store::open(place.path()).unwrap_err();
    assert!(matches!(elsewhere, StoreError::NoStore { .. }), "{elsewhere}");

    let store = Store::create(place.path(), &StoreParams::default()).unwrap();
    let nul = store.add(&NewDocument::text("a\0b", None, "text"));
    assert!(matches!(nul, Err(StoreError::NulInKey)), "{nul:?}");
    store.add(&NewDocument::text("a", None, &text(1))).unwrap();
    // Who may only read opens the store, and is refused when it writes.
    server.psql(&format!(
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA {schema} TO reader; \
         GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader"
    ));
    let reader = Store::open(Path::new(&address.replace("//wonbon@", "//reader@"))).unwrap();
    assert_eq!(reader.get("a").unwrap().unwrap().key, "a");
    let refused = reader.add(&NewDocument::text("b", None, &text(2))).unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    assert!(refused.to_string().contains("permission denied"), "{refused}");
    assert_eq!(store.counts().unwrap().documents, 1);
    drop(reader);

    server.psql(&format!("UPDATE {schema}.head SET tables = 99"));
    let newer = Store::open(place.path());
    assert!(matches!(newer, Err(StoreError::NewerTables { stored: 99, .. })), "{newer:?}");
    // A program that is running stops writing at once.
    let stopped = store.add(&NewDocument::text("b", None, "text"));
    assert!(stopped.is_err(), "{stopped:?}");
    server.psql(&format!("UPDATE {schema}.head SET tables = 1"));
    store.add(&NewDocument::text("b", None, "text")).unwrap();
}

#[test]
fn a_server_that_is_too_old_is_refused() {
    let Some(server) = support::server() else { return };
    let place = support::place();
    let version: i64 = server.ask_psql("SHOW server_version_num").parse().unwrap();
    let proxy = Proxy::start(server.sockets());
    proxy.replace(&version.to_be_bytes(), &110_022_i64.to_be_bytes());
    let error = refusal(behind(&proxy, &place).to_str().unwrap());
    assert!(error.contains("too old: 110022"), "{error}");
    assert!(!has_schema(schema(&place)));
}

/// A pooler before the server, as Debian has it.
struct Pooler {
    folder: tempfile::TempDir,
    process: Child,
}

impl Pooler {
    fn start(mode: &str) -> Option<Pooler> {
        let program = Path::new("/usr/sbin/pgbouncer");
        if !program.exists() {
            println!("skipped: pgbouncer is not installed");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let config = format!(
            "[databases]\n* = host={}\n[pgbouncer]\nunix_socket_dir = {at}\nlisten_port = 5432\n\
             auth_type = any\npool_mode = {mode}\nlogfile = {at}/log\n",
            support::server().unwrap().sockets().display()
        );
        let config = config.replace("* = host", "postgres = user=wonbon host");
        std::fs::write(folder.path().join("config"), config).unwrap();
        let is_root = server_user(folder.path());
        let mut command = Command::new(program);
        if is_root {
            command.args(["-u", "postgres"]);
        }
        let process = command
            .arg(folder.path().join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while std::os::unix::net::UnixStream::connect(folder.path().join(".s.PGSQL.5432")).is_err()
        {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Some(Pooler { folder, process })
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Gives a folder to the server's user, if whoever runs the test may and must.
fn server_user(folder: &Path) -> bool {
    let mut command = Command::new("chown");
    let given = command.args(["-R", "postgres"]).arg(folder).stderr(Stdio::null()).status();
    given.is_ok_and(|status| status.success())
}

#[test]
fn a_pooler_is_refused_unless_it_is_in_session_mode() {
    if support::server().is_none() {
        return;
    }
    for mode in ["transaction", "statement", "session"] {
        let Some(pooler) = Pooler::start(mode) else { return };
        let place = support::place();
        let through = wonbon_testkit::postgres::address(
            &[pooler.folder.path()],
            schema(&place),
            place.folder(),
        );
        if mode == "session" {
            let store = Store::create(Path::new(&through), &StoreParams::default()).unwrap();
            store.add(&NewDocument::text("a", None, &text(1))).unwrap();
            continue;
        }
        let error = refusal(&through);
        assert!(error.contains("pooler"), "{mode}: {error}");
        assert!(!has_schema(schema(&place)), "{mode}");
    }
}
