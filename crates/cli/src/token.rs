//! `wonbon token`: who may use the service.

use std::path::PathBuf;
use std::time::Duration;

use wonbon_app::tokens::{Scope, TokenError, Tokens};
use wonbon_time::Timestamp;

use crate::output::Output;
use crate::store::date;
use crate::{Outcome, report};

/// Make, list and revoke the tokens by which `wonbon serve` lets requests in.
///
/// Only hashes of tokens are stored: revoke a lost token and create another. A running service reads
/// changes of the file within a second.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file of tokens.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "WONBON_TOKENS",
        default_value = "wonbon-tokens"
    )]
    tokens: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Create a token and print it. It is not shown again.
    Create {
        /// For what or whom it is.
        #[arg(value_name = "NAME")]
        name: String,
        /// What it allows: read (asking), add (storing, deleting and watching too), admin (everything).
        #[arg(long, value_name = "SCOPE", default_value = "read")]
        scope: Scope,
        /// When it ends: a date, or a time from now as in 30d or 12h; never if not said.
        #[arg(long, value_name = "WHEN", value_parser = end)]
        expires: Option<Timestamp>,
    },
    /// List tokens, without their secrets.
    List {
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Revoke tokens. Exit code 1 if there is no such token.
    Revoke {
        /// Their ids, as `wonbon token list` shows them.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

/// A date, or a time from now.
fn end(text: &str) -> Result<Timestamp, String> {
    let from_now = |suffix: char, seconds: u64| {
        let number: u64 = text.strip_suffix(suffix)?.parse().ok()?;
        Some(Timestamp::now() + Duration::from_secs(number.checked_mul(seconds)?))
    };
    let when = from_now('d', 86_400).or_else(|| from_now('h', 3600)).map_or_else(|| date(text), Ok);
    let when = when.map_err(|_| "write a date such as 2027-01-31, or 30d or 12h".to_owned())?;
    if when <= Timestamp::now() {
        return Err("it would have ended already".to_owned());
    }
    Ok(when)
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut output = Output::new();
    let mut outcome = Outcome::Done;
    match &args.command {
        Command::Create { name, scope, expires } => {
            let secret =
                Tokens::change(&args.tokens, |tokens| tokens.create(name, &[*scope], *expires))?;
            output.bytes(format!("{secret}\n").as_bytes())?;
        }
        Command::List { json } => {
            for token in &Tokens::read(&args.tokens)?.tokens {
                let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
                let is_expired = token.is_expired(Timestamp::now());
                if *json {
                    output.json_line(&serde_json::json!({
                        "id": token.id,
                        "name": token.name,
                        "scopes": scopes,
                        "created": token.created,
                        "expires": token.expires,
                        "expired": is_expired,
                    }))?;
                    continue;
                }
                let ends = match (&token.expires, is_expired) {
                    (Some(expires), true) => format!("expired {expires}"),
                    (Some(expires), false) => format!("until {expires}"),
                    (None, _) => "for ever".to_owned(),
                };
                let line =
                    format!("{}  {:<6} {ends}  {}\n", token.id, scopes.join(","), token.name);
                output.bytes(line.as_bytes())?;
            }
        }
        Command::Revoke { ids } => {
            let unknown: Vec<&String> = Tokens::change(&args.tokens, |tokens| {
                Ok(ids.iter().filter(|id| !tokens.revoke(id)).collect())
            })?;
            for id in unknown {
                let unknown = TokenError::Unknown { path: args.tokens.clone(), id: id.clone() };
                report::refused(&unknown.into());
                outcome = Outcome::Refused;
            }
        }
    }
    output.finish()?;
    Ok(outcome)
}
