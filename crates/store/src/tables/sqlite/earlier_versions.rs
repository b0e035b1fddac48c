//! Stores of every released version of the tables open, keep their rule and answer as before.
//!
//! The databases are built here from the released SQL, with rows as the programs of that time wrote them:
//! the fingerprints of contents, sets and rows below are copies of the functions of that time, so that a
//! change of today's functions cannot change both sides of the comparison.

use std::num::NonZeroUsize;
use std::path::Path;

use rusqlite::{Connection, params};
use wonbon_sketch::rabin::RABIN_64;
use wonbon_sketch::{ElementSet, FeatureMaker, FeatureParams, Seed, finalise};
use wonbon_text::shingles::Shingler;
use wonbon_time::{Dates, Timestamp};

use super::schema::{APPLICATION_ID, MIGRATIONS, SCHEMA, SCHEMA_VERSION};
use crate::{Decision, Kind, NewDocument, Page, Query, SeedSource, Store, StoreError};

/// The parameters that a store of that time was made with.
#[derive(Clone, Copy)]
pub(super) struct OldParams {
    rule: &'static str,
    features: usize,
    min_values: usize,
    agreeing: usize,
    seed: u64,
}

const TWO_OF_SIX: OldParams =
    OldParams { rule: "2of6", features: 6, min_values: 14, agreeing: 2, seed: 0 };
pub(super) const THRESHOLD: OldParams =
    OldParams { rule: "threshold=0.8", features: 12, min_values: 5, agreeing: 1, seed: 7 };

/// A document as it was stored.
struct OldDocument {
    row: i64,
    key: &'static str,
    created: i64,
    stored: i64,
    version: i64,
    title: Option<&'static str>,
    text: String,
    kind: i64,
    original: Option<i64>,
    /// What was decided of it, and the entry of the log (version 3).
    decision: Option<(i64, i64)>,
}

fn sentence(topic: &str, words: usize) -> String {
    (0..words).map(|at| format!("{topic}{}", at * 7919 % 1000)).collect::<Vec<_>>().join(" ")
}

/// An original with a near copy, one of the same words and one of the same bytes; a document without
/// words; an original with an earlier version; two documents that were once a pair.
fn documents() -> Vec<OldDocument> {
    let plain = |row, key, created, text: &str, kind, original| OldDocument {
        row,
        key,
        created,
        stored: 1_000_000 + row,
        version: 1,
        title: None,
        text: text.to_owned(),
        kind,
        original,
        decision: None,
    };
    let first = sentence("goat", 400);
    vec![
        OldDocument {
            title: Some("The goat"),
            ..plain(1, "https://a.example/goat", 100, &first, 0, None)
        },
        plain(2, "near", 200, &format!("{first} and a little more"), 1, Some(1)),
        plain(3, "same words", 300, &first.to_uppercase(), 3, Some(1)),
        plain(4, "same bytes", 400, &first, 2, Some(1)),
        plain(5, "nothing", 50, "…", 5, None),
        OldDocument { version: 2, ..plain(6, "edited", 60, &sentence("ferry", 90), 0, None) },
        plain(7, "alone", 70, &sentence("quay", 120), 0, None),
    ]
}

/// The text of the first version of document 6.
fn earlier_text() -> String {
    sentence("ferry", 80)
}

fn fingerprint_content(bytes: &[u8]) -> Vec<u8> {
    let second = bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        finalise(hash ^ u64::from_le_bytes(word)).rotate_left(29)
    });
    [RABIN_64.fingerprint(bytes).to_le_bytes(), second.to_le_bytes()].concat()
}

fn set_name(set: &ElementSet) -> u64 {
    let start = set.len() as u64;
    set.as_slice().iter().fold(start, |hash, &shingle| finalise(hash.rotate_left(17) ^ shingle))
}

/// Shingles, words, and the name of the words in their order.
fn shingles(text: &str) -> (ElementSet, u64, u64) {
    let mut all = Vec::new();
    let mut shingler = Shingler::new(NonZeroUsize::new(5).unwrap());
    let count = shingler.for_each_chunk(text, |chunk| all.extend_from_slice(chunk));
    (ElementSet::new(all), count.words, count.normal_form_hash)
}

