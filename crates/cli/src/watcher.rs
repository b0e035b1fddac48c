//! Progress of long work as a bar on a terminal: rate, time left, memory.
//!
//! Nothing is drawn for work that ends within two seconds, nor where standard error is no terminal: a bar
//! that flashes by tells nobody anything, and logs are not for bars.
//!
//! Cost: a lock for each call; the bar is drawn four times a second.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use wonbon_cluster::progress::peak_bytes;
use wonbon_progress::Progress;

use crate::batch::thousands;

/// How long work takes before it is worth a bar.
const WORTH_A_BAR: Duration = Duration::from_secs(2);

/// Shows the progress of a run as a bar on a terminal.
pub(crate) struct Watcher {
    bar: Mutex<ProgressBar>,
    started: Instant,
}

/// Where bars are drawn when the run that began then is worth one.
pub(crate) fn target(began: Instant) -> ProgressDrawTarget {
    let terminal = Term::stderr();
    if !terminal.features().is_attended() {
        return ProgressDrawTarget::hidden();
    }
    ProgressDrawTarget::term_like_with_hz(Box::new(Patient { terminal, began }), 4)
}

impl Watcher {
    pub(crate) fn new() -> Self {
        Watcher { bar: Mutex::new(ProgressBar::hidden()), started: Instant::now() }
    }

    pub(crate) fn finish(&self) {
        self.bar.lock().expect("nobody panics while drawing").finish_and_clear();
    }
}

impl Progress for Watcher {
    fn begin(&self, phase: &'static str, total: u64) {
        let mut bar = self.bar.lock().expect("nobody panics while drawing");
        bar.finish_and_clear();
        let bytes = matches!(phase, "read" | "sketch" | "passages" | "search" | "texts" | "write");
        let template = match (total, bytes) {
            (0, true) => {
                "{prefix:>14} {spinner} {decimal_bytes}, {decimal_bytes_per_sec}, {elapsed}, {memory}"
            }
            (0, false) => "{prefix:>14} {spinner} {elapsed}, {memory}",
            (_, true) => {
                "{prefix:>14} [{bar:24}] {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}, \
                 {decimal_bytes_per_sec}, {eta} left, {memory}"
            }
            (_, false) => {
                "{prefix:>14} [{bar:24}] {percent:>3} %  {human_pos} of {human_len}, {rate}, {eta} left, \
                 {memory}"
            }
        };
        let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // Nothing is left to do if the terminal is gone.
            let _ = write!(out, "{}/s", thousands(state.per_sec() as u64));
        };
        let memory = |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "at most {} MB", thousands(peak_bytes() / 1_000_000));
        };
        let style = ProgressStyle::with_template(template)
            .expect("the template is right")
            .with_key("rate", rate)
            .with_key("memory", memory)
            .progress_chars("=> ");
        let length = (total > 0).then_some(total);
        *bar = ProgressBar::with_draw_target(length, target(self.started))
            .with_style(style)
            .with_prefix(phase);
        // Input that comes slowly and phases that count nothing are drawn too.
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    fn advance(&self, done: u64) {
        let bar = self.bar.lock().expect("nobody panics while drawing");
        // Compressed input unpacks to more than its files have.
        if bar.length().is_some_and(|length| done > length) {
            bar.set_length(done);
        }
        bar.set_position(done);
    }

    fn say(&self, sentence: &str) {
        let bar = self.bar.lock().expect("nobody panics while drawing");
        bar.suspend(|| {
            // Nothing is left to do if standard error is closed.
            let _ = writeln!(anstream::stderr(), "{}", crate::report::printable(sentence));
        });
    }
}

/// A terminal that takes nothing in the first two seconds.
#[derive(Debug)]
struct Patient {
    terminal: Term,
    began: Instant,
}

impl Patient {
    fn draw(&self, draw: impl FnOnce(&Term) -> io::Result<()>) -> io::Result<()> {
        if self.began.elapsed() < WORTH_A_BAR { Ok(()) } else { draw(&self.terminal) }
    }
}

impl TermLike for Patient {
    fn width(&self) -> u16 {
        self.terminal.size().1
    }

    fn height(&self) -> u16 {
        self.terminal.size().0
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.draw(|terminal| terminal.move_cursor_up(lines))
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.draw(|terminal| terminal.move_cursor_down(lines))
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.draw(|terminal| terminal.move_cursor_right(columns))
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.draw(|terminal| terminal.move_cursor_left(columns))
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.draw(|terminal| terminal.write_line(text))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.draw(|terminal| terminal.write_str(text))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.draw(Term::clear_line)
    }

    fn flush(&self) -> io::Result<()> {
        self.draw(Term::flush)
    }
}
