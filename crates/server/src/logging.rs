//! The log of the service: events with their facts, as lines for people or as JSON for programs.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// How the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Writes what happens from now on to standard error, as far as the filter lets it: a level, or levels
/// by part. A second call changes nothing.
///
/// # Errors
///
/// When the filter is none.
pub fn start_logging(format: LogFormat, filter: &str) -> Result<(), ParseError> {
    let filter = filter.parse::<EnvFilter>()?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Somebody else's log that was started first goes on.
    let _ = match format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    Ok(())
}
