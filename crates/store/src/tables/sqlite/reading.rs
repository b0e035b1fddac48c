//! SQLite as something that is read: each question is in the module of its tables.

use std::collections::HashMap;

use wonbon_index::Row;
use wonbon_progress::Cancellation;
use wonbon_time::Timestamp;

use super::Sqlite;
use crate::counts::Counts;
use crate::decisions::{Decision, DecisionEntry};
use crate::document::Order;
use crate::error::StoreError;
use crate::questions::OldVersion;
use crate::sweeps::Sighting;
use crate::tables::{ForEach, KnownRedirect, Reading, Record, RowChange, Whole};

impl Reading for Sqlite {
    fn begin(&self) -> Result<(), StoreError> {
        self.run("BEGIN")
    }

    fn end(&self) -> Result<(), StoreError> {
        self.run("COMMIT")
    }

    fn cancel_when(&self, cancellation: Option<Cancellation>) {
        Sqlite::cancel_when(self, cancellation);
    }

    fn damaged(&self, what: String) -> StoreError {
        Sqlite::damaged(self, what)
    }

    fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        Sqlite::meta(self, name)
    }

    fn integrity(&self) -> Result<Vec<String>, StoreError> {
        Sqlite::integrity(self)
    }

    fn record(&self, row: Row) -> Result<Option<Record>, StoreError> {
        Sqlite::record(self, row)
    }

    fn order(&self, row: Row) -> Result<Option<Order>, StoreError> {
        Sqlite::order(self, row)
    }

    fn record_by_key(&self, key: &str) -> Result<Option<Record>, StoreError> {
        Sqlite::record_by_key(self, key)
    }

    fn record_by_address(&self, url: &str) -> Result<Option<Record>, StoreError> {
        Sqlite::record_by_address(self, url)
    }

    fn originals(&self, rows: &[Row]) -> Result<HashMap<Row, Whole>, StoreError> {
        Sqlite::originals(self, rows)
    }

    fn family(&self, original: Row) -> Result<Vec<Row>, StoreError> {
        Sqlite::family(self, original)
    }

    fn family_orders(&self, original: Row) -> Result<Vec<Order>, StoreError> {
        Sqlite::family_orders(self, original)
    }

    fn copies(&self, original: Row) -> Result<u64, StoreError> {
        Sqlite::copies(self, original)
    }

    fn shingle_set_name(&self, row: Row) -> Result<Option<u64>, StoreError> {
        Sqlite::shingle_set_name(self, row)
    }

    fn rows_after(&self, row: Option<Row>, most: usize) -> Result<Vec<Row>, StoreError> {
        Sqlite::rows_after(self, row, most)
    }

    fn rows_before(&self, row: Option<Row>, most: usize) -> Result<Vec<Row>, StoreError> {
        Sqlite::rows_before(self, row, most)
    }

    fn latest_copy(&self) -> Result<Option<Timestamp>, StoreError> {
        Sqlite::latest_copy(self)
    }

    fn for_each_original(&self, each: ForEach<'_, (Row, Vec<u64>)>) -> Result<(), StoreError> {
        Sqlite::for_each_original(self, each)
    }

    fn for_each_differing_copy(
        &self,
        each: ForEach<'_, (Row, Vec<u64>)>,
    ) -> Result<(), StoreError> {
        Sqlite::for_each_differing_copy(self, each)
    }

    fn for_each_record(&self, each: ForEach<'_, Record>) -> Result<(), StoreError> {
        Sqlite::for_each_record(self, each)
    }

    fn count_documents(&self) -> Result<Counts, StoreError> {
        Sqlite::count_documents(self)
    }

    fn count_others(&self, counts: &mut Counts) -> Result<(), StoreError> {
        Sqlite::count_others(self, counts)
    }

    fn family_sizes(&self) -> Result<Vec<(Row, u64)>, StoreError> {
        Sqlite::family_sizes(self)
    }

    fn family_spread(&self, original: Row) -> Result<(u64, Timestamp), StoreError> {
        Sqlite::family_spread(self, original)
    }

    fn text(&self, row: Row) -> Result<String, StoreError> {
        Sqlite::text(self, row)
    }

    fn count_texts(&self) -> Result<u64, StoreError> {
        Sqlite::count_texts(self)
    }

    fn versions(&self, row: Row) -> Result<Vec<OldVersion>, StoreError> {
        Sqlite::versions(self, row)
    }

    fn version_resemblance(&self, row: Row, version: u32) -> Result<Option<f64>, StoreError> {
        Sqlite::version_resemblance(self, row, version)
    }

    fn version_text(&self, row: Row, version: u32) -> Result<String, StoreError> {
        Sqlite::version_text(self, row, version)
    }

    fn rows_with_versions(&self) -> Result<Vec<Row>, StoreError> {
        Sqlite::rows_with_versions(self)
    }

    fn rows_with_versions_and_no_sightings(&self) -> Result<Vec<Row>, StoreError> {
        Sqlite::rows_with_versions_and_no_sightings(self)
    }

    fn last_change(&self) -> Result<(u64, u64), StoreError> {
        Sqlite::last_change(self)
    }

    fn changes_after(&self, change: u64, most: usize) -> Result<(u64, Vec<Row>), StoreError> {
        Sqlite::changes_after(self, change, most)
    }

    fn row_changes_after(&self, change: u64) -> Result<Vec<RowChange>, StoreError> {
        Sqlite::row_changes_after(self, change)
    }

    fn latest_sweep(&self) -> Result<Option<Timestamp>, StoreError> {
        Sqlite::latest_sweep(self)
    }

    fn sweeps(&self) -> Result<Vec<Timestamp>, StoreError> {
        Sqlite::sweeps(self)
    }

    fn site_sweep_before(
        &self,
        site: &str,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        Sqlite::site_sweep_before(self, site, sweep)
    }

    fn site_sweep_after(
        &self,
        site: Option<&str>,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        Sqlite::site_sweep_after(self, site, sweep)
    }

    fn for_each_site_sweep(
        &self,
        each: ForEach<'_, (String, Timestamp)>,
    ) -> Result<(), StoreError> {
        Sqlite::for_each_site_sweep(self, each)
    }

    fn sightings(&self, row: Row) -> Result<Vec<Sighting>, StoreError> {
        Sqlite::sightings(self, row)
    }

    fn latest_sighting(&self, row: Row) -> Result<Option<Sighting>, StoreError> {
        Sqlite::latest_sighting(self, row)
    }

    fn for_each_sighting(&self, each: ForEach<'_, (Row, Sighting)>) -> Result<(), StoreError> {
        Sqlite::for_each_sighting(self, each)
    }

    fn redirects(&self, key: &str) -> Result<Vec<(Timestamp, String)>, StoreError> {
        Sqlite::redirects(self, key)
    }

    fn for_each_redirect(
        &self,
        each: ForEach<'_, (KnownRedirect, bool)>,
    ) -> Result<(), StoreError> {
        Sqlite::for_each_redirect(self, each)
    }

    fn watched(&self) -> Result<Vec<(Row, Timestamp)>, StoreError> {
        Sqlite::watched(self)
    }

    fn last_decision(&self) -> Result<u64, StoreError> {
        Sqlite::last_decision(self)
    }

    fn for_each_decision(
        &self,
        key: Option<&str>,
        before: Option<u64>,
        most: usize,
        each: &mut dyn FnMut(DecisionEntry) -> bool,
    ) -> Result<(), StoreError> {
        Sqlite::for_each_decision(self, key, before, most, each)
    }

    fn for_each_decided(
        &self,
        each: &mut dyn FnMut(String, Option<Decision>, u64),
    ) -> Result<(), StoreError> {
        Sqlite::for_each_decided(self, each)
    }
}
