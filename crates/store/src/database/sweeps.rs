//! Reads and writes sweeps, sightings, redirects and watched documents (see [`crate::sweeps`]).

use std::hash::Hasher;

use rusqlite::OptionalExtension;
use wonbon_index::Row;
use wonbon_sketch::rabin::{RABIN_64, RabinHasher};
use wonbon_time::Timestamp;

use super::{Database, Record};
use crate::error::StoreError;
use crate::prepare::site_of;
use crate::sweeps::{Place, Redirect, Sighting, swept_site};
use crate::time_columns::{optional_time, time};

fn fingerprint(row: Row, sighting: &Sighting) -> i64 {
    let mut hash = RabinHasher::new(&RABIN_64);
    let Sighting { first, last, version } = *sighting;
    let (first, last) = (first.as_microseconds(), last.as_microseconds());
    for number in [i64::from(row.0), first, last, i64::from(version)] {
        hash.write(&number.to_le_bytes());
    }
    hash.finish() as i64
}

fn redirect_fingerprint(key: &str, sweep: Timestamp, target: &str) -> i64 {
    let mut hash = RabinHasher::new(&RABIN_64);
    hash.write(&(key.len() as u64).to_le_bytes());
    hash.write(key.as_bytes());
    hash.write(&sweep.as_microseconds().to_le_bytes());
    hash.write(target.as_bytes());
    hash.finish() as i64
}

/// Writes.
impl Database {
    /// Notes that a document was seen as what it is now.
    pub(crate) fn see(&self, record: &Record, sweep: Timestamp) -> Result<(), StoreError> {
        let site = swept_site(record.site.as_deref());
        self.sweep_site(site, sweep)?;
        let (row, version) = (record.row, record.version);
        let before = self.site_sweep_before(site, sweep)?;
        let mut run = self.latest_sighting(row)?;
        if let Some(known) = run.filter(|run| run.last == sweep) {
            if known.version == version {
                return Ok(());
            }
            // Seen twice by this sweep, and changed in between: what it saw last counts.
            self.remove_sighting(row, known.first)?;
            if known.first < sweep {
                let last = before.map_or(known.first, |before| before.max(known.first));
                self.put_sighting(row, &Sighting { last, ..known })?;
            }
            run = self.latest_sighting(row)?;
        }
        match run {
            Some(run) if Some(run.last) == before && run.version == version => {
                self.put_sighting(row, &Sighting { last: sweep, ..run })
            }
            _ => self.put_sighting(row, &Sighting { first: sweep, last: sweep, version }),
        }
    }

    /// Notes that a sweep saw a site.
    fn sweep_site(&self, site: &str, sweep: Timestamp) -> Result<(), StoreError> {
        match self.latest_sweep()? {
            Some(latest) if sweep < latest => {
                return Err(StoreError::SweepTooEarly { sweep, latest });
            }
            Some(latest) if sweep == latest => {}
            _ => {
                let sql = "INSERT INTO sweeps (sweep) VALUES (?1)";
                self.connection.prepare_cached(sql)?.execute([sweep.as_microseconds()])?;
            }
        }
        let sql = "INSERT OR IGNORE INTO site_sweeps (site, sweep) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute((site, sweep.as_microseconds()))?;
        Ok(())
    }

    fn put_sighting(&self, row: Row, sighting: &Sighting) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO sightings (row, first, last, version, fingerprint) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let Sighting { first, last, version } = *sighting;
        let (first, last) = (first.as_microseconds(), last.as_microseconds());
        let mark = fingerprint(row, sighting);
        self.connection.prepare_cached(sql)?.execute((row.0, first, last, version, mark))?;
        Ok(())
    }

    fn remove_sighting(&self, row: Row, first: Timestamp) -> Result<(), StoreError> {
        let sql = "DELETE FROM sightings WHERE row = ?1 AND first = ?2";
        self.connection.prepare_cached(sql)?.execute((row.0, first.as_microseconds()))?;
        Ok(())
    }

    /// Notes a redirect; returns whether it was new.
    pub(crate) fn add_redirect(&self, redirect: &Redirect) -> Result<bool, StoreError> {
        let Redirect { key, target, sweep, site } = redirect;
        let site = site.clone().or_else(|| site_of(key));
        self.sweep_site(swept_site(site.as_deref()), *sweep)?;
        let known = self.redirects(key)?;
        if known.last().is_some_and(|known| *known == (*sweep, target.clone())) {
            return Ok(false);
        }
        let sql = "INSERT OR REPLACE INTO redirects (key, sweep, target, fingerprint) \
                   VALUES (?1, ?2, ?3, ?4)";
        let mark = redirect_fingerprint(key, *sweep, target);
        self.connection.prepare_cached(sql)?.execute((
            key,
            sweep.as_microseconds(),
            target,
            mark,
        ))?;
        Ok(true)
    }

    /// Watches a document or stops doing so; returns whether there is one, or it was watched.
    pub(crate) fn watch(&self, key: &str, watch: bool, now: Timestamp) -> Result<bool, StoreError> {
        let Some(record) = self.named(key)? else { return Ok(false) };
        if watch {
            let sql = "INSERT OR IGNORE INTO watched (row, since) VALUES (?1, ?2)";
            self.connection.prepare_cached(sql)?.execute((record.row.0, now.as_microseconds()))?;
            return Ok(true);
        }
        let sql = "DELETE FROM watched WHERE row = ?1";
        Ok(self.connection.prepare_cached(sql)?.execute([record.row.0])? > 0)
    }
}

