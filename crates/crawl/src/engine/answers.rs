//! What an answer means: try again, follow a redirect, count an error, or read a page.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use hyper::header::{ETAG, HeaderName, HeaderValue, LAST_MODIFIED};
use wonbon_time::Timestamp;

use crate::error::CrawlError;
use crate::fetch::unpack::unpack;
use crate::fetch::{Answer, Body, FetchError};
use crate::frontier::{Job, JobKind};
use crate::page_reader::ToRead;
use crate::politeness::Manner;
use crate::records::{Done, Outcome};
use crate::robots;
use crate::state::PageState;
use crate::writer::{EarlierBody, Exchange, ToWrite};

use super::Engine;
use super::schedule::MOST_SILENT;

impl Engine<'_> {
    /// A request ended, with an answer or without one.
    pub(super) fn handle_fetched(
        &mut self,
        host: u32,
        address: Option<IpAddr>,
        mut job: Job,
        got: Result<Box<Answer>, FetchError>,
    ) -> Result<(), CrawlError> {
        let manner = manner_of(&got);
        let is_again = manner != Manner::Answered;
        self.frontier.end(host, address, Instant::now(), manner);
        if is_again && job.tries + 1 < self.state.plan.pace.tries {
            job.tries += 1;
            if got.is_err() {
                self.use_next_address(host);
            }
            self.schedule(job, true);
            return Ok(());
        }
        match got {
            Err(why) => {
                if is_again && matches!(job.kind, JobKind::Page(_)) {
                    self.count_silence(host);
                }
                let outcome = match why {
                    FetchError::Forbidden { .. } | FetchError::NoAddress { .. } => {
                        Outcome::NoAddress
                    }
                    _ => Outcome::NoAnswer,
                };
                self.give_up(job, outcome, &why);
                Ok(())
            }
            Ok(answer) => {
                self.host(host).silent = 0;
                self.handle_answer(job, answer)
            }
        }
    }

    /// A page got no answer; after several in a row its host is given up.
    fn count_silence(&mut self, host: u32) {
        let known = self.host(host);
        known.silent += 1;
        if known.silent >= MOST_SILENT {
            // Scheduled again, they are given up.
            let waiting = self.frontier.drain(host);
            waiting.into_iter().for_each(|job| self.schedule(job, false));
        }
    }

    fn handle_answer(&mut self, job: Job, answer: Box<Answer>) -> Result<(), CrawlError> {
        let location = matches!(answer.status, 301 | 302 | 303 | 307 | 308)
            .then(|| answer.field("location").map(str::to_owned))
            .flatten();
        let is_content = answer.whole == Body::Whole && (200..300).contains(&answer.status);
        match job.kind {
            JobKind::Robots { origin, url } => {
                let target =
                    location.and_then(|to| self.state.rules.canonical(Some(&url), &to).ok());
                // A body over the limit is not kept, and so says nothing.
                let status = if answer.whole == Body::Whole { answer.status } else { 0 };
                let body = unpack_robots(&answer);
                self.archive(url.into(), answer);
                match target.filter(|_| usize::from(job.hops) < robots::MAX_REDIRECTS) {
                    Some(url) => {
                        let kind = JobKind::Robots { origin, url };
                        self.schedule(Job { kind, hops: job.hops + 1, tries: 0 }, true);
                    }
                    None => self.handle_robots(origin, status, body),
                }
            }
            JobKind::Page(page) => {
                if let Some(location) = location {
                    self.handle_redirect(page, &job, answer, &location)?;
                } else if is_content {
                    self.hand_to_readers(job, page, answer);
                } else {
                    self.handle_no_content(page, &job, answer);
                }
            }
            JobKind::Sitemap(page) if is_content => self.hand_to_readers(job, page, answer),
            JobKind::Sitemap(page) => {
                let mut done = Done::new(page, Outcome::Sitemap, answer.at);
                done.status = answer.status;
                self.finish(done);
            }
        }
        Ok(())
    }

    fn hand_to_readers(&mut self, job: Job, page: u32, answer: Box<Answer>) {
        self.in_memory += 1;
        let is_sitemap = matches!(job.kind, JobKind::Sitemap(_));
        let depth = self.state.pages[page as usize].depth;
        self.readers.read(ToRead { job, url: self.url_of(page), depth, is_sitemap, answer });
    }

    /// Archives an exchange that is no page of the crawl: robots.txt, a sitemap.
    pub(super) fn archive(&mut self, address: String, answer: Box<Answer>) {
        self.writer.send(ToWrite::Exchange(Box::new(Exchange::new(address, answer))));
        self.in_memory += 1;
    }

    fn handle_redirect(
        &mut self,
        page: u32,
        job: &Job,
        answer: Box<Answer>,
        location: &str,
    ) -> Result<(), CrawlError> {
        let mut done = done_of(page, Outcome::LostRedirect, job, &answer);
        let depth = self.state.pages[page as usize].depth;
        let base = self.url_of(page);
        let target = self.state.rules.canonical(Some(&base), location).ok();
        let target = target.filter(|_| job.hops < self.state.plan.pace.redirects);
        let as_linked = target
            .as_ref()
            .and_then(|target| self.state.rules.path_as_linked(Some(&base), location, target));
        let target =
            target.and_then(|target| self.state.admit(target.as_str(), depth, &mut done.new).ok());
        let target = target.filter(|&target| target != page);
        if let Some(target) = target {
            let is_new = !done.new.is_empty();
            self.state.note_link(target, as_linked, is_new, &mut done);
        }
        let mut exchange = Exchange::new(self.state.addresses.address(page), answer);
        self.in_memory += 1;
        let Some(target) = target else {
            self.finish_archived(done, exchange);
            return Ok(());
        };
        done.outcome = Outcome::Redirect;
        done.target = Some(target);
        done.links = vec![target];
        if let Some(sink) = &self.sink {
            let to = self.state.addresses.address(target);
            let ticket = sink.redirect(&exchange.address, &to);
            exchange.ticket = Some(ticket.map_err(|source| self.sink_error(job, source))?);
        }
        self.finish_archived(done, exchange);
        if self.state.pages[target as usize].state == PageState::Waiting {
            self.mark_taken(target);
            self.frontier.order().take(target);
            let kind = JobKind::Page(target);
            self.schedule(Job { kind, hops: job.hops + 1, tries: 0 }, true);
        }
        Ok(())
    }

    /// An answer without a page: an error, another type, too large, or unchanged.
    fn handle_no_content(&mut self, page: u32, job: &Job, answer: Box<Answer>) {
        let outcome = match (answer.status, answer.whole) {
            (304, _) if self.previous.is_some() => {
                return self.handle_not_modified(page, job, answer);
            }
            (200..=299, Body::OtherType) => Outcome::OtherType,
            (200..=299, Body::TooLarge) => Outcome::TooLarge,
            (300..=399, _) => Outcome::LostRedirect,
            _ => Outcome::ServerError,
        };
        let done = done_of(page, outcome, job, &answer);
        let exchange = Exchange::new(self.state.addresses.address(page), answer);
        self.in_memory += 1;
        self.finish_archived(done, exchange);
    }

    /// A page is unchanged since the previous sweep: it is read from that sweep's archive.
    fn handle_not_modified(&mut self, page: u32, job: &Job, mut answer: Box<Answer>) {
        let address = self.state.addresses.address(page);
        let old = self.previous.as_ref().and_then(|previous| previous.page(&address));
        let Some(old) = old else {
            self.observer.say(&format!("{address} is unchanged, but its archive is gone"));
            let done = done_of(page, Outcome::NotModified, job, &answer);
            return self.finish(done);
        };
        for (name, value) in &old.fields {
            let name = HeaderName::from_bytes(name.as_bytes());
            let value = HeaderValue::from_str(value);
            // The validators belong to the page, not to the record that holds its body.
            if let (Ok(name), Ok(value)) = (name, value)
                && name != ETAG
                && name != LAST_MODIFIED
                && !answer.fields.contains_key(&name)
            {
                answer.fields.append(name, value);
            }
        }
        for (name, value) in [("etag", &old.etag), ("last-modified", &old.last_modified)] {
            let value = value.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
            if let (Some(value), false) = (value, answer.fields.contains_key(name)) {
                answer.fields.insert(name, value);
            }
        }
        answer.body = old.body;
        answer.whole = Body::Whole;
        let (at, digest, id) = (old.at, Some(old.digest), Some(old.id));
        self.unchanged.insert(page, EarlierBody { address, at, digest, id });
        self.hand_to_readers(job.clone(), page, answer);
    }
}