fn features(text: &str, params: OldParams) -> Vec<u64> {
    let seed = Seed::number(params.seed);
    let params = FeatureParams { groups: params.features, group_size: params.min_values, seed };
    let maker = FeatureMaker::new(params).unwrap();
    maker.features(shingles(text).0.as_slice()).values().to_vec()
}

fn features_bytes(row: i64, features: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = features.iter().flat_map(|feature| feature.to_le_bytes()).collect();
    let with_row = [bytes.as_slice(), &(row as u32).to_le_bytes()].concat();
    bytes.extend_from_slice(&RABIN_64.fingerprint(&with_row).to_le_bytes());
    bytes
}

fn compress(text: &str) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::new(1).unwrap();
    compressor.include_checksum(true).unwrap();
    compressor.compress(text.as_bytes()).unwrap()
}

/// Writes a document's row and text into tables of any version.
fn insert(connection: &Connection, document: &OldDocument, old: OldParams) {
    let OldDocument { row, key, created, stored, version, title, kind, original, .. } = document;
    let text = document.text.as_str();
    let (set, words, text_name) = shingles(text);
    let own = features(text, old);
    let all = documents();
    let of_original = original.map(|original| &all[original as usize - 1].text);
    let agreeing = of_original.map(|text| {
        features(text, old).iter().zip(&own).filter(|(one, other)| one == other).count() as i64
    });
    let resemblance = of_original
        .filter(|_| old.rule.starts_with("threshold"))
        .map(|text| set.resemblance(&shingles(text).0));
    let content = fingerprint_content(text.as_bytes());
    let (url, author, language) = (None::<&str>, None::<&str>, None::<&str>);
    let site = key.starts_with("https").then_some("a.example");

    let mut bytes = Vec::new();
    for field in [Some(*key), url, site, author, *title, language] {
        bytes.extend_from_slice(&field.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(field.unwrap_or_default().as_bytes());
    }
    for number in [
        *row,
        *created,
        *stored,
        *version,
        words as i64,
        text_name as i64,
        set_name(&set) as i64,
        *kind,
        original.unwrap_or(-1),
        agreeing.unwrap_or(-1),
        resemblance.map_or(-1, |resemblance: f64| resemblance.to_bits() as i64),
    ] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&content);
    bytes.extend(own.iter().flat_map(|feature| feature.to_le_bytes()));
    if let Some((decision, entry)) = document.decision {
        bytes.extend_from_slice(&entry.to_le_bytes());
        bytes.extend_from_slice(&decision.to_le_bytes());
    }
    let sql = "INSERT INTO documents (row, key, created, stored, version, url, site, author, title, \
        language, words, content_name, text_name, shingle_set_name, features, kind, original, \
        features_equal, resemblance, fingerprint) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
        ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)";
    connection
        .execute(
            sql,
            params![
                row,
                key,
                created,
                stored,
                version,
                url,
                site,
                author,
                title,
                language,
                words as i64,
                content,
                text_name as i64,
                set_name(&set) as i64,
                features_bytes(*row, &own),
                kind,
                original,
                agreeing,
                resemblance,
                RABIN_64.fingerprint(&bytes) as i64,
            ],
        )
        .unwrap();
    connection
        .execute("INSERT INTO texts (row, text) VALUES (?1, ?2)", params![row, compress(text)])
        .unwrap();
    connection.execute("INSERT INTO changes (change, row) VALUES (?1, ?1)", [row]).unwrap();
}

/// A store as a program with tables of this version left it.
pub(super) fn build_store(directory: &Path, version: usize, old: OldParams) {
    let connection = Connection::open(directory.join("documents.sqlite")).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for migration in &MIGRATIONS[..version - 1] {
        connection.execute_batch(migration).unwrap();
    }
    for (name, value) in [
        ("rule", old.rule.to_owned()),
        ("shingle words", "5".to_owned()),
        ("seed", format!("number {}", old.seed)),
        ("features", old.features.to_string()),
        ("min-values in a feature", old.min_values.to_string()),
        ("features that must agree", old.agreeing.to_string()),
        ("normal form version", "1".to_owned()),
        ("shingle hash version", "1".to_owned()),
        ("identity", "0123456789abcdef".to_owned()),
        ("changes forgotten", "0".to_owned()),
    ] {
        let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2)";
        connection.execute(sql, (name, value)).unwrap();
    }
    for document in documents() {
        let decided = version >= 3 && document.key == "alone";
        let document = OldDocument { decision: decided.then_some((1, 1)), ..document };
        insert(&connection, &document, old);
        if decided {
            decide(&connection, &document);
        }
    }
    let earlier = earlier_text();
    let sql = "INSERT INTO versions (row, version, created, stored, title, text) \
               VALUES (6, 1, 60, 900000, NULL, ?1)";
    connection.execute(sql, [compress(&earlier)]).unwrap();
    if version >= 2 {
        see(&connection);
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection.pragma_update(None, "user_version", version as i64).unwrap();
}

