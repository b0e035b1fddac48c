//! PostgreSQL as something that is read. Scans go in pages, so that a question may be asked in between.

use std::collections::HashMap;

use wonbon_index::Row;
use wonbon_rule::Kind;
use wonbon_time::Timestamp;

use super::connection::{Flight, Value};
use super::rows::ROW_CHANGES;
use super::schema::digest;
use super::session::{COLUMNS, Postgres, Transaction, Work};
use crate::counts::Counts;
use crate::decisions::{Decision, DecisionEntry};
use crate::error::StoreError;
use crate::questions::OldVersion;
use crate::sweeps::{Sighting, swept_site};
use crate::tables::fingerprints::redirect_fingerprint;
use crate::tables::{ForEach, KnownRedirect, Reading, Record, RowChange, Whole};

/// Documents of a page of a scan, and rows of other tables.
pub(super) const PAGE: i64 = 1000;

fn number(row: Row) -> i64 {
    i64::from(row.0)
}

impl Reading for Postgres {
    fn begin(&self) -> Result<(), StoreError> {
        if self.connection().is_closed() {
            self.reconnect()?;
        }
        self.transaction.set(Transaction::Due);
        *self.work.borrow_mut() = Some(Work::default());
        Ok(())
    }

    fn end(&self) -> Result<(), StoreError> {
        *self.work.borrow_mut() = None;
        if self.transaction.replace(Transaction::None) == Transaction::Begun {
            self.connection().send("COMMIT");
        }
        Ok(())
    }

    fn damaged(&self, what: String) -> StoreError {
        self.damage(what)
    }

    fn present(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT greatest(clock + 1, \
                   (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) FROM head WHERE one = 1";
        Ok(self.number(sql, &[])?.map(Timestamp::from_microseconds))
    }

    fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        let rows = self.query("SELECT value FROM meta WHERE name = $1", &[&name])?;
        rows.first().map(|row| self.get(row, 0)).transpose()
    }

