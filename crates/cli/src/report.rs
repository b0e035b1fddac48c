//! Errors as sentences on standard error, and the exit codes that go with them.
//!
//! One place, so that every command fails in the same words: `error:`, then what was being done,
//! then each cause on a line of its own.

use std::borrow::Cow;
use std::io::{self, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};

const COULD_NOT_RUN: u8 = 2;

/// A failed command. A reader that went away (`wonbon ... | head`) is no failure.
pub(crate) fn failure(error: &anyhow::Error) -> u8 {
    let reader_left = error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    });
    if reader_left {
        return 0;
    }
    if let Some(wrong) = error.downcast_ref::<clap::Error>() {
        return usage(wrong);
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
    let _ = writeln!(anstream::stderr(), "difference: {}", printable(sentence));
}

/// Something to know that is no failure.
pub(crate) fn note(sentence: &str) {
    // Nothing is left to do if standard error is closed.
    let _ = writeln!(anstream::stderr(), "note: {}", printable(sentence));
}

fn say(what: &str, error: &anyhow::Error) {
    let causes: String = error.chain().skip(1).map(|cause| format!(": {cause}")).collect();
    // Nothing is left to do if standard error is closed.
    let _ = writeln!(anstream::stderr(), "{what}: {}", printable(&format!("{error}{causes}")));
}

/// A sentence in which names of files and documents are no commands to a terminal: control characters and
/// those that turn the direction of a line are written as numbers.
pub(crate) fn printable(sentence: &str) -> Cow<'_, str> {
    let is_command = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !sentence.contains(is_command) {
        return sentence.into();
    }
    let written = |c: char| match is_command(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    sentence.chars().map(written).collect::<String>().into()
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
            let likely = suggestion(error).unwrap_or_default();
            let sentence = sentence.join(" ");
            let _ = writeln!(anstream::stderr(), "{}{likely} (see --help)", printable(&sentence));
            COULD_NOT_RUN
        }
    }
}

/// What was probably meant by a misspelt command, flag or value.
fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let likely = match kinds.iter().find_map(|kind| error.get(*kind))? {
        ContextValue::String(one) => one,
        // The most alike stands last.
        ContextValue::Strings(several) => several.last()?,
        _ => return None,
    };
    Some(format!("; did you mean `{likely}`?"))
}