/// From version 2 on: a sweep saw the first document, and an address that leads to it.
fn see(connection: &Connection) {
    let (sweep, key, target) = (5000_i64, "https://a.example/old", "https://a.example/goat");
    let bytes: Vec<u8> = [1, sweep, sweep, 1].iter().flat_map(|n: &i64| n.to_le_bytes()).collect();
    let sighting = RABIN_64.fingerprint(&bytes) as i64;
    let mut bytes = (key.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(key.as_bytes());
    bytes.extend_from_slice(&sweep.to_le_bytes());
    bytes.extend_from_slice(target.as_bytes());
    let redirect = RABIN_64.fingerprint(&bytes) as i64;
    connection.execute("INSERT INTO sweeps (sweep) VALUES (?1)", [sweep]).unwrap();
    connection.execute("INSERT INTO site_sweeps VALUES ('a.example', ?1)", [sweep]).unwrap();
    let sql = "INSERT INTO sightings (row, first, last, version, fingerprint) \
               VALUES (1, ?1, ?1, 1, ?2)";
    connection.execute(sql, [sweep, sighting]).unwrap();
    let sql = "INSERT INTO redirects (key, sweep, target, fingerprint) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![key, sweep, target, redirect]).unwrap();
}

/// From version 3 on: it was decided that a document is not a copy.
fn decide(connection: &Connection, document: &OldDocument) {
    let (decision, entry) = document.decision.unwrap();
    let sql = "UPDATE documents SET decision = ?2, decision_entry = ?3 WHERE row = ?1";
    connection.execute(sql, params![document.row, decision, entry]).unwrap();
    let mut bytes = Vec::new();
    for text in [Some("local"), Some(document.key), None] {
        bytes.extend_from_slice(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
    }
    for number in [entry, 2_000_000, 0, -1, decision, -1] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let sql = "INSERT INTO decisions (entry, time, who, what, key, effect_after, fingerprint) \
               VALUES (?1, 2000000, 'local', 0, ?2, ?3, ?4)";
    let fingerprint = RABIN_64.fingerprint(&bytes) as i64;
    connection.execute(sql, params![entry, document.key, decision, fingerprint]).unwrap();
}

fn meta(directory: &Path, name: &str) -> String {
    let connection = Connection::open(directory.join("documents.sqlite")).unwrap();
    let sql = "SELECT value FROM meta WHERE name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).unwrap()
}

#[test]
fn stores_of_every_earlier_version_open_and_answer_as_before() {
    for version in 1..SCHEMA_VERSION as usize {
        for old in [TWO_OF_SIX, THRESHOLD] {
            let directory = tempfile::tempdir().unwrap();
            build_store(directory.path(), version, old);
            let what = format!("tables of version {version}, {}", old.rule);

            // Who only reads cannot bring the tables up, and says what does.
            let refused = Store::open_read_only(directory.path()).unwrap_err();
            assert!(
                matches!(&refused, StoreError::OlderTables { stored, known, .. }
                    if *stored == version as i32 && *known == SCHEMA_VERSION),
                "{what}: {refused}"
            );
            let store = Store::open(directory.path()).unwrap();
            store.catch_up().unwrap();
            assert_eq!(store.params().seed, SeedSource::Number(old.seed), "{what}");
            assert_answers(&store, version, &what);
            let verified = store.verify().unwrap();
            assert_eq!((verified.documents, verified.first), (7, Vec::new()), "{what}");

            // Documents that come now are decided by the rule it was made with.
            let text = format!("{} or less", documents()[0].text);
            let published = Some(Timestamp::from_microseconds(5));
            let created = Some(Timestamp::from_microseconds(500));
            let new = NewDocument { published, ..NewDocument::text("new", created, &text) };
            let added = store.add(&new).unwrap();
            assert_eq!(added.verdict.kind, Kind::Copy, "{what}");
            assert_eq!(added.verdict.original.as_deref(), Some("https://a.example/goat"));
            store.close().unwrap();
            for (name, value) in [
                ("rule", old.rule.to_owned()),
                ("seed", format!("number {}", old.seed)),
                ("features", old.features.to_string()),
            ] {
                assert_eq!(meta(directory.path(), name), value, "{what}");
            }
            let store = Store::open_read_only(directory.path()).unwrap();
            assert_eq!(store.params().dates, Dates::Created, "{what}");
            assert_eq!(store.get("new").unwrap().unwrap().published, published, "{what}");
            assert_answers(&store, version, &what);
            assert_eq!(store.verify().unwrap().first, Vec::<String>::new(), "{what}");
        }
    }
}

pub(super) fn assert_answers(store: &Store, version: usize, what: &str) {
    for document in documents() {
        let found = store.get(document.key).unwrap().unwrap();
        assert_eq!(found.text, document.text, "{what}");
        let times = (found.created.as_microseconds(), found.stored.as_microseconds());
        assert_eq!(times, (document.created, document.stored), "{what}");
        assert_eq!(found.published, None, "{what}");
        assert_eq!(i64::from(found.version), document.version, "{what}");
        assert_eq!(found.verdict.kind, Kind::ALL[document.kind as usize], "{what}");
        assert_eq!(found.title.as_deref(), document.title, "{what}");
        let original = document.original.map(|_| "https://a.example/goat");
        assert_eq!(found.verdict.original.as_deref(), original, "{what}");
        let decision = (version >= 3 && document.key == "alone").then_some(Decision::NotACopy);
        assert_eq!(found.decision, decision, "{what}");

        let check = NewDocument::text(document.key, None, &document.text);
        assert_eq!(store.check(&check).unwrap().kind, found.verdict.kind, "{what}");
    }
    let families = store.families(None, 10).unwrap();
    assert_eq!(families.total, 1, "{what}");
    assert_eq!(families.families[0].original.key, "https://a.example/goat", "{what}");

    let fresh = store.check(&NewDocument::text("x", None, &sentence("other", 50))).unwrap();
    assert_eq!(fresh.kind, Kind::Original, "{what}");
    let history = store.history("edited", None).unwrap().unwrap();
    let words: Vec<u64> = history.versions.iter().map(|version| version.words).collect();
    assert_eq!(words, [80, 90], "{what}");
    let sightings = store.sightings("https://a.example/goat").unwrap();
    assert_eq!(sightings.len(), usize::from(version >= 2), "{what}");
    let decisions = store.decisions(None, None, 10).unwrap();
    assert_eq!(decisions.len(), usize::from(version >= 3), "{what}");
    let page = Page { offset: 0, limit: 10 };
    let results = store.search(&Query::parse("quay0").unwrap(), page).unwrap().results;
    let found: Vec<&str> = results.iter().map(|result| result.document.key.as_str()).collect();
    assert_eq!(found, ["alone"], "{what}");
}

#[test]
fn a_store_of_a_later_version_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    build_store(directory.path(), 1, TWO_OF_SIX);
    let connection = Connection::open(directory.path().join("documents.sqlite")).unwrap();
    connection.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    drop(connection);
    for opened in [Store::open(directory.path()), Store::open_read_only(directory.path())] {
        let refused = opened.unwrap_err();
        let path = directory.path().join("documents.sqlite");
        assert_eq!(
            refused.to_string(),
            format!(
                "the store at {} has tables of version {}; this program knows them up to version \
                 {SCHEMA_VERSION}",
                path.display(),
                SCHEMA_VERSION + 1
            )
        );
    }
}

/// A released migration that is edited would leave stores with tables that no program knows.
#[test]
fn released_sql_is_as_it_was_released() {
    let fingerprints: Vec<u64> = std::iter::once(&SCHEMA)
        .chain(&MIGRATIONS)
        .map(|sql| RABIN_64.fingerprint(sql.as_bytes()))
        .collect();
    assert_eq!(
        fingerprints,
        [
            0xda6d_971c_57f0_13e9,
            0x3cc8_f08f_0142_e221,
            0xaced_db44_70b8_7a26,
            0x2b9a_05c7_fcd3_f340,
        ]
    );
}
