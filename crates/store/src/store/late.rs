//! What a document that arrives late needs of texts, computed in the client's thread before the writer decides it.
//!
//! A document that was created before the original of a family takes its place, and every copy of the family is judged
//! again in the same transaction, while other writes wait. Most of that time would go into reading texts and comparing shingle
//! sets. So the client compares first, beside the writer, and the writer looks the resemblances up. They are found
//! by the fingerprints of shingle sets, so they are right whatever is written in between; a copy that came later
//! is compared by the writer as always.
//!
//! Cost: one text read for each different shingle set of the families it may take over; nothing for a document that is
//! created after all copies, or that agrees with no original.

use std::collections::HashMap;
use std::sync::Arc;

use wonbon_index::Row;

use super::Store;
use crate::document::Order;
use crate::error::StoreError;
use crate::judge::{KnownResemblances, MOST_CANDIDATES};
use crate::prepare::Prepared;
use crate::tables::Reading;

/// Families with fewer copies are compared by the writer: reading them twice would take longer.
const LEAST_COPIES: u64 = 16;

impl Store {
    /// Compares a document that arrives late with the families whose original it may become.
    pub(super) fn compare_ahead(&self, mut prepared: Prepared) -> Prepared {
        let inner = &self.inner;
        let late = prepared.created.filter(|created| inner.index.is_late(*created));
        let Some(created) = late else { return prepared };
        if prepared.features.is_empty()
            || inner.params.rule.least_resemblance() <= 0.0
            || inner.backend.is_shared()
        {
            return prepared;
        }
        let order = Order::new(None, created, Row(u32::MAX));
        let compared = self.uncancelled().reading(|database| {
            let found = inner.index.closest(&prepared.features, MOST_CANDIDATES)?.closest;
            let mut known = KnownResemblances::new();
            for original in found.matches {
                let later = database.order(original.row)?.is_some_and(|found| found > order);
                if later && database.copies(original.row)? >= LEAST_COPIES {
                    self.compare_with_family(database, &prepared, original.row, &mut known)?;
                }
            }
            Ok::<_, StoreError>(known)
        });
        // What could not be read is met again by the writer, which says so.
        prepared.known = compared.ok().filter(|known| !known.is_empty()).map(Arc::new);
        prepared
    }

    fn compare_with_family(
        &self,
        database: &dyn Reading,
        prepared: &Prepared,
        original: Row,
        known: &mut HashMap<u64, f64>,
    ) -> Result<(), StoreError> {
        let least = self.inner.params.features().1.agreeing;
        for row in std::iter::once(original).chain(database.family(original)?) {
            let Some(record) = database.record(row)? else { continue };
            let same = record.features.iter().zip(&prepared.features).filter(|(a, b)| a == b);
            let set = record.fingerprints.shingle_set;
            if same.count() < least || known.contains_key(&set) {
                continue;
            }
            let (shingles, ..) = self.inner.preparer.shingles(&database.text(row)?);
            known.insert(set, shingles.resemblance(&prepared.shingles));
        }
        Ok(())
    }
}
