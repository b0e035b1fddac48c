//! Servers that crash, freeze and fill up, and standbys that take over. Each test has servers of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wonbon_store::{Freshness, Kind, NewDocument, Store, StoreError, StoreParams};
use wonbon_testkit::long::{number, report};
use wonbon_testkit::postgres::{Server, ServerOptions, address};

use super::{add, assert_as_one_writer_gives, standings, text};

/// What a client may be told when the server is away; it asks again then.
fn may_be_told(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Busy { .. } | StoreError::Unreachable { .. } | StoreError::InDoubt { .. }
    )
}

/// Clients of several handles that add without end, and note what was acknowledged.
struct Clients {
    acknowledged: Mutex<BTreeSet<String>>,
    /// Acknowledged so far.
    number: AtomicU64,
    ended: AtomicBool,
}

impl Clients {
    fn new() -> Self {
        Clients {
            acknowledged: Mutex::default(),
            number: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        }
    }

    /// One client of a handle; what it could not hear the end of is added again.
    fn run(&self, store: &Store, client: usize) {
        for at in 0_u64.. {
            let (key, text) = (format!("{client}/{at}"), text(at));
            loop {
                if self.ended.load(Ordering::Relaxed) {
                    return;
                }
                match add(store, &key, &text) {
                    Ok(_) => break,
                    Err(error) => assert!(may_be_told(&error), "{error}"),
                }
            }
            self.acknowledged.lock().unwrap().insert(key);
            self.number.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until each of several clients had some more acknowledged.
    fn wait_for_more(&self, more: u64) {
        let wanted = self.number.load(Ordering::SeqCst) + more;
        while self.number.load(Ordering::SeqCst) < wanted {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// How many of the acknowledged are missing.
    fn lost(&self, store: &Store) -> usize {
        let all = standings(store);
        let there: BTreeSet<&str> = all.iter().map(|document| document.0.as_str()).collect();
        assert_eq!(there.len(), all.len(), "each once");
        let acknowledged = self.acknowledged.lock().unwrap();
        acknowledged.iter().filter(|key| !there.contains(key.as_str())).count()
    }
}

/// Three handles, a client each, while something happens.
fn while_adding(stores: &[Store], clients: &Clients, mut happens: impl FnMut()) {
    std::thread::scope(|scope| {
        for (client, store) in stores.iter().enumerate() {
            scope.spawn(move || clients.run(store, client));
        }
        // The clients end with the test also when it fails.
        struct End<'a>(&'a AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _end = End(&clients.ended);
        clients.wait_for_more(20);
        happens();
        clients.wait_for_more(20);
    });
}

fn three(place: &Path) -> Vec<Store> {
    (0..3).map(|_| Store::open_or_create(place, None).unwrap()).collect()
}

#[test]
fn a_server_that_crashes_loses_nothing() {
    let Some(server) = Server::start(ServerOptions::default()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let stores = three(server.address("wonbon", folder.path()).as_ref());
    let crashes = number("WONBON_CRASHES", 3);
    let clients = Clients::new();
    while_adding(&stores, &clients, || {
        for _ in 0..crashes {
            server.crash();
            server.restart();
            clients.wait_for_more(30);
        }
    });
    assert_eq!(clients.lost(&stores[0]), 0);
    for store in &stores {
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
        let state = store.shared_state().unwrap().unwrap();
        assert_eq!((state.losses, state.begun_anew), (0, 0));
    }
    assert_as_one_writer_gives(&stores[1]);
    let acknowledged = clients.number.into_inner();
    report(
        "crashes of the server",
        &[("tried", crashes), ("acknowledged", acknowledged), ("lost", 0)],
    );
}

/// The server's processes are stopped where they are: connections stay open, and nothing answers.
#[test]
fn a_frozen_server_is_not_waited_for() {
    let Some(server) = Server::start(ServerOptions::default()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let place: PathBuf = server.address("wonbon", folder.path()).into();
    let store = Store::create(&place, &StoreParams::default()).unwrap();
    add(&store, "before", &text(1)).unwrap();
    server.freeze();
    std::thread::scope(|scope| {
        let added = scope.spawn(|| add(&store, "meanwhile", &text(1)));
        let checked = scope.spawn(|| store.check(&NewDocument::text("asked", None, &text(2))));
        let found = scope.spawn(|| store.get("before"));
        let opened = scope.spawn(|| Store::open(&place));
        let other = text(3);
        let any = store.check_as_of(&NewDocument::text("asked", None, &other), Freshness::Any);
        assert_eq!(any.unwrap().0.kind, Kind::Original);
        for error in [
            added.join().unwrap().unwrap_err(),
            checked.join().unwrap().unwrap_err(),
            found.join().unwrap().unwrap_err(),
            opened.join().unwrap().unwrap_err(),
        ] {
            assert!(may_be_told(&error), "{error}");
        }
    });
    server.thaw();
    assert!(matches!(add(&store, "meanwhile", &text(1)).unwrap(), Kind::Identical));
    assert_as_one_writer_gives(&store);
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let disk_kilobytes = Some(120_000);
    let options = ServerOptions { disk_kilobytes, ..ServerOptions::default() };
    let Some(server) = Server::start(options) else { return };
    let folder = tempfile::tempdir().unwrap();
    let place: PathBuf = server.address("wonbon", folder.path()).into();
    let store = Store::create(&place, &StoreParams::default()).unwrap();
    add(&store, "before", &text(1)).unwrap();
    server.fill_disk();
    let mut stored = 1;
    // What is free in the pages that are there is still used.
    let error = loop {
        assert!(stored < 20_000, "the disk is full");
        match add(&store, &format!("key {stored}"), &text(stored)) {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::DiskFull), "{error}");
    assert_eq!(store.counts().unwrap().documents, stored);
    let first = text(1);
    let checked = store.check(&NewDocument::text("asked", None, &first)).unwrap();
    assert_eq!(checked.original.as_deref(), Some("before"));
    server.make_room();
    add(&store, &format!("key {stored}"), &text(stored)).unwrap();
    assert_eq!(store.counts().unwrap().documents, stored + 1);
    assert_as_one_writer_gives(&store);
}

/// The address of a store on whichever of two servers can be written to.
fn on_either(primary: &Server, standby: &Server, folder: &tempfile::TempDir) -> PathBuf {
    address(&[primary.sockets(), standby.sockets()], "wonbon", folder.path()).into()
}

#[test]
fn a_synchronous_standby_takes_over_and_nothing_is_lost() {
    let failovers = number("WONBON_FAILOVERS", 1);
    let mut acknowledged = 0;
    for _ in 0..failovers {
        let Some(primary) = Server::start(ServerOptions::default()) else { return };
        let standby = primary.standby();
        primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'");
        primary.psql("SELECT pg_reload_conf()");
        let folder = tempfile::tempdir().unwrap();
        let stores = three(&on_either(&primary, &standby, &folder));
        let clients = Clients::new();
        while_adding(&stores, &clients, || {
            primary.crash();
            standby.promote();
        });
        assert_eq!(clients.lost(&stores[2]), 0);
        for store in &stores {
            assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
            assert_eq!(store.shared_state().unwrap().unwrap().losses, 0);
        }
        assert_as_one_writer_gives(&stores[0]);
        acknowledged += clients.number.into_inner();
    }
    let counts = [("tried", failovers), ("acknowledged", acknowledged), ("lost", 0)];
    report("failovers to a synchronous standby", &counts);
}

/// A standby that was behind takes over: what it had not heard of is gone, which nobody can help. Every instance notices, also
/// one that was closed meanwhile and one for which the numbers of changes have been reached again; none answers
/// from what was lost, and search follows.
#[test]
fn a_loss_by_a_lagging_standby_is_noticed_by_every_instance() {
    let Some(primary) = Server::start(ServerOptions::default()) else { return };
    let standby = primary.standby();
    let folder = tempfile::tempdir().unwrap();
    let place = on_either(&primary, &standby, &folder);
    let stores = three(&place);
    for at in 0..30 {
        add(&stores[at % 3], &format!("kept {at}"), &text(at as u64)).unwrap();
    }
    let caught_up = format!(
        "SELECT pg_last_wal_replay_lsn() >= '{}'",
        primary.ask_psql("SELECT pg_current_wal_lsn()")
    );
    while standby.ask_psql(&caught_up) != "t" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    standby.psql("ALTER SYSTEM SET primary_conninfo = ''");
    standby.psql("SELECT pg_reload_conf()");
    while standby.ask_psql("SELECT count(*) FROM pg_stat_wal_receiver") != "0" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for at in 0..20 {
        add(&stores[at % 3], &format!("lost {at}"), &text(100 + at as u64)).unwrap();
    }
    let [one, other, closed] = <[Store; 3]>::try_from(stores).unwrap();
    for store in [&one, &other, &closed] {
        store.catch_up().unwrap();
    }
    let derived = closed.directory().to_owned();
    closed.close().unwrap();
    primary.crash();
    standby.promote();

    // The numbers of the lost changes are given to others, in the same number and more.
    for at in 0..25 {
        let kind = add(&one, &format!("new {at}"), &text(200 + at)).unwrap();
        assert_eq!(kind, Kind::Original);
    }
    let reopened = Store::open(&place).unwrap();
    assert_eq!(reopened.directory(), derived, "it has what it derived before");
    for (at, store) in [&one, &other, &reopened].into_iter().enumerate() {
        let check = |about: u64| {
            let text = text(about);
            store.check(&NewDocument::text("asked", None, &text)).unwrap().original
        };
        for about in 0..20 {
            assert_eq!(check(100 + about), None, "instance {at}: it was lost");
            assert_eq!(check(200 + about), Some(format!("new {about}")), "instance {at}");
        }
        assert_eq!(check(3), Some("kept 3".to_owned()));
        store.catch_up().unwrap();
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new(), "instance {at}");
        assert_eq!(store.search_behind().unwrap(), 0);
        let state = store.shared_state().unwrap().unwrap();
        let noticed = if at < 2 { 1 } else { 0 };
        assert_eq!(state.losses, noticed, "instance {at}");
    }
    assert_as_one_writer_gives(&other);
}

/// A standby can be read, and refuses to be written to in one sentence.
#[test]
fn a_standby_alone_refuses_to_write() {
    let Some(primary) = Server::start(ServerOptions::default()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let place: PathBuf = primary.address("wonbon", folder.path()).into();
    let store = Store::create(&place, &StoreParams::default()).unwrap();
    add(&store, "before", &text(1)).unwrap();
    let standby = primary.standby();
    let there: PathBuf = standby.address("wonbon", folder.path()).into();
    let read = Store::open(&there).unwrap();
    assert_eq!(read.get("before").unwrap().unwrap().key, "before");
    let error = add(&read, "there", &text(2)).unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("during recovery"), "{error}");
}
