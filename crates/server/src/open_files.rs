//! Open files: the system's limit, raised as far as it goes, and how many connections fit below it.
//!
//! At the limit the system accepts no connection: clients wait and time out, and the store cannot open its
//! files either. So the service takes fewer connections than files, and says so when it starts.

/// Files that are kept for the store, jobs and crawls.
const KEPT: u64 = 512;

/// Raises the limit of open files, and says how many of the wanted connections fit below it.
#[cfg(unix)]
pub(crate) fn connections_possible(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = wanted as u64 + KEPT;
    let Some(allowed) = current.filter(|current| *current < needed) else { return wanted };
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed));
    let allowed = match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files cannot be raised");
            allowed
        }
    };
    let possible = possible_below(allowed, wanted);
    if possible < wanted {
        tracing::warn!(
            open_files = allowed,
            connections = possible,
            "the system allows too few open files for {wanted} connections (`ulimit -n` says how many)"
        );
    }
    possible
}

#[cfg(not(unix))]
pub(crate) fn connections_possible(wanted: usize) -> usize {
    wanted
}

/// Connections that fit below a limit: some files are kept, a quarter at most.
fn possible_below(allowed: u64, wanted: usize) -> usize {
    let for_connections = allowed - KEPT.min(allowed / 4);
    usize::try_from(for_connections).unwrap_or(usize::MAX).min(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_for_the_store() {
        assert_eq!(possible_below(1024, 16_384), 768);
        assert_eq!(possible_below(20_000, 16_384), 16_384);
        assert_eq!(possible_below(64, 16_384), 48);
        assert_eq!(possible_below(1 << 20, 100), 100);
    }
}
