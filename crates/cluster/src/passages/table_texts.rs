//! The documents of tables that are in memory or come batch by batch, as [`TextPassages`](super::TextPassages) takes them.
//!
//! They are read as the rows of a Parquet file are, so the text of a row is what a run over files has.
//!
//! Cost: a copy of every text.

use arrow_array::RecordBatch;
use wonbon_documents::TableReading;

use crate::error::ClusterError;
use crate::tables::read_table;

/// The ids and texts of the rows of tables, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableTexts {
    /// The ids; a row without one is called by its number.
    pub ids: Vec<String>,
    /// The texts; the core text of a page.
    pub texts: Vec<String>,
}

impl TableTexts {
    /// Appends the rows of tables.
    ///
    /// # Errors
    ///
    /// The first of the tables; [`ClusterError::Input`] for a row that is no document; [`ClusterError::Stopped`] if the
    /// watcher asked for it.
    pub fn read<E: From<ClusterError> + Send>(
        &mut self,
        reading: TableReading<'_>,
        tables: impl IntoIterator<Item = Result<RecordBatch, E>, IntoIter: Send>,
    ) -> Result<(), E> {
        read_table(
            reading,
            tables,
            || (),
            |(), document, rows: &mut TableTexts| {
                document.extract();
                rows.ids.push(document.id.to_string());
                rows.texts.push(document.text().to_owned());
            },
            |piece| {
                let mut rows: TableTexts = piece.output;
                self.ids.append(&mut rows.ids);
                self.texts.append(&mut rows.texts);
                reading.progress.advance(self.texts.len() as u64);
                Ok::<(), ClusterError>(())
            },
        )
    }
}
