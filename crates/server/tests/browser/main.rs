//! The pages as people meet them: in a browser, in both languages, light and dark, wide and on a phone,
//! with script and without, with hostile documents, and before an accessibility audit.
//!
//! Needs Debian's `chromium` and `chromium-driver`, and axe-core for the audit; `scripts/test.sh` fetches
//! them and names their place in `WONBON_TOOLS`. Without them the tests say that they were skipped.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stderr, reason = "what was skipped is told")]

mod access;
mod decisions;
mod driver;
mod flows;
mod hostile;
mod jobs;
mod pictures;
mod sample;
mod table;
mod walk;
mod web;

use driver::Browser;
use sample::Served;
use table::{Of, Page};

/// The servers that pages are asked of.
struct Servers {
    open: Served,
    closed: Served,
    empty: Served,
    busy: Served,
}

impl Servers {
    fn start() -> Servers {
        let busy = Served::start(false, |_| ());
        busy.work();
        Servers {
            open: Served::start(false, sample::fill),
            closed: Served::start(true, |_| ()),
            empty: Served::start(false, |_| ()),
            busy,
        }
    }

    fn at(&self, page: &Page) -> String {
        let served = match page.of {
            Of::Open => &self.open,
            Of::Closed => &self.closed,
            Of::Empty => &self.empty,
            Of::Busy => &self.busy,
        };
        served.at(page.address)
    }
}

/// A wide window, and a phone's.
const WIDTHS: [(u32, u32); 2] = [(1280, 900), (390, 844)];

const LANGUAGES: [&str; 2] = ["en", "ko"];

/// What holds of every page, whatever is on it.
fn assert_whole(browser: &Browser, width: u32, told: &str) {
    let facts = browser.run(
        "const count = (what) => document.querySelectorAll(what).length;
         const strange = ['iframe', 'object', 'embed', 'base', 'style', 'math', 'template', 'video',
           'source', 'frame', 'animate', 'noscript', 'marquee'];
         const isStrange = (one) => strange.includes(one.localName)
           || (one.localName === 'meta' && one.httpEquiv)
           || (one.localName === 'link' && new URL(one.href).origin !== location.origin)
           || (one.localName === 'form' && new URL(one.action).origin !== location.origin)
           || (one.localName === 'a' && !/^https?:$/.test(one.protocol))
           || (one.localName === 'a' && one.origin !== location.origin && !one.rel.includes('noreferrer'))
           || [...one.attributes].some((its) => /^on|^style$/i.test(its.name));
         return {
           width: document.documentElement.scrollWidth,
           scripts: document.scripts.length,
           landmarks: ['header', 'nav', 'main#main', 'footer', 'h1'].map(count),
           inside: [...document.body.children].map((part) => part.localName),
           strange: [...document.querySelectorAll('*')].filter(isStrange).map((one) => one.outerHTML),
           title: document.title,
           hacked: 'hacked' in window,
         };",
    );
    assert!(facts["width"].as_u64().unwrap() <= u64::from(width), "{told}: {facts}");
    assert_eq!(facts["scripts"], 1, "{told}: {facts}");
    assert_eq!(facts["landmarks"], serde_json::json!([1, 1, 1, 1, 1]), "{told}: {facts}");
    assert_eq!(facts["inside"], serde_json::json!(["a", "header", "main", "footer"]), "{told}");
    // Nothing that pages have not, no handler, no style, no link that runs or leads out unasked.
    assert_eq!(facts["strange"], serde_json::json!([]), "{told}");
    assert!(facts["title"].as_str().unwrap().ends_with("Wonbon"), "{told}: {facts}");
    assert_eq!(facts["hacked"], false, "{told}");
}

/// The console has nothing to tell: no script was refused, nothing is missing, nothing failed. A dialog
/// that somebody opened would have refused every call of the test.
fn assert_quiet(browser: &Browser, told: &str) {
    let said: Vec<_> = browser
        .console()
        .into_iter()
        .filter(|entry| {
            let message = entry["message"].as_str().unwrap_or_default();
            // A problem's page has its status, and Chromium mentions it.
            let is_status = entry["source"] == "network"
                && message.contains("the server responded with a status of 4");
            matches!(entry["level"].as_str(), Some("WARNING" | "SEVERE")) && !is_status
        })
        .collect();
    assert!(said.is_empty(), "{told}: {said:?}");
}
