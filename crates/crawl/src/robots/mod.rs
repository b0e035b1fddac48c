//! What robots.txt allows: RFC 9309, and what pages say of their links.
//!
//! [`Robots::parse`] reads the rules for one product token; [`Robots::decide`] answers for a path:
//! the longest matching rule wins, allow wins a tie, no rule means allowed. [`Answer::of_status`]
//! says what an answer without rules means. [`fetch`] asks a server for its file. [`Directives`] reads
//! `<meta name=robots>` and `X-Robots-Tag`.
//!
//! Lines that are no rules (`Crawl-delay`, `Sitemap`, unknown keys) neither begin nor end a group
//! (sections 2.2.1 and 2.2.4).
//!
//! Why our own: the matcher is needed for scopes too, and with it the rest is two hundred lines.
//!
//! Cost: at most 500 KiB are read; a path is compared with every rule of its group, without
//! going back.
//! Not here: caching.

use std::time::Duration;

mod directives;
mod fetch;

pub use directives::Directives;
pub use fetch::fetch;

use crate::pattern::{Pattern, comparable};

/// How much of a file is read: the least that RFC 9309 wants read.
pub const MAX_BYTES: usize = 500 * 1024;

/// The longest delay that is believed: more is a way to say "do not come", which rules say better.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(300);

/// How many redirects are followed to a robots.txt.
pub const MAX_REDIRECTS: usize = 5;

/// How long an answer may be used without asking again.
pub const FRESH_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the last good answer is used while the server fails; afterwards a file that cannot be
/// reached counts as one that is not there.
pub const STALE_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The longest list of sitemaps that is kept.
pub const MAX_SITEMAPS: usize = 1000;

/// A rule of the group that holds for us.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    allow: bool,
    /// Where it is in the file, counted from one.
    line: u32,
}

/// Whether a path may be fetched, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may.
    pub allowed: bool,
    /// The line of the rule that says so, counted from one; none if no rule matches.
    pub line: Option<u32>,
}

/// The rules of a site for one product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Robots {
    /// Longest pattern first, and among equals allow first: the first that matches decides.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
    /// Not even a path without a rule.
    nothing: bool,
}

impl Robots {
    /// Everything is allowed.
    #[must_use]
    pub fn everything() -> Self {
        Robots::default()
    }

    /// Nothing is allowed.
    #[must_use]
    pub fn nothing() -> Self {
        Robots { nothing: true, ..Robots::default() }
    }

    /// The rules in a robots.txt for a product token, say `wonbon`; the token is what stands before
    /// a `/` in the agent string. Whatever the bytes, there are rules: what cannot be read is
    /// skipped.
    ///
    /// ```
    /// use wonbon_crawl::robots::Robots;
    /// let file = b"User-agent: *\nDisallow: /private\nAllow: /private/open*.html$\n";
    /// let robots = Robots::parse(file, "wonbon");
    /// assert!(robots.allows("/private/open-day.html"));
    /// assert!(!robots.allows("/private/open-day.html?print"));
    /// ```
    #[must_use]
    pub fn parse(bytes: &[u8], product: &str) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
        let product = product_token(product.as_bytes());
        let mut named = Group::default();
        let mut star = Group::default();
        let mut is_named = false;
        let mut sitemaps = Vec::new();
        // Which groups the lines now read belong to, whether agents are still being named, and the
        // delay that was given meanwhile: it holds for the agents named after it too.
        let (mut in_named, mut in_star, mut naming) = (false, false, false);
        let mut delay = None;
        for (number, line) in lines(bytes) {
            let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let key = line[..colon].trim_ascii();
            let value = line[colon + 1..].trim_ascii();
            let is = |known: &[u8]| key.eq_ignore_ascii_case(known);
            if is(b"user-agent") {
                if !naming {
                    (in_named, in_star, naming) = (false, false, true);
                    delay = None;
                }
                if value.starts_with(b"*") {
                    in_star = true;
                } else {
                    let token = product_token(value);
                    in_named |= !token.is_empty() && token.eq_ignore_ascii_case(product);
                }
                is_named |= in_named;
            } else if is(b"sitemap") {
                if let Ok(value) = std::str::from_utf8(value)
                    && !value.is_empty()
                    && sitemaps.len() < MAX_SITEMAPS
                {
                    sitemaps.push(value.to_owned());
                }
            } else if is(b"crawl-delay") {
                delay = parse_delay(value).max(delay);
            } else if is(b"allow") || is(b"disallow") {
                naming = false;
                for (group, inside) in [(&mut named, in_named), (&mut star, in_star)] {
                    if inside {
                        group.push_rule(is(b"allow"), value, number);
                    }
                }
            }
            for (group, inside) in [(&mut named, in_named), (&mut star, in_star)] {
                if inside {
                    group.crawl_delay = group.crawl_delay.max(delay);
                }
            }
        }
        let group = if is_named { named } else { star };
        let mut rules = group.rules;
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.length()), !rule.allow));
        Robots { rules, crawl_delay: group.crawl_delay, sitemaps, nothing: false }
    }

    /// Whether a path with its query may be fetched.
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.decide(path_and_query).allowed
    }

    /// Whether a path with its query may be fetched, and which line says so.
    #[must_use]
    pub fn decide(&self, path_and_query: &str) -> Decision {
        if path_and_query == "/robots.txt" {
            return Decision { allowed: true, line: None };
        }
        let path = comparable(path_and_query.as_bytes());
        match self.rules.iter().find(|rule| rule.pattern.matches_comparable(&path)) {
            Some(rule) => Decision { allowed: rule.allow, line: Some(rule.line) },
            None => Decision { allowed: !self.nothing, line: None },
        }
    }

    /// How long to wait between two requests, at most [`MAX_CRAWL_DELAY`].
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps it names, as written.
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

