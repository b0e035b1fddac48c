//! Places where a crawl would never end: calendars, counters, paths that grow.
//!
//! A server can make pages faster than anybody can fetch them, mostly without meaning to: a calendar
//! with a link to the next month, a relative link that adds a segment each time it is followed, a
//! list that can be filtered by everything. Each check here is cheap, looks at the address alone and
//! has a limit of its own, with a default far above what sites for readers need.
//!
//! Calendars and counters are known by their *shape*: the address with every run of digits taken as
//! one. The number of addresses let in per shape and site is bounded. Shapes are counted by the
//! frequent-items method of Misra and Gries: when the table of a site is full, all counts go down by
//! one and those at zero leave, so memory is bounded and what comes often stays known. It counts too
//! little rather than too much: with a table of `t` shapes and `n` addresses of one site, at most
//! `n / (t + 1)` more than the limit get in, and never fewer.
//!
//! Cost: one pass over the address; 16 bytes per known shape, at most [`Limits::shapes`] a site.
//! Guarantee: the same calls in the same order give the same answers, so a crawl that is replayed
//! decides as it did.
//! Not here: what a page contains; `crates/store` knows copies.

use std::collections::HashMap;

use url::Url;

/// Why an address looks like one of endlessly many.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trap {
    /// Addresses that long are made by machines for machines.
    #[error("the address has {bytes} bytes, the limit is {limit}")]
    Long {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Too many segments in the path.
    #[error("the path has {segments} segments, the limit is {limit}")]
    Deep {
        /// How many.
        segments: usize,
        /// The limit.
        limit: usize,
    },
    /// Too many parameters in the query.
    #[error("the query has {parameters} parameters, the limit is {limit}")]
    Parameters {
        /// How many.
        parameters: usize,
        /// The limit.
        limit: usize,
    },
    /// `/a/b/a/b/a/b`: the mark of a relative link that leads to itself.
    #[error("the path repeats /{segments} {times} times")]
    Repeats {
        /// What is repeated.
        segments: String,
        /// How often, in a row.
        times: usize,
    },
    /// So many addresses that differ only in a date were let in already.
    #[error("{limit} addresses of this site differ from it only in a date")]
    Calendar {
        /// The limit.
        limit: u32,
    },
    /// So many addresses that differ only in numbers were let in already.
    #[error("{limit} addresses of this site differ from it only in numbers")]
    Counter {
        /// The limit.
        limit: u32,
    },
    /// The site has had its share.
    #[error("the site has reached its budget of {limit} pages")]
    SiteBudget {
        /// The limit.
        limit: u32,
    },
}

/// How much is too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an address: 2,048, what browsers and sitemaps take.
    pub bytes: usize,
    /// Segments of a path: 24; archives of the web show hardly a page below 15.
    pub segments: usize,
    /// Parameters of a query: 16; forms with more are filters, whose combinations multiply.
    pub parameters: usize,
    /// How often segments may stand in a row: 2 is fine, 3 is a trap. At least 1; `usize::MAX`
    /// allows all.
    pub repeats: usize,
    /// Addresses of a site that differ only in a date: 1,000, eighty years of months.
    pub per_calendar: u32,
    /// Addresses of a site that differ only in numbers: 100,000. Articles and products are numbered
    /// too, so this is only a last resort below the budget of the site.
    pub per_counter: u32,
    /// Shapes remembered per site: 4,096, which is 64 KiB. With fewer, more addresses of a calendar
    /// get in on sites with many other shapes.
    pub shapes: usize,
    /// Pages let in per site: no limit.
    pub pages_per_site: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 2048,
            segments: 24,
            parameters: 16,
            repeats: 2,
            per_calendar: 1000,
            per_counter: 100_000,
            shapes: 4096,
            pages_per_site: u32::MAX,
        }
    }
}

/// What is known of a site.
#[derive(Clone, Debug, Default)]
struct Site {
    pages: u32,
    /// How many addresses of a shape were let in, at least.
    shapes: HashMap<u64, u32>,
}

/// The memory of the checks.
#[derive(Clone, Debug, Default)]
pub struct Traps {
    limits: Limits,
    sites: HashMap<u32, Site>,
}

impl Traps {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Traps { limits, sites: HashMap::new() }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many addresses of a site were let in.
    #[must_use]
    pub fn pages_of(&self, site: u32) -> u32 {
        self.sites.get(&site).map_or(0, |site| site.pages)
    }

    /// Whether an address that was not known before is let in; if so, it counts from now on. An
    /// address that is refused changes nothing.
    ///
    /// # Errors
    ///
    /// Which trap it looks like.
    pub fn check(&mut self, url: &Url, site: u32) -> Result<(), Trap> {
        self.limits.check_alone(url)?;
        let limits = &self.limits;
        let shape = Shape::of(url);
        let site = self.sites.entry(site).or_default();
        if site.pages >= limits.pages_per_site {
            return Err(Trap::SiteBudget { limit: limits.pages_per_site });
        }
        if let Some(shape) = shape {
            site.count(&shape, limits)?;
        }
        site.pages = site.pages.saturating_add(1);
        Ok(())
    }
}

