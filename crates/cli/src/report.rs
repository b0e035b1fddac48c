//! Errors as sentences on standard error, and the exit codes that go with them.
//!
//! One place, so that every command fails in the same words: `error:`, then what was being done,
//! then each cause on a line of its own.

use std::io::{self, Write};

use clap::error::ErrorKind;

const COULD_NOT_RUN: u8 = 2;

/// A failed command. A reader that went away (`wonbon ... | head`) is no failure.
pub(crate) fn failure(error: &anyhow::Error) -> u8 {
    let reader_left = error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    });
    if reader_left {
        return 0;
    }
    say("error", error);
    COULD_NOT_RUN
}

/// Part of the input that is refused while the rest goes on.
pub(crate) fn refused(error: &anyhow::Error) {
    say("refused", error);
}

/// Something that differs from what it should be.
pub(crate) fn difference(sentence: &str) {
    // Nothing is left to do if standard error is closed.
    let _ = writeln!(anstream::stderr(), "difference: {sentence}");
}

/// Something to know that is no failure.
pub(crate) fn note(sentence: &str) {
    // Nothing is left to do if standard error is closed.
    let _ = writeln!(anstream::stderr(), "note: {sentence}");
}

fn say(what: &str, error: &anyhow::Error) {
    let causes: String = error.chain().skip(1).map(|cause| format!(": {cause}")).collect();
    // Nothing is left to do if standard error is closed.
    let _ = writeln!(anstream::stderr(), "{what}: {error}{causes}");
}

/// Flags that do not parse, or a wish for help: clap's text, shortened to its sentence for errors.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(COULD_NOT_RUN)
        }
        _ => {
            let text = error.render().to_string();
            let sentence: Vec<&str> =
                text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
            let _ = writeln!(anstream::stderr(), "{} (see --help)", sentence.join(" "));
            COULD_NOT_RUN
        }
    }
}