/// The lines of a file with their numbers; a line ends with CR, LF or both.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut number = 1;
    let mut after_return = false;
    bytes.split_inclusive(|&byte| byte == b'\n' || byte == b'\r').filter_map(move |line| {
        let is_rest_of_end = after_return && line == b"\n";
        after_return = line.ends_with(b"\r");
        if is_rest_of_end {
            return None;
        }
        number += 1;
        Some((number - 1, line))
    })
}

/// All groups that name the same agent, as one.
#[derive(Default)]
struct Group {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl Group {
    fn push_rule(&mut self, allow: bool, value: &[u8], line: u32) {
        // An empty pattern matches nothing: "Disallow:" allows all. Others begin at the root or with
        // a star, or they match no path.
        if value.starts_with(b"/") || value.starts_with(b"*") {
            self.rules.push(Rule { pattern: Pattern::from_bytes(value), allow, line });
        }
    }
}

/// A number of seconds, at most [`MAX_CRAWL_DELAY`].
fn parse_delay(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    let seconds = Some(seconds).filter(|seconds| *seconds >= 0.0)?;
    Some(Duration::from_secs_f64(seconds.min(MAX_CRAWL_DELAY.as_secs_f64())))
}

/// The product token at the beginning of an agent string: letters, `_` and `-`; digits too, since
/// agents have them.
pub(crate) fn product_token(agent: &[u8]) -> &[u8] {
    let end = agent
        .iter()
        .position(|&byte| !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'))
        .unwrap_or(agent.len());
    &agent[..end]
}

/// What the answer to the request for robots.txt means (RFC 9309, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 2xx: its body holds the rules.
    Rules,
    /// 3xx: follow it, over at most [`MAX_REDIRECTS`]; after that it counts as unavailable.
    Redirect,
    /// 4xx: there is none, everything is allowed.
    Unavailable,
    /// 5xx, no answer, or no HTTP: nothing is allowed, unless an answer not older than
    /// [`STALE_FOR`] is at hand.
    Unreachable,
}

impl Answer {
    /// What a status means. 429 asks to come later, which is not "there are no rules": it counts as
    /// unreachable, as a 503 does. A network that fails is [`Answer::Unreachable`] too.
    #[must_use]
    pub fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Answer::Rules,
            300..=399 => Answer::Redirect,
            429 => Answer::Unreachable,
            400..=499 => Answer::Unavailable,
            _ => Answer::Unreachable,
        }
    }
}

/// What holds while robots.txt cannot be reached: the last good answer while it is at most
/// [`STALE_FOR`] old, and then, as without one at first, nothing; a file that could not be reached
/// for longer than that counts as not there.
#[must_use]
pub fn while_unreachable(last_good: Option<(&Robots, Duration)>, failing_for: Duration) -> Robots {
    match last_good {
        Some((robots, age)) if age <= STALE_FOR => robots.clone(),
        _ if failing_for > STALE_FOR => Robots::everything(),
        _ => Robots::nothing(),
    }
}
