//! The store as the place where a crawl's pages go.

use std::path::Path;
use std::sync::Arc;

use wonbon_crawl::sink::{PageSink, SinkError, SinkPage, Ticket, Verdict};
use wonbon_input::rows::Ranking;
use wonbon_input::time::microseconds;
use wonbon_store::{Content, Kind, NewDocument, Pending, Recognised, Redirect, Store};

use crate::store::{explained, too_early};

/// Adds pages to a store, as one sweep.
pub(crate) struct IntoStore {
    store: Store,
    sweep: i64,
}

impl IntoStore {
    /// Opens or makes a store.
    pub(crate) fn open(directory: &Path, sweep: i64) -> anyhow::Result<Arc<Self>> {
        let store = Store::open_or_create(directory, None).map_err(explained)?;
        if let Some(latest) = store.sweeps().map_err(explained)?.last().copied()
            && sweep < latest
        {
            return Err(too_early(sweep, latest));
        }
        Ok(Arc::new(IntoStore { store, sweep }))
    }

    pub(crate) fn close(&self) -> anyhow::Result<()> {
        Ok(self.store.clone().close()?)
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

impl PageSink for IntoStore {
    fn page(&self, page: &SinkPage<'_>) -> Result<Ticket, SinkError> {
        let created = page.published.and_then(|text| microseconds(Ranking::Text(text)));
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
