//! Reads and writes sweeps, sightings, redirects and watched documents (see [`crate::sweeps`]).

use rusqlite::OptionalExtension;
use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::Sqlite;
use super::times::{optional_time, time};
use crate::error::StoreError;
use crate::sweeps::{Sighting, swept_site};
use crate::tables::fingerprints::{redirect_fingerprint, sighting_fingerprint};
use crate::tables::{ForEach, KnownRedirect};

/// Writes.
impl Sqlite {
    pub(super) fn put_sighting(&self, row: Row, sighting: &Sighting) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO sightings (row, first, last, version, fingerprint) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let Sighting { first, last, version } = *sighting;
        let (first, last) = (first.as_microseconds(), last.as_microseconds());
        let mark = sighting_fingerprint(row, sighting);
        self.connection.prepare_cached(sql)?.execute((row.0, first, last, version, mark))?;
        Ok(())
    }

    pub(super) fn remove_sighting(&self, row: Row, first: Timestamp) -> Result<(), StoreError> {
        let sql = "DELETE FROM sightings WHERE row = ?1 AND first = ?2";
        self.connection.prepare_cached(sql)?.execute((row.0, first.as_microseconds()))?;
        Ok(())
    }

    pub(super) fn put_sweep(&self, sweep: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO sweeps (sweep) VALUES (?1)";
        self.connection.prepare_cached(sql)?.execute([sweep.as_microseconds()])?;
        Ok(())
    }

    pub(super) fn put_site_sweep(&self, site: &str, sweep: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO site_sweeps (site, sweep) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute((site, sweep.as_microseconds()))?;
        Ok(())
    }

    pub(super) fn put_redirect(&self, redirect: &KnownRedirect) -> Result<(), StoreError> {
        let KnownRedirect { key, sweep, target } = redirect;
        let sql = "INSERT OR REPLACE INTO redirects (key, sweep, target, fingerprint) \
                   VALUES (?1, ?2, ?3, ?4)";
        let mark = redirect_fingerprint(key, *sweep, target);
        self.connection.prepare_cached(sql)?.execute((
            key,
            sweep.as_microseconds(),
            target,
            mark,
        ))?;
        Ok(())
    }

    pub(super) fn put_watched(&self, row: Row, since: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO watched (row, since) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute((row.0, since.as_microseconds()))?;
        Ok(())
    }

    pub(super) fn remove_watched(&self, row: Row) -> Result<bool, StoreError> {
        let sql = "DELETE FROM watched WHERE row = ?1";
        Ok(self.connection.prepare_cached(sql)?.execute([row.0])? > 0)
    }
}