/// Reads.
impl Database {
    pub(crate) fn latest_sweep(&self) -> Result<Option<Timestamp>, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT max(sweep) FROM sweeps")?;
        Ok(select.query_row([], |row| optional_time(row, 0))?)
    }

    pub(crate) fn sweeps(&self) -> Result<Vec<Timestamp>, StoreError> {
        let mut select = self.connection.prepare("SELECT sweep FROM sweeps ORDER BY sweep")?;
        let sweeps = select.query_map([], |row| time(row, 0))?;
        Ok(sweeps.collect::<Result<_, _>>()?)
    }

    /// The latest sweep of a site before one.
    fn site_sweep_before(
        &self,
        site: &str,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT max(sweep) FROM site_sweeps WHERE site = ?1 AND sweep < ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row((site, sweep.as_microseconds()), |row| optional_time(row, 0))?)
    }

    /// The first sweep of a site after one.
    pub(crate) fn site_sweep_after(
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
    pub(crate) fn for_each_site_sweep(
        &self,
        mut each: impl FnMut(&str, Timestamp),
    ) -> Result<(), StoreError> {
        let sql = "SELECT site, sweep FROM site_sweeps ORDER BY site, sweep";
        let mut select = self.connection.prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            each(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?, time(row, 1)?);
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
        if fingerprint(row, &sighting) != mark {
            let what = format!("the sightings of document {} are not as they were written", row.0);
            return Err(self.damaged(what));
        }
        Ok(sighting)
    }

    fn latest_sighting(&self, row: Row) -> Result<Option<Sighting>, StoreError> {
        let sql = "SELECT first, last, version, fingerprint FROM sightings WHERE row = ?1 \
                   ORDER BY first DESC LIMIT 1";
        let mut select = self.connection.prepare_cached(sql)?;
        let found = select.query_row([row.0], |row| row.try_into()).optional()?;
        found.map(|columns| self.read_sighting(row, columns)).transpose()
    }

    /// When a document was seen, the earliest run first.
    pub(crate) fn sightings(&self, row: Row) -> Result<Vec<Sighting>, StoreError> {
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
    pub(crate) fn for_each_sighting(
        &self,
        mut each: impl FnMut(Row, Sighting) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let sql =
            "SELECT row, first, last, version, fingerprint FROM sightings ORDER BY row, first";
        let mut select = self.connection.prepare(sql)?;
        let mut found = select.query([])?;
        while let Some(columns) = found.next()? {
            let row = Row(columns.get(0)?);
            let columns = (columns.get(1)?, columns.get(2)?, columns.get(3)?, columns.get(4)?);
            each(row, self.read_sighting(row, columns)?)?;
        }
        Ok(())
    }

    /// Where an address led, the earliest sweep first.
    pub(crate) fn redirects(&self, key: &str) -> Result<Vec<(Timestamp, String)>, StoreError> {
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
    pub(crate) fn for_each_redirect(
        &self,
        mut each: impl FnMut(&str, Timestamp, &str, bool),
    ) -> Result<(), StoreError> {
        let mut select =
            self.connection.prepare("SELECT key, sweep, target, fingerprint FROM redirects")?;
        let mut found = select.query([])?;
        while let Some(columns) = found.next()? {
            let (key, target): (String, String) = (columns.get(0)?, columns.get(2)?);
            let sweep = time(columns, 1)?;
            let whole = redirect_fingerprint(&key, sweep, &target) == columns.get::<_, i64>(3)?;
            each(&key, sweep, &target, whole);
        }
        Ok(())
    }

    /// Documents that are watched and since when, in the order of their numbers.
    pub(crate) fn watched(&self) -> Result<Vec<(Row, Timestamp)>, StoreError> {
        let mut select = self.connection.prepare("SELECT row, since FROM watched ORDER BY row")?;
        let watched = select.query_map([], |row| Ok((Row(row.get(0)?), time(row, 1)?)))?;
        Ok(watched.collect::<Result<_, _>>()?)
    }

    /// When and where a document was seen.
    pub(crate) fn place(&self, record: &Record) -> Result<Place, StoreError> {
        let sightings = self.sightings(record.row)?;
        let seen = sightings.first().zip(sightings.last());
        let gone = match seen {
            Some((_, latest)) => self.site_sweep_after(record.site.as_deref(), latest.last)?,
            None => None,
        };
        let (first, last) =
            seen.map_or((record.created, record.stored), |(first, last)| (first.first, last.last));
        Ok(Place {
            key: record.key.clone(),
            site: record.site.clone(),
            title: record.title.clone(),
            first,
            last,
            gone,
            swept: seen.is_some(),
            versions: record.version,
        })
    }
}
