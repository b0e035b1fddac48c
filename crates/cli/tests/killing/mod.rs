//! Runs of the program that are killed at random moments.

use std::process::Stdio;
use std::time::Duration;

use crate::support::command;

/// Starts the program `kills` times and kills it each time at a moment within `whole`, the time of a
/// run that is left alone; `after` hears after each whether it had ended by itself.
pub(crate) fn kill_at_random_moments(
    arguments: &[&str],
    whole: Duration,
    kills: u32,
    mut after: impl FnMut(bool),
) {
    let mut state = 1_u64;
    for _ in 0..kills {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (state >> 33) as f64 / f64::from(1_u32 << 31);
        let mut child =
            command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * share));
        let done = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        after(done);
    }
}