/// Reads.
impl Sqlite {
    pub(super) fn latest_sweep(&self) -> Result<Option<Timestamp>, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT max(sweep) FROM sweeps")?;
        Ok(select.query_row([], |row| optional_time(row, 0))?)
    }

    pub(super) fn sweeps(&self) -> Result<Vec<Timestamp>, StoreError> {
        let mut select = self.connection.prepare("SELECT sweep FROM sweeps ORDER BY sweep")?;
        let sweeps = select.query_map([], |row| time(row, 0))?;
        Ok(sweeps.collect::<Result<_, _>>()?)
    }

    /// The latest sweep of a site before one.
    pub(super) fn site_sweep_before(
        &self,
        site: &str,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT max(sweep) FROM site_sweeps WHERE site = ?1 AND sweep < ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row((site, sweep.as_microseconds()), |row| optional_time(row, 0))?)
    }

    /// The first sweep of a site after one.
    pub(super) fn site_sweep_after(
        &self,
        site: Option<&str>,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT min(sweep) FROM site_sweeps WHERE site = ?1 AND sweep > ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        let asked = (swept_site(site), sweep.as_microseconds());
        Ok(select.query_row(asked, |row| optional_time(row, 0))?)
    }

    /// Calls `each` with every site and a sweep that saw it, by site and date.
    pub(super) fn for_each_site_sweep(
        &self,
        each: ForEach<'_, (String, Timestamp)>,
    ) -> Result<(), StoreError> {
        let sql = "SELECT site, sweep FROM site_sweeps ORDER BY site, sweep";
        let mut select = self.connection.prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            each((row.get(0)?, time(row, 1)?))?;
        }
        Ok(())
    }

    fn read_sighting(
        &self,
        row: Row,
        (first, last, version, mark): (i64, i64, u32, i64),
    ) -> Result<Sighting, StoreError> {
        let [first, last] = [first, last].map(Timestamp::from_microseconds);
        let sighting = Sighting { first, last, version };
        if sighting_fingerprint(row, &sighting) != mark {
            let what = format!("the sightings of document {} are not as they were written", row.0);
            return Err(self.damaged(what));
        }
        Ok(sighting)
    }

    pub(super) fn latest_sighting(&self, row: Row) -> Result<Option<Sighting>, StoreError> {
        let sql = "SELECT first, last, version, fingerprint FROM sightings WHERE row = ?1 \
                   ORDER BY first DESC LIMIT 1";
        let mut select = self.connection.prepare_cached(sql)?;
        let found = select.query_row([row.0], |row| row.try_into()).optional()?;
        found.map(|columns| self.read_sighting(row, columns)).transpose()
    }

    /// When a document was seen, the earliest run first.
    pub(super) fn sightings(&self, row: Row) -> Result<Vec<Sighting>, StoreError> {
        let sql = "SELECT first, last, version, fingerprint FROM sightings WHERE row = ?1 \
                   ORDER BY first";
        let mut select = self.connection.prepare_cached(sql)?;
        let mut found = select.query([row.0])?;
        let mut sightings = Vec::new();
        while let Some(columns) = found.next()? {
            sightings.push(self.read_sighting(row, columns.try_into()?)?);
        }
        Ok(sightings)
    }

    /// Calls `each` with every run of sightings, in the order of documents and dates.
    pub(super) fn for_each_sighting(
        &self,
        each: ForEach<'_, (Row, Sighting)>,
    ) -> Result<(), StoreError> {
        let sql =
            "SELECT row, first, last, version, fingerprint FROM sightings ORDER BY row, first";
        let mut select = self.connection.prepare(sql)?;
        let mut found = select.query([])?;
        while let Some(columns) = found.next()? {
            let row = Row(columns.get(0)?);
            let columns = (columns.get(1)?, columns.get(2)?, columns.get(3)?, columns.get(4)?);
            each((row, self.read_sighting(row, columns)?))?;
        }
        Ok(())
    }

    /// Where an address led, the earliest sweep first.
    pub(super) fn redirects(&self, key: &str) -> Result<Vec<(Timestamp, String)>, StoreError> {
        let sql = "SELECT sweep, target, fingerprint FROM redirects WHERE key = ?1 ORDER BY sweep";
        let mut select = self.connection.prepare_cached(sql)?;
        let mut found = select.query([key])?;
        let mut redirects = Vec::new();
        while let Some(columns) = found.next()? {
            let (sweep, target): (_, String) = (time(columns, 0)?, columns.get(1)?);
            if redirect_fingerprint(key, sweep, &target) != columns.get::<_, i64>(2)? {
                return Err(self.damaged(format!("the redirect of `{key}` is not as written")));
            }
            redirects.push((sweep, target));
        }
        Ok(redirects)
    }

    /// Calls `each` with every redirect.
    pub(super) fn for_each_redirect(
        &self,
        each: ForEach<'_, (KnownRedirect, bool)>,
    ) -> Result<(), StoreError> {
        let mut select =
            self.connection.prepare("SELECT key, sweep, target, fingerprint FROM redirects")?;
        let mut found = select.query([])?;
        while let Some(columns) = found.next()? {
            let (key, target): (String, String) = (columns.get(0)?, columns.get(2)?);
            let sweep = time(columns, 1)?;
            let whole = redirect_fingerprint(&key, sweep, &target) == columns.get::<_, i64>(3)?;
            each((KnownRedirect { key, sweep, target }, whole))?;
        }
        Ok(())
    }

    /// Documents that are watched and since when, in the order of their numbers.
    pub(super) fn watched(&self) -> Result<Vec<(Row, Timestamp)>, StoreError> {
        let mut select = self.connection.prepare("SELECT row, since FROM watched ORDER BY row")?;
        let watched = select.query_map([], |row| Ok((Row(row.get(0)?), time(row, 1)?)))?;
        Ok(watched.collect::<Result<_, _>>()?)
    }
}
