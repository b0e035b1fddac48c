//! Writes the pages of a crawl to a store.
//!
//! Crawl and store do not depend on each other. This adapter connects them, for `wonbon crawl --store` and
//! for the jobs of the service.

use wonbon_crawl::sink::{PageSink, SinkError, SinkPage, Ticket, Verdict};
use wonbon_documents::{Content, Document};
use wonbon_store::{Kind, Store, StoreError};
use wonbon_time::{Dates, Timestamp};

use crate::intake::{Intake, IntakeError, Outcome};

/// Adds pages to a store, as one sweep. A page was created when it was fetched, at the latest; what it
/// claims is when it was published, and decides only where claims are trusted.
pub struct StoreSink {
    store: Store,
    sweep: Timestamp,
    dates: Option<Dates>,
}

impl std::fmt::Debug for StoreSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreSink").field("sweep", &self.sweep).finish_non_exhaustive()
    }
}

impl StoreSink {
    /// As the sweep of a date, by other dates than the store's if some are given.
    ///
    /// # Errors
    ///
    /// [`StoreError::SweepTooEarly`] if the store has a later one.
    pub fn sweep(store: Store, sweep: Timestamp, dates: Option<Dates>) -> Result<Self, StoreError> {
        if let Some(latest) = store.sweeps()?.last().copied()
            && sweep < latest
        {
            return Err(StoreError::SweepTooEarly { sweep, latest });
        }
        Ok(StoreSink { store, sweep, dates })
    }

    fn take(&self, document: &mut Document<'_>) -> Result<Ticket, SinkError> {
        let intake = Intake::new(&self.store).with_sweep(Some(self.sweep)).with_dates(self.dates);
        let ready = intake.prepare(document).map_err(|error| -> SinkError {
            match error {
                // As it is, for whoever asks what kind of error ended the crawl.
                IntakeError::Store(error) => error.into(),
                error => error.into(),
            }
        })?;
        let submitted = ready.submit(&self.store)?;
        Ok(Box::new(|| {
            Ok(match submitted.wait()? {
                Outcome::Added { added, .. } => verdict_of(added.verdict.kind),
                Outcome::Redirected | Outcome::PassedOver => Verdict::Neither,
            })
        }))
    }
}

fn verdict_of(kind: Kind) -> Verdict {
    match kind {
        Kind::Original => Verdict::Original,
        Kind::Empty => Verdict::Neither,
        _ => Verdict::Copy,
    }
}

impl PageSink for StoreSink {
    fn page(&self, page: &SinkPage<'_>) -> Result<Ticket, SinkError> {
        let content = Content::Extracted { bytes: page.bytes.into(), text: page.text.into() };
        self.take(&mut Document {
            url: Some(page.address.into()),
            created: Some(page.fetched),
            published: page.published.and_then(|text| Timestamp::parse_iso(text).ok()),
            title: page.title.map(Into::into),
            language: page.language.map(Into::into),
            archived: true,
            ..Document::new(page.address, content)
        })
    }

    fn redirect(&self, from: &str, to: &str) -> Result<Ticket, SinkError> {
        self.take(&mut Document::new(from, Content::Redirect(to.into())))
    }

    fn verdict(&self, address: &str) -> Result<Option<Verdict>, SinkError> {
        Ok(self.store.verdict(address)?.map(|verdict| verdict_of(verdict.kind)))
    }
}

#[cfg(test)]
mod tests {
    use wonbon_store::StoreParams;

    use super::*;

    const TEXT: &str =
        "one morning the old ferry did not come and the whole village stood on the quay";

    fn page(address: &'static str, fetched: i64) -> SinkPage<'static> {
        SinkPage {
            address,
            fetched: Timestamp::from_seconds(fetched),
            bytes: b"<p>the bytes of a page",
            text: TEXT,
            title: Some("The ferry"),
            language: None,
            published: Some("1999-01-01"),
        }
    }

    /// Who is the original when a page that claims 1999 comes after another.
    fn original_of(dates: Option<Dates>, of_store: Dates) -> (String, Timestamp) {
        let folder = tempfile::tempdir().unwrap();
        let params = StoreParams { dates: of_store, ..StoreParams::default() };
        let store = Store::create(&folder.path().join("store"), &params).unwrap();
        let begun = Timestamp::from_seconds(1_700_000_000);
        let sink = StoreSink::sweep(store.clone(), begun, dates).unwrap();
        let silent = SinkPage { published: None, ..page("https://a.example/1", 1_700_000_001) };
        assert_eq!(sink.page(&silent).unwrap()().unwrap(), Verdict::Original);
        let late = page("https://a.example/2", 1_700_000_002);
        sink.page(&late).unwrap()().unwrap();
        let stored = store.get("https://a.example/2").unwrap().unwrap();
        assert_eq!(stored.published, Some(Timestamp::parse_iso("1999-01-01").unwrap()));
        let original = stored.verdict.original.unwrap_or(stored.key);
        (original, stored.created)
    }

    #[test]
    fn a_page_was_created_when_it_was_fetched_whatever_it_claims() {
        let fetched = Timestamp::from_seconds(1_700_000_002);
        let claimed = Timestamp::parse_iso("1999-01-01").unwrap();
        let first = ("https://a.example/1".to_owned(), fetched);
        let second = ("https://a.example/2".to_owned(), claimed);
        assert_eq!(original_of(None, Dates::Created), first);
        assert_eq!(original_of(Some(Dates::Claimed), Dates::Created), second);
        assert_eq!(original_of(None, Dates::Claimed), second);
        assert_eq!(original_of(Some(Dates::Created), Dates::Claimed), first);
    }

    #[test]
    fn a_page_whose_original_comes_later_is_a_copy_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("store"), None).unwrap();
        let sink = StoreSink::sweep(store, Timestamp::from_seconds(1_700_000_000), None).unwrap();
        let (late, early) = ("https://a.example/late", "https://a.example/early");
        let said = sink.page(&page(late, 1_700_000_002)).unwrap()().unwrap();
        assert_eq!((said, sink.verdict(late).unwrap()), (Verdict::Original, Some(said)));
        let said = sink.page(&page(early, 1_700_000_001)).unwrap()().unwrap();
        assert_eq!((said, sink.verdict(early).unwrap()), (Verdict::Original, Some(said)));
        assert_eq!(sink.verdict(late).unwrap(), Some(Verdict::Copy));
        assert_eq!(sink.verdict("https://a.example/unknown").unwrap(), None);
    }

    #[test]
    fn a_page_that_stays_is_recognised_in_the_next_sweep_and_keeps_its_creation() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("store"), None).unwrap();
        for fetched in [1_700_000_000, 1_710_000_000] {
            let begun = Timestamp::from_seconds(fetched - 10);
            let sink = StoreSink::sweep(store.clone(), begun, None).unwrap();
            let page = page("https://a.example/1", fetched);
            assert_eq!(sink.page(&page).unwrap()().unwrap(), Verdict::Original);
            sink.redirect("https://a.example/old", page.address).unwrap()().unwrap();
        }
        let stored = store.get("https://a.example/1").unwrap().unwrap();
        assert_eq!((stored.created, stored.version), (Timestamp::from_seconds(1_700_000_000), 1));
        assert_eq!(store.sightings("https://a.example/1").unwrap().len(), 1);
    }
}
