//! A web of one host on loopback, whose pages come only when the test lets them: what a crawl has seen at
//! a moment is then known, however slow the machine is.
//!
//! Thirty pages in a tree of threes. Five say what others say, one fails and one is not there.

use std::sync::{Arc, Condvar, Mutex};

use wonbon_testkit::crawl::toy_web::{Reply, ToyHost, linking};

use crate::driver::PATIENCE;
use crate::sample::sentences;

/// Pages that come.
pub(crate) const PAGES: u64 = 28;
/// Addresses that a crawl of the web knows when it ends.
pub(crate) const KNOWN: u64 = 30;
const FAILS: u64 = 28;
const IS_NOT_THERE: u64 = 29;

/// A web and what holds its answers back.
pub(crate) struct Web {
    host: ToyHost,
    gate: Arc<Gate>,
}

#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    /// Requests that are let through from now on.
    free: u64,
    /// Requests that wait to be let through.
    waiting: u64,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        self.changed.notify_all();
        let mut state = self.changed.wait_while(state, |state| state.free == 0).unwrap();
        state.waiting -= 1;
        state.free -= 1;
    }

    fn set(&self, free: u64) {
        self.state.lock().unwrap().free = free;
        self.changed.notify_all();
    }

    fn wait_for_one(&self) {
        let state = self.state.lock().unwrap();
        let nobody = |state: &mut GateState| state.waiting == 0;
        let (state, _) = self.changed.wait_timeout_while(state, PATIENCE, nobody).unwrap();
        assert!(state.waiting > 0, "nobody asked");
    }
}

impl Web {
    /// A web that lets nobody through yet. Its texts are those of no other web.
    pub(crate) fn start() -> Web {
        let gate = Arc::new(Gate::default());
        let held = gate.clone();
        let host = ToyHost::start("toy.example", 1, move |asked| {
            let number = match asked.path.as_str() {
                "/" => Ok(0),
                path => path.trim_start_matches('/').parse(),
            };
            let Ok(number) = number else { return Reply::status(404) };
            held.pass();
            match number {
                FAILS => Reply::status(500),
                0..PAGES => Reply::page(page(number, &asked.host)),
                _ => Reply::status(404),
            }
        });
        Web { host, gate }
    }

    /// Where a crawl starts.
    pub(crate) fn seed(&self) -> String {
        format!("http://{}/", self.host.address)
    }

    /// Lets so many more requests through and no more.
    pub(crate) fn let_through(&self, requests: u64) {
        self.gate.set(requests);
    }

    /// Waits until a request waits to be let through.
    pub(crate) fn wait_until_asked(&self) {
        self.gate.wait_for_one();
    }

    /// Lets all through.
    pub(crate) fn open(&self) {
        self.gate.set(u64::MAX);
    }

    /// Lets none through.
    pub(crate) fn shut(&self) {
        self.gate.set(0);
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // Nobody waits for ever.
        self.open();
    }
}

fn page(number: u64, host: &str) -> String {
    let links = (1..=3).map(|at| number * 3 + at).filter(|to| *to <= IS_NOT_THERE);
    let about = if (20..25).contains(&number) { number - 10 } else { number };
    let port: u64 = host.rsplit(':').next().unwrap().parse().unwrap();
    let html = linking(&format!("Page {about}"), links.map(|to| format!("/{to}")));
    html.replace("</h1>", &format!("</h1><p>{}</p>", sentences(port * 100 + about)))
}
