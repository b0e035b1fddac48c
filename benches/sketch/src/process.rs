//! What a process took, as the kernel counted it.
//!
//! Why here and not in `compare.py`: on Linux a child's peak memory starts from that of the process
//! it was forked from, and a Python interpreter is larger than what is measured. This process is
//! small, about 3 MB: smaller peaks cannot be seen.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What a process took, from its start to its end.
#[derive(serde::Serialize)]
pub(crate) struct ProcessOutcome {
    seconds: f64,
    cpu_seconds: f64,
    peak_bytes: i64,
    printed: String,
}

pub(crate) fn measure(command: &[String], discard: bool) -> anyhow::Result<ProcessOutcome> {
    let (program, arguments) = command.split_first().context("no program is named")?;
    let start = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(if discard { Stdio::null() } else { Stdio::piped() })
        .stderr(Stdio::inherit())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .with_context(|| format!("running {program}"))?;
    let seconds = start.elapsed().as_secs_f64();
    anyhow::ensure!(output.status.success(), "{program} ended with {}", output.status);
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu_microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(ProcessOutcome {
        seconds,
        cpu_seconds: cpu_microseconds as f64 / 1e6,
        peak_bytes: 1024 * usage.max_rss(),
        printed: String::from_utf8(output.stdout).context("the output is not text")?,
    })
}
