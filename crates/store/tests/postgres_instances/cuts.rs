//! Connections that are cut, that fall silent and whose statements fail, at every place of a turn.

use std::sync::mpsc;
use std::time::Duration;

use wonbon_store::{Kind, Store, StoreError, StoreParams};
use wonbon_testkit::long::{number, report};
use wonbon_testkit::postgres::{Direction, Fault, Place as At, Proxy, TurnMessages};

use super::support::{self, Place};
use super::{add, assert_as_one_writer_gives, behind, standings, text};

/// A store with two handles: one through a proxy, one that nothing happens to.
struct Two {
    place: Place,
    proxy: Proxy,
    steady: Store,
    through: Store,
}

impl Two {
    fn new() -> Option<Self> {
        let server = support::server()?;
        let place = support::place();
        let proxy = Proxy::start(server.sockets());
        let steady = Store::create(place.path(), &StoreParams::default()).unwrap();
        let through = Store::open(&behind(&proxy, &place)).unwrap();
        // Statements are prepared once, each when it is needed first.
        for about in [900_000, 900_000, 900_001] {
            add(&through, &format!("warm {}", steady.counts().unwrap().documents), &text(about))
                .unwrap();
        }
        Some(Two { place, proxy, steady, through })
    }

    /// What passes in the turn of an original and in that of a copy.
    fn messages(&self) -> [TurnMessages; 2] {
        [0, 1].map(|copy| {
            self.proxy.record();
            let added = add(&self.through, &format!("recorded {copy}"), &text(900_100)).unwrap();
            assert_eq!(added, expected(copy));
            self.proxy.messages()
        })
    }

    /// Adds an original or its copy while something happens to the turn; whatever it is, the client hears the verdict.
    fn add_in_spite(&self, fault: Fault, number: u64, copy: u64) {
        self.proxy.in_next_turn(fault);
        let (key, text) = (format!("key {number:05} {copy}"), text(number));
        let found = add(&self.through, &key, &text);
        assert!(self.proxy.disarm(), "{fault:?} came about");
        assert_eq!(found.unwrap(), expected(copy), "{fault:?}");
        let stored = self.steady.get(&key).unwrap().unwrap();
        assert_eq!(stored.verdict.kind, expected(copy), "{fault:?}");
    }

    fn check(&self, added: u64) {
        let all = standings(&self.steady);
        assert_eq!(all.len() as u64, added, "each once");
        assert_eq!(self.through.verify().unwrap().first, Vec::<String>::new());
        assert_as_one_writer_gives(&self.steady);
        assert_eq!(support::server().unwrap().ask_psql(&format!(
            "SELECT count(*) FROM (SELECT key FROM {}.documents GROUP BY key HAVING count(*) > 1) d",
            super::schema(&self.place)
        )), "0");
    }
}

fn expected(copy: u64) -> Kind {
    if copy == 0 { Kind::Original } else { Kind::Identical }
}

/// Wherever the connection of a turn is cut, after a message or within one, in either direction, the document is stored once
/// and the client hears its verdict.
#[test]
fn a_cut_anywhere_in_a_turn_stores_the_document_once() {
    let Some(two) = Two::new() else { return };
    let turns = two.messages();
    let mut places = Vec::new();
    for (copy, messages) in turns.iter().enumerate() {
        for (direction, sizes) in
            [(Direction::Upwards, &messages.upwards), (Direction::Downwards, &messages.downwards)]
        {
            for (at, &size) in sizes.iter().enumerate() {
                // After the message before it, and in its head, midst and last byte.
                for bytes in [0, 3, size / 2, size - 1] {
                    places.push((copy as u64, Fault::Cut(At { direction, messages: at, bytes })));
                }
            }
        }
    }
    places.sort_by_key(|(copy, _)| *copy);
    // All in the long form; an even choice otherwise.
    let wanted = (number("WONBON_CUTS", 60) as usize).min(places.len());
    let chosen: Vec<_> = (0..wanted).map(|at| places[at * places.len() / wanted]).collect();
    let mut added = 5;
    for (at, (copy, fault)) in chosen.into_iter().enumerate() {
        if copy == 1 {
            add(&two.steady, &format!("key {at:05} 0"), &text(at as u64)).unwrap();
            added += 1;
        }
        two.add_in_spite(fault, at as u64, copy);
        added += 1;
    }
    two.check(added);
    report(
        "cuts of a turn",
        &[("places", places.len() as u64), ("tried", wanted as u64), ("lost", 0)],
    );
}

