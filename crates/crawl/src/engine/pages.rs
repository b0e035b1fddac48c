//! What the reading threads found: links to admit, bodies seen before, further sitemaps.

use crate::frontier::{Job, JobKind};
use crate::page_reader::{FoundLink, ReadFailure, ReadPage};
use crate::records::{Done, Outcome, Record};
use crate::state::NotAdmitted;
use crate::writer::{EarlierBody, Exchange, ToWrite};

use super::Engine;
use super::answers::done_of;

/// Sitemaps that are read of one origin.
const MOST_SITEMAPS: u32 = 100;

impl Engine<'_> {
    pub(super) fn handle_read(&mut self, job: &Job, page: ReadPage) {
        match job.kind {
            JobKind::Page(number) => self.finish_page(number, job, page),
            JobKind::Sitemap(number) => {
                self.in_memory -= 1;
                self.finish_sitemap(number, page);
            }
            JobKind::Robots { .. } => {}
        }
    }

    fn admit_link(&mut self, link: FoundLink, depth: u16, done: &mut Done) {
        let known = done.new.len();
        match self.state.admit(&link.address, depth, &mut done.new) {
            // The readers leave no link twice, but a page may link to itself.
            Ok(target) if target == done.page => {}
            Ok(target) => {
                done.links.push(target);
                let is_new = done.new.len() > known;
                self.state.note_link(target, link.as_linked, is_new, done);
            }
            Err(NotAdmitted::OutOfScope) => self.state.stats.out_of_scope += 1,
            Err(NotAdmitted::Trap) => self.state.stats.traps += 1,
        }
    }

    fn finish_page(&mut self, number: u32, job: &Job, page: ReadPage) {
        let ReadPage { answer, digest, failed, links, canonical, row, ticket, charset, .. } = page;
        let outcome = match failed {
            None => Outcome::Kept,
            Some(ReadFailure::TooLarge) => Outcome::TooLarge,
            Some(ReadFailure::Broken) => Outcome::NoAnswer,
            Some(ReadFailure::NoText) => Outcome::OtherType,
        };
        let mut done = done_of(number, outcome, job, &answer);
        let mut exchange = Exchange::new(self.state.addresses.address(number), answer);
        exchange.charset = charset;
        if outcome == Outcome::Kept {
            done.digest = Some(digest);
            self.state.stats.out_of_scope += page.out_of_scope;
            let depth = self.state.pages[number as usize].depth.saturating_add(1);
            for link in links {
                self.admit_link(link, depth, &mut done);
            }
            if let Some(canonical) = canonical
                && let Ok(target) = self.state.admit(&canonical, depth, &mut done.new)
            {
                self.state.note_link(target, None, false, &mut done);
                done.target = Some(target);
                if target != number && !done.links.contains(&target) {
                    done.links.push(target);
                }
            }
            let same = self.state.find_same_body(&digest).filter(|_| done.bytes > 0);
            if let Some(earlier) = self.unchanged.remove(&number) {
                done.outcome = Outcome::NotModified;
                done.bytes = 0;
                exchange.earlier = Some(earlier);
            } else if let Some((first, at)) = same {
                done.outcome = Outcome::SameBody;
                let address = self.state.addresses.address(first);
                exchange.earlier =
                    Some(EarlierBody { address, at, digest: Some(digest), id: None });
            }
            exchange.row = row;
            exchange.ticket = ticket;
        }
        self.finish_archived(done, exchange);
    }

    fn finish_sitemap(&mut self, number: u32, page: ReadPage) {
        let mut done = Done::new(number, Outcome::Sitemap, page.answer.at);
        done.status = page.answer.status;
        let origin = self.state.addresses.origin(number);
        self.archive(self.state.addresses.address(number), page.answer);
        self.state.stats.out_of_scope += page.out_of_scope;
        for link in page.links {
            self.admit_link(link, 1, &mut done);
        }
        self.finish(done);
        self.add_sitemaps(origin, &page.sitemaps);
    }

    /// Schedules sitemaps that an origin names, in its robots.txt or in another sitemap.
    pub(super) fn add_sitemaps(&mut self, origin: u32, addresses: &[String]) {
        for address in addresses {
            let known = self.origins.entry(origin).or_default();
            if known.sitemaps >= MOST_SITEMAPS {
                return;
            }
            known.sitemaps += 1;
            let Ok(url) = self.state.rules.canonical(None, address) else { continue };
            if self.state.scope.check(&url, 0).is_err() {
                continue;
            }
            if let Some(page) = self.state.add_sitemap(url.as_str()) {
                self.writer.send(ToWrite::Record(Record::Known(url.into())));
                self.schedule(Job::new(JobKind::Sitemap(page)), false);
            }
        }
    }
}
