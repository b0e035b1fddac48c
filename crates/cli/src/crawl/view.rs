//! The progress of a crawl: one line that is redrawn on a terminal, nothing elsewhere.

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use wonbon_cluster::progress::peak_bytes;
use wonbon_crawl::plan::Plan;
use wonbon_crawl::progress::{Observer, Stats};

use crate::batch::thousands;
use crate::report;
use crate::watcher::target;
use crate::wording::counted;

/// Shows how a crawl goes.
pub(crate) struct View {
    bar: Option<ProgressBar>,
    most: Option<u64>,
    drawn: Mutex<Drawn>,
}

struct Drawn {
    /// Pages and time of a moment ago, for the rate.
    before: (u64, Instant),
    rate: f64,
}

impl View {
    pub(crate) fn new(plan: &Plan) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let target = target(Instant::now());
            let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
            ProgressBar::with_draw_target(plan.pace.pages, target)
                .with_style(style.expect("the template is right"))
        });
        let now = Instant::now();
        let drawn = Mutex::new(Drawn { before: (0, now), rate: 0.0 });
        View { bar, most: plan.pace.pages, drawn }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, stats: &Stats, rate: f64) -> String {
        let mut parts = vec![
            counted(stats.pages, "page", "pages"),
            format!("{rate:.0}/s"),
            counted(stats.hosts, "host", "hosts"),
            format!("{} waiting", thousands(stats.waiting)),
            format!("{} under way", stats.active),
        ];
        if stats.originals + stats.copies > 0 {
            parts.push(counted(stats.copies, "copy", "copies"));
        }
        parts.push(counted(stats.errors(), "error", "errors"));
        if stats.links > 0 {
            // Links that lead to pages that came: what random readers of the known web would see.
            parts.push(format!("{:.0} % of links", 100.0 * stats.link_share));
        }
        let left = match self.most {
            Some(most) => most.saturating_sub(stats.asked).min(stats.waiting),
            None => stats.waiting,
        };
        if rate > 0.0 {
            let left = Duration::from_secs((left as f64 / rate) as u64);
            parts.push(format!("{} left", indicatif::HumanDuration(left)));
        }
        parts.push(format!("at most {} MB", thousands(peak_bytes() / 1_000_000)));
        parts.join(", ")
    }
}

impl Observer for View {
    fn progress(&self, stats: &Stats) {
        let mut drawn = self.drawn.lock().expect("nobody panics while drawing");
        let (pages, at) = drawn.before;
        let passed = at.elapsed().as_secs_f64();
        if passed >= 2.0 {
            drawn.rate = stats.pages.saturating_sub(pages) as f64 / passed;
            drawn.before = (stats.pages, Instant::now());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(stats.asked);
            bar.set_message(self.line(stats, drawn.rate));
            bar.tick();
        }
    }

    fn say(&self, sentence: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| report::note(sentence)),
            None => report::note(sentence),
        }
    }
}