impl Site {
    fn count(&mut self, shape: &Shape, limits: &Limits) -> Result<(), Trap> {
        let limit = if shape.is_calendar { limits.per_calendar } else { limits.per_counter };
        if let Some(count) = self.shapes.get_mut(&shape.hash) {
            if *count >= limit {
                return Err(shape.trap(limit));
            }
            *count += 1;
            return Ok(());
        }
        if limit == 0 {
            return Err(shape.trap(limit));
        }
        if self.shapes.len() < limits.shapes {
            self.shapes.insert(shape.hash, 1);
        } else {
            self.shapes.retain(|_, count| {
                *count -= 1;
                *count > 0
            });
        }
        Ok(())
    }
}

impl Limits {
    /// The checks that need no memory.
    fn check_alone(&self, url: &Url) -> Result<(), Trap> {
        let bytes = url.as_str().len();
        if bytes > self.bytes {
            return Err(Trap::Long { bytes, limit: self.bytes });
        }
        let path = url.path();
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        if segments.len() > self.segments {
            return Err(Trap::Deep { segments: segments.len(), limit: self.segments });
        }
        let parameters = url.query().map_or(0, |query| query.split(['&', ';']).count());
        if parameters > self.parameters {
            return Err(Trap::Parameters { parameters, limit: self.parameters });
        }
        if let Some((segments, times)) = repeats(&segments, self.repeats) {
            return Err(Trap::Repeats { segments: segments.join("/"), times });
        }
        Ok(())
    }
}

/// The shortest run of segments that stands more than `allowed` times in a row, and how often.
fn repeats<'s, 'a>(segments: &'s [&'a str], allowed: usize) -> Option<(&'s [&'a str], usize)> {
    let allowed = allowed.max(1);
    let longest = segments.len() / allowed.saturating_add(1);
    for period in 1..=longest {
        // How many segments in a row are the same as the one a period before.
        let mut same = 0;
        for at in period..segments.len() {
            same = if segments[at] == segments[at - period] { same + 1 } else { 0 };
            if same / period >= allowed {
                let start = at + 1 - period;
                return Some((&segments[start..=at], same / period + 1));
            }
        }
    }
    None
}

/// An address with every run of digits taken as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    hash: u64,
    /// Whether the digits are a date and nothing else.
    is_calendar: bool,
}

impl Shape {
    /// The shape of an address; none if it has no digits.
    ///
    /// What is percent-encoded has no digits: `%EC%9B%90` is a letter.
    fn of(url: &Url) -> Option<Self> {
        let text = &url[url::Position::BeforeHost..url::Position::AfterQuery];
        let after_host = url[url::Position::BeforeHost..url::Position::BeforePath].len();
        let bytes = text.as_bytes();
        let mut hash = Fnv::default();
        hash.write(&bytes[..after_host]);
        let mut numbers = Numbers::default();
        let mut at = after_host;
        while at < bytes.len() {
            match bytes[at] {
                b'%' => {
                    let end = (at + 3).min(bytes.len());
                    hash.write(&bytes[at..end]);
                    at = end;
                }
                b'0'..=b'9' => {
                    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit());
                    let end = at + digits.count();
                    numbers.push(&text[at..end]);
                    hash.write(b"\0");
                    at = end;
                }
                byte => {
                    hash.write(&[byte]);
                    at += 1;
                }
            }
        }
        let is_calendar = numbers.are_a_date() || (numbers.could_be_dates() && names_dates(text));
        (numbers.count > 0).then_some(Shape { hash: hash.0, is_calendar })
    }

    fn trap(&self, limit: u32) -> Trap {
        if self.is_calendar { Trap::Calendar { limit } } else { Trap::Counter { limit } }
    }
}

/// What the numbers of an address could be.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    count: u32,
    /// Four digits, a year people write calendars for.
    years: u32,
    /// At most 53: a day, a month, a week.
    days: u32,
    /// `20240229` or `202402`.
    dates: u32,
}

impl Numbers {
    fn push(&mut self, digits: &str) {
        self.count += 1;
        let Ok(number) = digits.parse::<u32>() else { return };
        let is_month = |number: u32| (1..=12).contains(&number);
        let is_day = |number: u32| (1..=31).contains(&number);
        match digits.len() {
            1 | 2 if number <= 53 => self.days += 1,
            4 if (1000..=2999).contains(&number) => self.years += 1,
            6 if is_month(number % 100) && (1900..2200).contains(&(number / 100)) => {
                self.dates += 1;
            }
            8 if is_day(number % 100)
                && is_month(number / 100 % 100)
                && (1900..2200).contains(&(number / 10_000)) =>
            {
                self.dates += 1;
            }
            _ => {}
        }
    }

    /// Every number could be part of a date.
    fn could_be_dates(&self) -> bool {
        self.count > 0 && self.count == self.years + self.days + self.dates
    }

    /// Every number is part of a date, and there is one: a year and a month, or all in one number.
    fn are_a_date(&self) -> bool {
        self.could_be_dates() && (self.dates > 0 || (self.years > 0 && self.days > 0))
    }
}

/// Whether an address says that its numbers are dates.
fn names_dates(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphabetic()).any(|word| {
        ["calendar", "cal", "year", "month", "week", "day", "date", "yyyy", "mm", "dd"]
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name))
    })
}

/// FNV-1a: the same on every machine and for ever, since answers depend on it.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