/// Every statement of a turn fails to serialize or is a deadlock's victim; the turn is made again.
#[test]
fn a_statement_that_fails_to_serialize_is_tried_again() {
    let Some(two) = Two::new() else { return };
    let turns = two.messages();
    let (mut number, mut added) = (0, 5);
    for (copy, messages) in turns.iter().enumerate() {
        for statement in 0..messages.statements {
            for code in ["40001", "40P01"] {
                if copy == 1 {
                    add(&two.steady, &format!("key {number:05} 0"), &text(number)).unwrap();
                    added += 1;
                }
                two.add_in_spite(Fault::Fail(statement, code), number, copy as u64);
                (number, added) = (number + 1, added + 1);
            }
        }
    }
    assert!(number > 20, "{number} statements");
    two.check(added);
    report("statements that failed", &[("tried", number), ("told to a client", 0)]);
}

/// The way to the server swallows everything in the midst of a turn. The others go on; whoever waits for the silent one
/// is told something, not left alone; and once it speaks again everything does.
#[test]
fn silence_stops_nobody_else_and_is_not_waited_for() {
    let Some(two) = Two::new() else { return };
    let [_, copy] = two.messages();
    let all = [
        // After the head is locked; before COMMIT; after it, when only the answer is missing.
        At { direction: Direction::Downwards, messages: 8, bytes: 0 },
        At { direction: Direction::Upwards, messages: copy.upwards.len() - 1, bytes: 0 },
        At { direction: Direction::Downwards, messages: copy.downwards.len() - 2, bytes: 0 },
    ];
    let places = number("WONBON_SILENCES", 1) as usize;
    let mut in_doubt = 0;
    for (number, at) in all.into_iter().cycle().take(places).enumerate() {
        let number = number as u64 + 700;
        add(&two.steady, &format!("key {number:05} 0"), &text(number)).unwrap();
        two.proxy.in_next_turn(Fault::Hold(at));
        let key = format!("key {number:05} 1");
        let told = std::thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let (through, key) = (&two.through, &key);
            scope.spawn(move || tell.send(add(through, key, &text(number))).unwrap());
            while two.proxy.faults() < number - 699 {
                std::thread::yield_now();
            }
            // Everything else of this instance falls silent too.
            two.proxy.hold();
            // The server gives up the silent turn, and with it the head.
            let other = add(&two.steady, &format!("key {number:05} 2"), &text(number)).unwrap();
            assert_eq!(other, Kind::Identical);
            let told = told.recv_timeout(Duration::from_secs(120)).expect("it is not waited for");
            // What is known without the server is still answered.
            let asked = text(number + 50_000);
            let document = wonbon_store::NewDocument::text("asked", None, &asked);
            let any = two.through.check_as_of(&document, wonbon_store::Freshness::Any);
            assert_eq!(any.unwrap().0.kind, Kind::Original);
            two.proxy.release();
            told
        });
        match told {
            Ok(kind) => assert_eq!(kind, Kind::Identical),
            Err(StoreError::InDoubt { .. }) => in_doubt += 1,
            Err(error) => assert!(
                matches!(error, StoreError::Busy { .. } | StoreError::Unreachable { .. }),
                "{error}"
            ),
        }
        // Told or not, adding it again gives the verdict and stores it once.
        assert_eq!(add(&two.through, &key, &text(number)).unwrap(), Kind::Identical);
    }
    two.check(5 + 3 * places as u64);
    report("silences", &[("tried", places as u64), ("in doubt", in_doubt), ("lost", 0)]);
}
