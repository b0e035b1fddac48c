//! One address for one page: the canonical form of links.
//!
//! The same page is linked as `HTTP://Example.org:80/a/../b?utm_source=x#top` and as
//! `http://example.org/b`. A crawler that does not see that they are one fetches twice. The WHATWG
//! parser does most of it (case of scheme and host, punycode, default ports, dots in paths,
//! backslashes, odd forms of IPv4); on top come rules that leave the page the same in practice:
//! fragments and credentials go, parameters that only track or hold a session go, percent-encoding is
//! written in one way where that is safe.
//!
//! What is kept: the order of the parameters that stay (servers may care), empty values, a final
//! slash, the case of paths. A rule that guesses wrong loses pages; a duplicate costs one request.
//!
//! Cost: one parse and, when nothing has to change, no second one. Guarantee: the canonical form of
//! a canonical form is itself.
//! Not here: what a page says of itself by `rel=canonical`; whether an address may be asked
//! ([`scope`](crate::scope), [`guard`](crate::guard), [`traps`](crate::traps)).

use std::borrow::Cow;

use url::Url;

use crate::scope::path_and_query;

/// Why a reference is not an address to crawl.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAnAddress {
    /// The reference is not a URL, even with its base.
    #[error("not a URL")]
    NotAUrl(#[from] url::ParseError),
    /// `mailto:`, `javascript:`, `data:`, `ftp:` and the like.
    #[error("the scheme {scheme} is neither http nor https")]
    OtherScheme {
        /// The scheme.
        scheme: String,
    },
    /// The host is empty or made of dots.
    #[error("there is no host")]
    NoHost,
}

/// A rule about names: the name itself, or everything that begins with it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NameRule {
    Exact(String),
    Prefix(String),
}

impl NameRule {
    /// Names compare without case; a `*` at the end stands for anything.
    fn new(rule: &str) -> Self {
        match rule.strip_suffix('*') {
            Some(prefix) => NameRule::Prefix(prefix.to_ascii_lowercase()),
            None => NameRule::Exact(rule.to_ascii_lowercase()),
        }
    }

    fn holds(&self, name: &str) -> bool {
        let same = |start: &[u8], rule: &str| start.eq_ignore_ascii_case(rule.as_bytes());
        let name = name.as_bytes();
        match self {
            NameRule::Exact(rule) => same(name, rule),
            NameRule::Prefix(rule) => name.get(..rule.len()).is_some_and(|start| same(start, rule)),
        }
    }
}

/// Query parameters that say how a reader came, not what is shown.
pub const TRACKING: [&str; 30] = [
    "utm_*",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "ysclid",
    "twclid",
    "ttclid",
    "igshid",
    "igsh",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "__hssc",
    "__hstc",
    "__hsfp",
    "hsctatracking",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "wickedid",
];

/// Query and path parameters that carry a session.
pub const SESSIONS: [&str; 8] =
    ["jsessionid", "phpsessid", "aspsessionid*", "cfid", "cftoken", "osCsid", "zenid", "sessionid"];

/// Which differences between addresses do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    tracking: Vec<NameRule>,
    sessions: Vec<NameRule>,
}

impl Default for Rules {
    /// [`TRACKING`] and [`SESSIONS`].
    fn default() -> Self {
        Rules::new(TRACKING, SESSIONS)
    }
}