    /// PostgreSQL checks its pages as it reads them.
    fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let mut wrong = Vec::new();
        let last = self.number("SELECT max(change) FROM changes", &[])?;
        let head = self.number("SELECT change FROM head WHERE one = 1", &[])?;
        if last.is_some() && last != head {
            wrong.push(format!("the head is at change {head:?}, the outbox at {last:?}"));
        }
        Ok(wrong)
    }

    fn fetches_ahead(&self) -> bool {
        true
    }

    fn fetch(&self, rows: &[Row], with_texts: bool) -> Result<(), StoreError> {
        if self.transaction.get() != Transaction::Begun {
            return Ok(());
        }
        let (records, texts): (Vec<i64>, Vec<i64>) = {
            let work = self.work.borrow();
            let Some(work) = work.as_ref() else { return Ok(()) };
            let number = |row: &&Row| i64::from(row.0);
            (
                rows.iter().filter(|row| !work.knows(**row)).map(|row| number(&row)).collect(),
                rows.iter().filter(|row| !work.knows_text(**row)).map(|row| number(&row)).collect(),
            )
        };
        let connection = self.connection();
        let failed = |error: tokio_postgres::Error| self.failed(&error);
        let sql = format!("SELECT {COLUMNS} FROM documents d WHERE d.\"row\" = ANY($1)");
        let statements = [
            connection.statement(&sql).map_err(failed)?,
            connection
                .statement("SELECT \"row\", text FROM texts WHERE \"row\" = ANY($1)")
                .map_err(failed)?,
        ];
        let (record_values, text_values): ([Value<'_>; 1], [Value<'_>; 1]) = ([&records], [&texts]);
        let mut flight = Flight::default();
        flight.prepared(&connection, &statements[0], &record_values);
        if with_texts {
            flight.prepared(&connection, &statements[1], &text_values);
        }
        let answers = connection.fly(flight).map_err(failed)?;
        let mut known = Vec::new();
        for found in &answers[0] {
            known.push(self.read_record(found)?);
        }
        let mut known_texts = Vec::new();
        for found in answers.get(1).into_iter().flatten() {
            known_texts.push((self.row_number(found, 0)?, self.get::<Vec<u8>>(found, 1)?));
        }
        if let Some(work) = self.work.borrow_mut().as_mut() {
            known.into_iter().for_each(|record| work.know(record));
            for row in rows {
                work.know_absent(*row);
            }
            known_texts.into_iter().for_each(|(row, text)| work.know_text(row, text));
        }
        Ok(())
    }

    fn record(&self, row: Row) -> Result<Option<Record>, StoreError> {
        if let Some(known) = self.known_record(row) {
            return Ok(known);
        }
        let sql = format!("SELECT {COLUMNS} FROM documents d WHERE d.\"row\" = $1");
        let found = self.one_record(&self.query_unflushed(&sql, &[&number(row)])?)?;
        self.remember(Some(row), None, found.as_ref());
        Ok(found)
    }

    fn record_by_key(&self, key: &str) -> Result<Option<Record>, StoreError> {
        if let Some(known) = self.known_key(key) {
            return Ok(known);
        }
        if key.contains('\0') {
            return Ok(None);
        }
        let sql = format!("SELECT {COLUMNS} FROM documents d WHERE d.key_name = $1 AND d.key = $2");
        let found = self.one_record(&self.query_unflushed(&sql, &[&digest(key), &key])?)?;
        self.remember(None, Some(key), found.as_ref());
        Ok(found)
    }

    fn record_by_address(&self, url: &str) -> Result<Option<Record>, StoreError> {
        if url.contains('\0') {
            return Ok(None);
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM documents d WHERE d.url_name = $1 AND d.url = $2 \
             ORDER BY d.stored DESC, d.\"row\" DESC LIMIT 1"
        );
        self.one_record(&self.query(&sql, &[&digest(url), &url])?)
    }

    fn originals(&self, rows: &[Row]) -> Result<HashMap<Row, Whole>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, t.text, \
             (SELECT count(*) FROM documents c WHERE c.original = d.\"row\") \
             FROM documents d LEFT JOIN texts t ON t.\"row\" = d.\"row\" \
             WHERE d.\"row\" = ANY($1) AND d.kind = {}",
            Kind::Original.number()
        );
        let numbers: Vec<i64> = rows.iter().copied().map(number).collect();
        let mut originals = HashMap::with_capacity(rows.len());
        for found in self.query(&sql, &[&numbers])? {
            let record = self.read_record(&found)?;
            let row = record.row;
            let text = self.read_text(self.get(&found, 23)?, || self.damaged_row(row))?;
            originals.insert(row, (record, text, self.get::<i64>(&found, 24)? as u64));
        }
        Ok(originals)
    }

    fn family(&self, original: Row) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT \"row\" FROM documents WHERE original = $1 ORDER BY created, \"row\"";
        self.read_rows(&self.query(sql, &[&number(original)])?)
    }

    fn copies(&self, original: Row) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM documents WHERE original = $1";
        Ok(self.number(sql, &[&number(original)])?.unwrap_or_default() as u64)
    }

    fn shingle_set_name(&self, row: Row) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT shingle_set_name FROM documents WHERE \"row\" = $1";
        Ok(self.number(sql, &[&number(row)])?.map(|name| name as u64))
    }

    fn rows_after(&self, row: Option<Row>, most: usize) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT \"row\" FROM documents WHERE \"row\" > $1 ORDER BY \"row\" LIMIT $2";
        self.read_rows(&self.query(sql, &[&row.map_or(-1, number), &limit(most)])?)
    }

    fn rows_before(&self, row: Option<Row>, most: usize) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT \"row\" FROM documents WHERE \"row\" < $1 ORDER BY \"row\" DESC LIMIT $2";
        self.read_rows(&self.query(sql, &[&row.map_or(i64::MAX, number), &limit(most)])?)
    }

    fn latest_copy(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT max(created) FROM documents WHERE original IS NOT NULL";
        Ok(self.number(sql, &[])?.map(Timestamp::from_microseconds))
    }

    fn for_each_original(&self, each: ForEach<'_, (Row, Vec<u64>)>) -> Result<(), StoreError> {
        self.for_each_features(&format!("kind = {}", Kind::Original.number()), each)
    }

    fn for_each_differing_copy(
        &self,
        each: ForEach<'_, (Row, Vec<u64>)>,
    ) -> Result<(), StoreError> {
        let kind = Kind::Copy.number();
        self.for_each_features(&format!("original IS NOT NULL AND kind = {kind}"), each)
    }

    fn for_each_record(&self, each: ForEach<'_, Record>) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM documents d WHERE d.\"row\" > $1 ORDER BY d.\"row\" LIMIT {PAGE}"
        );
        let mut after = -1_i64;
        loop {
            let rows = self.query(&sql, &[&after])?;
            for found in &rows {
                let record = self.read_record(found)?;
                after = number(record.row);
                each(record)?;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    fn count_documents(&self) -> Result<Counts, StoreError> {
        let mut counts = Counts::default();
        for row in self.query("SELECT kind, count(*) FROM documents GROUP BY kind", &[])? {
            let number = self.get::<i64>(&row, 1)? as u64;
            counts.documents += number;
            match Kind::from_number(self.get(&row, 0)?) {
                Some(Kind::Original) => counts.originals += number,
                Some(Kind::Empty) => counts.empty += number,
                _ => counts.copies += number,
            }
        }
        counts.old_versions = self.count("SELECT count(*) FROM versions")?;
        Ok(counts)
    }

    fn count_others(&self, counts: &mut Counts) -> Result<(), StoreError> {
        counts.sweeps = self.count("SELECT count(*) FROM sweeps")?;
        counts.watched = self.count("SELECT count(*) FROM watched")?;
        counts.latest_sweep = self.latest_sweep()?;
        Ok(())
    }

    fn family_sizes(&self) -> Result<Vec<(Row, u64)>, StoreError> {
        let sql = "SELECT original, count(*) FROM documents WHERE original IS NOT NULL \
                   GROUP BY original";
        let rows = self.query(sql, &[])?;
        rows.iter()
            .map(|row| Ok((self.row_number(row, 0)?, self.get::<i64>(row, 1)? as u64)))
            .collect()
    }

    fn family_spread(&self, original: Row) -> Result<(u64, Timestamp), StoreError> {
        let sql = "SELECT count(DISTINCT coalesce(site, '')), max(created) FROM documents \
                   WHERE original = $1 OR \"row\" = $1";
        let rows = self.query(sql, &[&number(original)])?;
        let row = rows.first().ok_or_else(|| self.damaged_row(original))?;
        Ok((self.get::<i64>(row, 0)? as u64, self.time(row, 1)?))
    }

    fn text(&self, row: Row) -> Result<String, StoreError> {
        if let Some(known) = self.known_text(row) {
            return self.read_text(Some(&known), || self.damaged_row(row));
        }
        let rows =
            self.query_unflushed("SELECT text FROM texts WHERE \"row\" = $1", &[&number(row)])?;
        let bytes = rows.first().map(|found| self.get(found, 0)).transpose()?;
        self.read_text(bytes, || self.damaged_row(row))
    }

    fn count_texts(&self) -> Result<u64, StoreError> {
        self.count("SELECT count(*) FROM texts")
    }

    fn versions(&self, row: Row) -> Result<Vec<OldVersion>, StoreError> {
        let sql = "SELECT version, created, stored, title, words, resemblance FROM versions \
                   WHERE \"row\" = $1 ORDER BY version";
        let rows = self.query(sql, &[&number(row)])?;
        rows.iter()
            .map(|found| {
                Ok(OldVersion {
                    version: u32::try_from(self.get::<i64>(found, 0)?)
                        .map_err(|_| self.damaged_row(row))?,
                    created: self.time(found, 1)?,
                    stored: self.time(found, 2)?,
                    title: self.get(found, 3)?,
                    words: self.get::<Option<i64>>(found, 4)?.map(|words| words as u64),
                    resemblance: self.get(found, 5)?,
                })
            })
            .collect()
    }

    fn version_resemblance(&self, row: Row, version: u32) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT resemblance FROM versions WHERE \"row\" = $1 AND version = $2";
        let rows = self.query(sql, &[&number(row), &i64::from(version)])?;
        rows.first().map_or(Ok(None), |found| self.get(found, 0))
    }

    fn version_text(&self, row: Row, version: u32) -> Result<String, StoreError> {
        let sql = "SELECT text FROM versions WHERE \"row\" = $1 AND version = $2";
        let rows = self.query(sql, &[&number(row), &i64::from(version)])?;
        let bytes = rows.first().map(|found| self.get(found, 0)).transpose()?;
        self.read_text(bytes, || {
            self.damage(format!("version {version} of document {} is not as written", row.0))
        })
    }

    fn rows_with_versions(&self) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT DISTINCT \"row\" FROM versions ORDER BY \"row\"";
        self.read_rows(&self.query(sql, &[])?)
    }

    fn rows_with_versions_and_no_sightings(&self) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT DISTINCT v.\"row\" FROM versions v \
                   WHERE NOT EXISTS (SELECT 1 FROM sightings s WHERE s.\"row\" = v.\"row\") \
                   ORDER BY v.\"row\"";
        self.read_rows(&self.query(sql, &[])?)
    }

    fn last_change(&self) -> Result<(u64, u64), StoreError> {
        let rows = self.query("SELECT change, forgotten FROM head WHERE one = 1", &[])?;
        let head = rows.first().ok_or_else(|| self.damage("it has no head".to_owned()))?;
        Ok((self.get::<i64>(head, 0)? as u64, self.get::<i64>(head, 1)? as u64))
    }

    fn changes_after(&self, change: u64, most: usize) -> Result<(u64, Vec<Row>), StoreError> {
        let sql = "SELECT change, \"row\" FROM changes WHERE change > $1 ORDER BY change LIMIT $2";
        let (mut last, mut rows) = (change, Vec::new());
        for found in self.query(sql, &[&(change as i64), &limit(most)])? {
            last = self.get::<i64>(&found, 0)? as u64;
            rows.push(self.row_number(&found, 1)?);
        }
        rows.sort_unstable();
        rows.dedup();
        Ok((last, rows))
    }

    fn row_changes_after(&self, change: u64) -> Result<Vec<RowChange>, StoreError> {
        let rows = self.query(ROW_CHANGES, &[&(change as i64)])?;
        rows.iter().map(|found| self.read_change(found)).collect()
    }

    fn latest_sweep(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.number("SELECT max(sweep) FROM sweeps", &[])?.map(Timestamp::from_microseconds))
    }

    fn sweeps(&self) -> Result<Vec<Timestamp>, StoreError> {
        let rows = self.query("SELECT sweep FROM sweeps ORDER BY sweep", &[])?;
        rows.iter().map(|row| self.time(row, 0)).collect()
    }

    fn site_sweep_before(
        &self,
        site: &str,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT max(sweep) FROM site_sweeps WHERE site_name = $1 AND site = $2 \
                   AND sweep < $3";
        let found = self.number(sql, &[&digest(site), &site, &sweep.as_microseconds()])?;
        Ok(found.map(Timestamp::from_microseconds))
    }

    fn site_sweep_after(
        &self,
        site: Option<&str>,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let site = swept_site(site);
        let sql = "SELECT min(sweep) FROM site_sweeps WHERE site_name = $1 AND site = $2 \
                   AND sweep > $3";
        let found = self.number(sql, &[&digest(site), &site, &sweep.as_microseconds()])?;
        Ok(found.map(Timestamp::from_microseconds))
    }

    fn for_each_site_sweep(
        &self,
        each: ForEach<'_, (String, Timestamp)>,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT site, sweep FROM site_sweeps WHERE (site, sweep) > ($1, $2) \
             ORDER BY site, sweep LIMIT {PAGE}"
        );
        let mut after = (String::new(), i64::MIN);
        loop {
            let rows = self.query(&sql, &[&after.0, &after.1])?;
            for row in &rows {
                let (site, sweep): (String, i64) = (self.get(row, 0)?, self.get(row, 1)?);
                after = (site.clone(), sweep);
                each((site, Timestamp::from_microseconds(sweep)))?;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    fn sightings(&self, row: Row) -> Result<Vec<Sighting>, StoreError> {
        let sql = "SELECT first, last, version, fingerprint FROM sightings WHERE \"row\" = $1 \
                   ORDER BY first";
        let rows = self.query(sql, &[&number(row)])?;
        rows.iter().map(|found| self.read_sighting(row, found, 0)).collect()
    }

    fn latest_sighting(&self, row: Row) -> Result<Option<Sighting>, StoreError> {
        let sql = "SELECT first, last, version, fingerprint FROM sightings WHERE \"row\" = $1 \
                   ORDER BY first DESC LIMIT 1";
        let rows = self.query(sql, &[&number(row)])?;
        rows.first().map(|found| self.read_sighting(row, found, 0)).transpose()
    }

    fn for_each_sighting(&self, each: ForEach<'_, (Row, Sighting)>) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT \"row\", first, last, version, fingerprint FROM sightings \
             WHERE (\"row\", first) > ($1, $2) ORDER BY \"row\", first LIMIT {PAGE}"
        );
        let mut after = (-1_i64, i64::MIN);
        loop {
            let rows = self.query(&sql, &[&after.0, &after.1])?;
            for found in &rows {
                let row = self.row_number(found, 0)?;
                after = (number(row), self.get(found, 1)?);
                each((row, self.read_sighting(row, found, 1)?))?;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    fn redirects(&self, key: &str) -> Result<Vec<(Timestamp, String)>, StoreError> {
        let sql = "SELECT sweep, target, fingerprint FROM redirects \
                   WHERE key_name = $1 AND key = $2 ORDER BY sweep";
        let mut redirects = Vec::new();
        for found in self.query(sql, &[&digest(key), &key])? {
            let (sweep, target): (_, String) = (self.time(&found, 0)?, self.get(&found, 1)?);
            if redirect_fingerprint(key, sweep, &target) != self.get::<i64>(&found, 2)? {
                return Err(self.damage(format!("the redirect of `{key}` is not as written")));
            }
            redirects.push((sweep, target));
        }
        Ok(redirects)
    }

    fn for_each_redirect(
        &self,
        each: ForEach<'_, (KnownRedirect, bool)>,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT key_name, sweep, key, target, fingerprint FROM redirects \
             WHERE (key_name, sweep) > ($1, $2) ORDER BY key_name, sweep LIMIT {PAGE}"
        );
        let mut after = (Vec::<u8>::new(), i64::MIN);
        loop {
            let rows = self.query(&sql, &[&after.0, &after.1])?;
            for found in &rows {
                after = (self.get(found, 0)?, self.get(found, 1)?);
                let sweep = Timestamp::from_microseconds(after.1);
                let (key, target): (String, String) = (self.get(found, 2)?, self.get(found, 3)?);
                let whole =
                    redirect_fingerprint(&key, sweep, &target) == self.get::<i64>(found, 4)?;
                each((KnownRedirect { key, sweep, target }, whole))?;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    fn watched(&self) -> Result<Vec<(Row, Timestamp)>, StoreError> {
        let rows = self.query("SELECT \"row\", since FROM watched ORDER BY \"row\"", &[])?;
        rows.iter().map(|row| Ok((self.row_number(row, 0)?, self.time(row, 1)?))).collect()
    }

    fn last_decision(&self) -> Result<u64, StoreError> {
        let last = self.number("SELECT max(entry) FROM decisions", &[])?;
        Ok(last.unwrap_or_default().unsigned_abs())
    }

    fn for_each_decision(
        &self,
        key: Option<&str>,
        before: Option<u64>,
        most: usize,
        each: &mut dyn FnMut(DecisionEntry) -> bool,
    ) -> Result<(), StoreError> {
        const SELECT: &str = "SELECT entry, time, who, what, key, effect_before, effect_after, \
            undoes, reason, fingerprint FROM decisions";
        let mut before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
        let mut left = most;
        while left > 0 {
            let page = limit(left).min(PAGE);
            let rows = match key {
                Some(key) => {
                    let sql = format!(
                        "{SELECT} WHERE key_name = $3 AND key = $4 AND entry < $1 \
                         ORDER BY entry DESC LIMIT $2"
                    );
                    self.query(&sql, &[&before, &page, &digest(key), &key])?
                }
                None => {
                    let sql = format!("{SELECT} WHERE entry < $1 ORDER BY entry DESC LIMIT $2");
                    self.query(&sql, &[&before, &page])?
                }
            };
            for row in &rows {
                let entry = self.read_decision(row)?;
                before = entry.entry as i64;
                if !each(entry) {
                    return Ok(());
                }
            }
            left -= rows.len();
            if (rows.len() as i64) < page {
                break;
            }
        }
        Ok(())
    }

    fn for_each_decided(
        &self,
        each: &mut dyn FnMut(String, Option<Decision>, u64),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM documents d WHERE d.decision_entry IS NOT NULL \
             ORDER BY d.\"row\""
        );
        for row in self.query(&sql, &[])? {
            let record = self.read_record(&row)?;
            each(record.key, record.decision, record.decision_entry);
        }
        Ok(())
    }
}

/// A number of rows, as LIMIT takes it.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
