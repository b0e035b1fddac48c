//! The store as the place where a crawl's pages go.
//!
//! The crawl knows no store and the store no crawl; whoever has both puts one into the other with
//! this: the program (`wonbon crawl --store`) and the service's jobs.

use wonbon_crawl::sink::{PageSink, SinkError, SinkPage, Ticket, Verdict};
use wonbon_store::{Content, Kind, NewDocument, Pending, Recognised, Redirect, Store, StoreError};
use wonbon_time::Timestamp;

/// Adds pages to a store, as one sweep.
pub struct StoreSink {
    store: Store,
    sweep: Timestamp,
}

impl std::fmt::Debug for StoreSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreSink").field("sweep", &self.sweep).finish_non_exhaustive()
    }
}

impl StoreSink {
    /// As the sweep of a date.
    ///
    /// # Errors
    ///
    /// [`StoreError::SweepTooEarly`] if the store has a later one.
    pub fn sweep(store: Store, sweep: Timestamp) -> Result<Self, StoreError> {
        if let Some(latest) = store.sweeps()?.last().copied()
            && sweep < latest
        {
            return Err(StoreError::SweepTooEarly { sweep, latest });
        }
        Ok(StoreSink { store, sweep })
    }
}

fn verdict_of(pending: Pending) -> Ticket {
    Box::new(|| {
        let added = pending.wait()?;
        Ok(match added.verdict.kind {
            Kind::Original => Verdict::Original,
            Kind::Empty => Verdict::Neither,
            _ => Verdict::Copy,
        })
    })
}

impl PageSink for StoreSink {
    fn page(&self, page: &SinkPage<'_>) -> Result<Ticket, SinkError> {
        let created = page.published.and_then(|text| Timestamp::parse_text(text).ok());
        let document = NewDocument {
            key: page.address.into(),
            created,
            url: None,
            site: Some(page.site.into()),
            author: None,
            title: page.title.map(Into::into),
            language: page.language.map(Into::into),
            sweep: Some(self.sweep),
            content: Content::Extracted { bytes: page.bytes, text: page.text },
        };
        let pending = match self.store.recognise(&document)? {
            Some(_) => self.store.submit_recognised(Recognised::of(&document))?,
            None => self.store.submit(self.store.prepare(&document)?)?,
        };
        Ok(verdict_of(pending))
    }

    fn redirect(&self, from: &str, to: &str) -> Result<Ticket, SinkError> {
        let redirect =
            Redirect { key: from.to_owned(), target: to.to_owned(), sweep: self.sweep, site: None };
        let pending = self.store.submit_redirect(&redirect)?;
        Ok(Box::new(move || {
            pending.wait()?;
            Ok(Verdict::Neither)
        }))
    }
}