impl Rules {
    /// Rules with these names of tracking parameters (dropped from queries) and of session
    /// parameters (dropped from queries and from paths, where they stand behind `;`). Names compare
    /// without case; one that ends in `*` stands for all that begin so.
    #[must_use]
    pub fn new<'a>(
        tracking: impl IntoIterator<Item = &'a str>,
        sessions: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Rules {
            tracking: tracking.into_iter().map(NameRule::new).collect(),
            sessions: sessions.into_iter().map(NameRule::new).collect(),
        }
    }

    /// Rules that drop no parameter.
    #[must_use]
    pub fn keep_parameters() -> Self {
        Rules::new([], [])
    }

    /// The canonical form of a reference as it stands on the page `base`.
    ///
    /// ```
    /// use wonbon_crawl::canonical::Rules;
    /// let rules = Rules::default();
    /// let url = rules.canonical(None, "HTTP://me:pw@Example.ORG:80/a/../%7Eb?utm_source=x&q=1#top")?;
    /// assert_eq!(url.as_str(), "http://example.org/~b?q=1");
    /// # Ok::<(), wonbon_crawl::canonical::NotAnAddress>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When it is no URL, or not one of `http` or `https` with a host.
    pub fn canonical(&self, base: Option<&Url>, reference: &str) -> Result<Url, NotAnAddress> {
        let mut url = Url::options().base_url(base).parse(reference)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NotAnAddress::OtherScheme { scheme: url.scheme().to_owned() });
        }
        url.set_fragment(None);
        if !url.username().is_empty() || url.password().is_some() {
            url.set_username("").and_then(|()| url.set_password(None)).expect("http has a host");
        }
        drop_final_dots(&mut url)?;
        // A session that is dropped can leave a segment of dots, which is a step: the parser sees to
        // it, and the path is looked at again. Every round but the last makes the path shorter.
        while let Some(path) = self.canonical_path(url.path()) {
            url.set_path(&path);
        }
        if let Some(query) = url.query() {
            match self.canonical_query(query) {
                None => url.set_query(None),
                Some(Cow::Borrowed(_)) => {}
                Some(Cow::Owned(query)) => url.set_query(Some(&query)),
            }
        }
        Ok(url)
    }

    /// Path and query of a reference as it stands on the page `base`, if its canonical form has lost
    /// parameters. robots.txt is asked about these.
    pub(crate) fn path_as_linked(
        &self,
        base: Option<&Url>,
        reference: &str,
        canonical: &Url,
    ) -> Option<String> {
        // Parameters stand behind one of these.
        if !reference.contains(['?', ';']) {
            return None;
        }
        let linked = Rules::keep_parameters().canonical(base, reference).ok()?;
        (linked != *canonical).then(|| path_and_query(&linked).to_owned())
    }

    /// The path without session parameters, percent-encoding normalised; none if it is so already.
    fn canonical_path(&self, path: &str) -> Option<String> {
        let encoded = normal_percent(path);
        if !path.contains(';') {
            return match encoded {
                Cow::Owned(path) => Some(path),
                Cow::Borrowed(_) => None,
            };
        }
        let mut kept = String::with_capacity(path.len());
        for (number, segment) in encoded.split('/').enumerate() {
            if number > 0 {
                kept.push('/');
            }
            for (number, parameter) in segment.split(';').enumerate() {
                if number == 0 {
                    kept.push_str(parameter);
                } else if !self.is_session(name_of(parameter)) {
                    kept.push(';');
                    kept.push_str(parameter);
                }
            }
        }
        (kept != path).then_some(kept)
    }

    /// The query without the parameters that do not count; none if nothing is left.
    fn canonical_query<'q>(&self, query: &'q str) -> Option<Cow<'q, str>> {
        let dropped = |parameter: &str| {
            let name = name_of(parameter);
            parameter.is_empty()
                || self.tracking.iter().any(|rule| rule.holds(name))
                || self.is_session(name)
        };
        let encoded = normal_percent(query);
        if !encoded.split('&').any(dropped) {
            return Some(encoded);
        }
        let kept: Vec<&str> = encoded.split('&').filter(|parameter| !dropped(parameter)).collect();
        if kept.is_empty() { None } else { Some(Cow::Owned(kept.join("&"))) }
    }

    fn is_session(&self, name: &str) -> bool {
        self.sessions.iter().any(|rule| rule.holds(name))
    }
}

/// `example.org.` is the same host as `example.org`.
fn drop_final_dots(url: &mut Url) -> Result<(), NotAnAddress> {
    let Some(host) = url.host_str() else { return Err(NotAnAddress::NoHost) };
    let short = host.trim_end_matches('.');
    if short.is_empty() {
        return Err(NotAnAddress::NoHost);
    }
    if short.len() < host.len() {
        let short = short.to_owned();
        url.set_host(Some(&short))?;
    }
    Ok(())
}

/// What stands before the `=`.
fn name_of(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}

/// Percent-encoding in one way: letters, digits, `-`, `_` and `~` are written plain, the hexadecimal
/// digits of the rest are upper case. A text with a `%` that encodes nothing stays as it is: a
/// plain letter behind it could make it encode something.
///
/// A dot is not made plain, though RFC 3986 calls it unreserved: `%2e%2e` would become a step up.
/// (The parser takes a segment that is nothing but such dots for one anyway.)
fn normal_percent(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    kept.push_str(first);
    for part in parts {
        let Some(byte) = hexadecimal_byte(part.as_bytes()) else { return Cow::Borrowed(text) };
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            kept.push(char::from(byte));
        } else {
            kept.push('%');
            kept.push_str(&part[..2].to_ascii_uppercase());
        }
        kept.push_str(&part[2..]);
    }
    if kept == text { Cow::Borrowed(text) } else { Cow::Owned(kept) }
}

/// The byte that two hexadecimal digits at the beginning stand for.
pub(crate) fn hexadecimal_byte(bytes: &[u8]) -> Option<u8> {
    let &[high, low, ..] = bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}