/// How a host took a request, for its politeness.
fn manner_of(got: &Result<Box<Answer>, FetchError>) -> Manner {
    match got {
        Ok(answer) if matches!(answer.status, 429 | 503) => Manner::WantsRest(retry_after(answer)),
        Ok(_) => Manner::Answered,
        Err(FetchError::NotArchived | FetchError::Forbidden { .. } | FetchError::Unaskable) => {
            Manner::Answered
        }
        Err(_) => Manner::Silent,
    }
}

pub(super) fn done_of(page: u32, outcome: Outcome, job: &Job, answer: &Answer) -> Done {
    Done {
        status: answer.status,
        took: answer.took,
        bytes: answer.body.len() as u64,
        hops: job.hops,
        etag: answer.field("etag").map(str::to_owned),
        last_modified: answer.field("last-modified").map(str::to_owned),
        ..Done::new(page, outcome, answer.at)
    }
}

/// How long the server wants no further request, given as seconds or as a date.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let value = answer.field("retry-after")?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = Timestamp::from(httpdate::parse_http_date(value).ok()?);
    Some(until.since(Timestamp::now())).filter(|wait| !wait.is_zero())
}

fn unpack_robots(answer: &Answer) -> Vec<u8> {
    let most = answer.body.len().max(robots::MAX_BYTES * 4);
    let unpacked = unpack(&answer.body, &answer.content_coding(), most).ok();
    let mut body = unpacked.map(Cow::into_owned).unwrap_or_default();
    body.truncate(robots::MAX_BYTES);
    body
}
