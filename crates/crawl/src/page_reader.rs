//! Pages read on threads of their own: unpacked, digested, core text and links taken out.
//!
//! The thread that talks to the network must not stand still for the milliseconds a page takes. What
//! needs no memory of the crawl happens here too: links are made canonical, those out of the scope
//! counted and dropped, the row of text written, the page handed to the sink.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde::Serialize;
use url::Url;
use wonbon_documents::{is_binary, is_document_type};
use wonbon_text::decode::decode;
use wonbon_text::extract::core_text;
use wonbon_warc::Digest;

use crate::canonical::Rules;
use crate::fetch::Answer;
use crate::fetch::unpack::{Unpacked, unpack};
use crate::graph::SiteRule;
use crate::robots::Directives;
use crate::scope::Scope;
use crate::sink::{PageSink, SinkError, SinkPage, Ticket};
use crate::sitemap::{self, Limits};

/// What the threads know.
pub(crate) struct ReadingRules {
    pub(crate) rules: Rules,
    pub(crate) scope: Scope,
    pub(crate) site: SiteRule,
    pub(crate) product: String,
    pub(crate) unpacked_bytes: usize,
    pub(crate) sink: Option<Arc<dyn PageSink>>,
}

/// Something to read.
pub(crate) struct ToRead<J> {
    /// What it is read for; comes back as it is.
    pub(crate) job: J,
    pub(crate) url: Url,
    pub(crate) depth: u16,
    pub(crate) is_sitemap: bool,
    pub(crate) answer: Box<Answer>,
}

/// A link of a page.
pub(crate) struct FoundLink {
    /// Its target in canonical form.
    pub(crate) address: String,
    /// Path and query as they are in the link, if parameters were dropped in every link of the page
    /// to this target.
    pub(crate) as_linked: Option<String>,
}

/// Collects the links of a page.
#[derive(Default)]
struct FoundLinks {
    links: Vec<FoundLink>,
    /// Where a target is among the links; none if it is out of the scope.
    places: HashMap<String, Option<usize>>,
    out_of_scope: u64,
}

impl FoundLinks {
    fn push(&mut self, target: Url, as_linked: Option<String>, is_in_scope: bool) {
        match self.places.get(target.as_str()) {
            Some(&Some(place)) if as_linked.is_none() => self.links[place].as_linked = None,
            Some(_) => {}
            None => {
                let place = is_in_scope.then_some(self.links.len());
                self.places.insert(target.as_str().to_owned(), place);
                if is_in_scope {
                    self.links.push(FoundLink { address: target.into(), as_linked });
                } else {
                    self.out_of_scope += 1;
                }
            }
        }
    }
}

/// What was read.
pub(crate) struct ReadPage {
    pub(crate) answer: Box<Answer>,
    pub(crate) digest: [u8; 20],
    /// Why there is nothing more, if there is not.
    pub(crate) failed: Option<ReadFailure>,
    /// Links in the order of the page, none twice, those out of the scope left out.
    pub(crate) links: Vec<FoundLink>,
    pub(crate) out_of_scope: u64,
    /// The address the page says it should be known by, if it is another one.
    pub(crate) canonical: Option<String>,
    /// Further sitemaps that a sitemap names.
    pub(crate) sitemaps: Vec<String>,
    pub(crate) charset: &'static str,
    /// A line of JSON.
    pub(crate) row: Vec<u8>,
    pub(crate) ticket: Option<Ticket>,
}

/// Why a page was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadFailure {
    TooLarge,
    Broken,
    /// It is binary, whatever its type says.
    NoText,
}

/// A row of the file of texts.
#[derive(Serialize)]
struct TextRow<'a> {
    url: &'a str,
    site: &'a str,
    title: Option<&'a str>,
    language: Option<&'a str>,
    published: Option<&'a str>,
    fetched: i64,
    text: &'a str,
}

/// The threads.
pub(crate) struct ReaderPool<J> {
    queue: Option<Sender<ToRead<J>>>,
    threads: Vec<JoinHandle<()>>,
}

impl<J: Send + 'static> ReaderPool<J> {
    /// Starts threads that hand what they read to `out`.
    pub(crate) fn start(
        threads: usize,
        rules: Arc<ReadingRules>,
        out: impl Fn(J, Result<ReadPage, SinkError>) + Clone + Send + 'static,
    ) -> Self {
        let (queue, jobs) = channel::<ToRead<J>>();
        let jobs = Arc::new(Mutex::new(jobs));
        let threads = (0..threads.max(1))
            .map(|_| {
                let (jobs, rules, out) = (jobs.clone(), rules.clone(), out.clone());
                std::thread::spawn(move || work(&jobs, &rules, out))
            })
            .collect();
        ReaderPool { queue: Some(queue), threads }
    }

    pub(crate) fn read(&self, job: ToRead<J>) {
        if let Some(queue) = &self.queue {
            // Without threads the crawl has ended, and nothing is to be read.
            let _ = queue.send(job);
        }
    }

    /// Waits for the threads.
    pub(crate) fn finish(mut self) -> bool {
        self.queue = None;
        self.threads.drain(..).all(|thread| thread.join().is_ok())
    }
}

fn work<J>(
    jobs: &Mutex<Receiver<ToRead<J>>>,
    rules: &ReadingRules,
    out: impl Fn(J, Result<ReadPage, SinkError>),
) {
    loop {
        let next = jobs.lock().expect("nobody panics while taking").recv();
        let Ok(ToRead { job, url, depth, is_sitemap, answer }) = next else { return };
        let page = if is_sitemap {
            Ok(rules.read_sitemap(answer))
        } else {
            rules.read_page(&url, depth, answer)
        };
        out(job, page);
    }
}

impl ReadPage {
    fn empty(answer: Box<Answer>, failed: Option<ReadFailure>) -> Self {
        let digest = *Digest::of(&answer.body).as_bytes();
        ReadPage {
            answer,
            digest,
            failed,
            links: Vec::new(),
            out_of_scope: 0,
            canonical: None,
            sitemaps: Vec::new(),
            charset: "",
            row: Vec::new(),
            ticket: None,
        }
    }
}

impl ReadingRules {
    fn read_page(&self, url: &Url, depth: u16, answer: Box<Answer>) -> Result<ReadPage, SinkError> {
        let unpacked = unpack(&answer.body, &answer.content_coding(), self.unpacked_bytes);
        let bytes = match unpacked {
            Ok(bytes) => bytes.into_owned(),
            Err(Unpacked::TooLarge) => {
                return Ok(ReadPage::empty(answer, Some(ReadFailure::TooLarge)));
            }
            Err(Unpacked::Broken) => {
                return Ok(ReadPage::empty(answer, Some(ReadFailure::Broken)));
            }
        };
        if is_binary(&bytes) {
            return Ok(ReadPage::empty(answer, Some(ReadFailure::NoText)));
        }
        // A feed has links, and is no document: as when the archive of the crawl is read.
        let is_document = is_document_type(answer.content_type());
        let core = core_text(&bytes, answer.content_type(), Some(url.as_str()));
        let mut page = ReadPage::empty(answer, None);
        page.charset = core.charset;
        let directives = self.directives(&page.answer, &bytes, core.charset);
        let mut found = FoundLinks::default();
        for link in core.page.links.iter().filter(|_| !directives.nofollow) {
            let Ok(target) = self.rules.canonical(None, &link.url) else { continue };
            if target == *url {
                continue;
            }
            let as_linked = self.rules.path_as_linked(None, &link.url, &target);
            let is_in_scope = self.scope.check(&target, u32::from(depth) + 1).is_ok();
            found.push(target, as_linked, is_in_scope);
        }
        (page.links, page.out_of_scope) = (found.links, found.out_of_scope);
        let canonical = core.page.canonical.as_deref();
        let canonical = canonical.and_then(|text| self.rules.canonical(Some(url), text).ok());
        page.canonical = canonical.filter(|target| target != url).map(String::from);
        let host = url.host_str().unwrap_or_default();
        let site = self.site.site(host);
        let (title, language) = (core.page.title.as_deref(), core.page.language.as_deref());
        let published = core.page.published.as_deref();
        let row = TextRow {
            url: url.as_str(),
            site,
            title,
            language,
            published,
            fetched: page.answer.at.as_microseconds() / 1_000_000,
            text: &core.page.text,
        };
        if is_document && !directives.noindex {
            page.row = serde_json::to_vec(&row).expect("texts and numbers can be written as JSON");
            page.row.push(b'\n');
            if let Some(sink) = &self.sink {
                page.ticket = Some(sink.page(&SinkPage {
                    address: url.as_str(),
                    fetched: page.answer.at,
                    bytes: &bytes,
                    text: &core.page.text,
                    title,
                    language,
                    published,
                })?);
            }
        }
        Ok(page)
    }

    /// What a page asks of robots, in its headers or in its head.
    fn directives(&self, answer: &Answer, bytes: &[u8], charset: &str) -> Directives {
        // Tags are ASCII, and in all other charsets of the web ASCII stands as it is.
        let html = match charset.starts_with("UTF-16") {
            true => decode(bytes, Some(&format!("text/html; charset={charset}"))).text,
            false => String::from_utf8_lossy(&bytes[..bytes.len().min(Directives::LOOK_BYTES)]),
        };
        answer
            .fields
            .get_all("x-robots-tag")
            .iter()
            .filter_map(|value| value.to_str().ok())
            .map(|value| Directives::of_header(value, &self.product))
            .fold(Directives::of_page(&html, &self.product), Directives::or)
    }

    fn read_sitemap(&self, answer: Box<Answer>) -> ReadPage {
        let limits = Limits::default();
        let unpacked = unpack(&answer.body, &answer.content_coding(), limits.bytes);
        let failed = match &unpacked {
            Ok(_) => None,
            Err(Unpacked::TooLarge) => Some(ReadFailure::TooLarge),
            Err(Unpacked::Broken) => Some(ReadFailure::Broken),
        };
        let sitemap = unpacked.map(|bytes| sitemap::parse(&bytes, limits)).unwrap_or_default();
        let mut page = ReadPage::empty(answer, failed);
        let mut found = FoundLinks::default();
        for entry in &sitemap.pages {
            let Ok(target) = self.rules.canonical(None, &entry.url) else { continue };
            let as_linked = self.rules.path_as_linked(None, &entry.url, &target);
            let is_in_scope = self.scope.check(&target, 1).is_ok();
            found.push(target, as_linked, is_in_scope);
        }
        (page.links, page.out_of_scope) = (found.links, found.out_of_scope);
        page.sitemaps = sitemap
            .sitemaps
            .iter()
            .filter_map(|address| self.rules.canonical(None, address).ok())
            .map(String::from)
            .collect();
        page
    }
}
