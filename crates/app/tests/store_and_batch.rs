//! A store and a batch run say the same of every document: on real corpora, on random ones, exactly at the
//! threshold, and of a pair that was forged.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::Path;

use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::families::FamilyKind;
use wonbon_cluster::stream::{StreamDocument, families_of};
use wonbon_documents::Unwatched;
use wonbon_sketch::{ElementSet, Seed};
use wonbon_store::{Kind, NewDocument, Rule, SeedSource, Store, StoreError, StoreParams};
use wonbon_testkit::corpora::corpus;
use wonbon_testkit::generate::random::Random;
use wonbon_testkit::generate::{Corpus, CorpusParams, forged_pair};
use wonbon_testkit::long::{number, report};
use wonbon_testkit::postgres::shared_server;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, shingles};
use wonbon_time::Timestamp;

/// What is said of a document: its kind, its original, and how much it resembles that.
type Said = (Kind, Option<String>, Option<f64>);

#[derive(Clone, Debug)]
struct Post {
    id: String,
    created: Timestamp,
    text: String,
}

fn post(id: &str, created: i64, text: &str) -> Post {
    Post { id: id.to_owned(), created: Timestamp::from_seconds(created), text: text.to_owned() }
}

/// The parameters of a store whose features are those of a batch run.
fn published(rule: Rule) -> StoreParams {
    StoreParams { rule, seed: SeedSource::Number(0), ..StoreParams::default() }
}

fn said_by_store(posts: &[Post], params: &StoreParams) -> BTreeMap<String, Said> {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), params).unwrap();
    let mut pending = VecDeque::new();
    for post in posts {
        let document = NewDocument::text(&post.id, Some(post.created), &post.text);
        pending.push_back(store.submit(store.prepare(&document).unwrap()).unwrap());
        if pending.len() > 500 {
            pending.pop_front().unwrap().wait().unwrap();
        }
    }
    for pending in pending {
        pending.wait().unwrap();
    }
    let said = in_order(&store).into_iter().collect();
    store.close().unwrap();
    said
}

/// Every document of a store and what is said of it, in the order of arrival.
fn in_order(store: &Store) -> Vec<(String, Said)> {
    let mut all = Vec::new();
    let read: Result<(), StoreError> = store.for_each(|document| {
        let verdict = document.verdict;
        all.push((document.key, (verdict.kind, verdict.original, verdict.resemblance)));
        Ok(())
    });
    read.unwrap();
    all
}

fn said_by_batch(
    posts: &[Post],
    rule: Rule,
    engine: Engine,
    threads: usize,
) -> BTreeMap<String, Said> {
    let folder = tempfile::tempdir().unwrap();
    let config = FamilyConfig {
        rule,
        engine,
        seed: Seed::number(0),
        threads: NonZeroUsize::new(threads).unwrap(),
        ..FamilyConfig::default()
    };
    let documents: Vec<StreamDocument> = posts
        .iter()
        .map(|post| StreamDocument {
            ranking: Some(post.created.to_string()),
            ..StreamDocument::new(&post.id, &post.text)
        })
        .collect();
    let families = families_of(documents, &config, folder.path(), &Unwatched).unwrap();
    families
        .iter()
        .map(|row| {
            let row = row.unwrap();
            let copy = row.kind.is_copy();
            let said = (row.kind, copy.then_some(row.original), copy.then_some(row.resemblance));
            (row.id, said)
        })
        .collect()
}

fn first_difference(
    one: &BTreeMap<String, Said>,
    other: &BTreeMap<String, Said>,
) -> Option<String> {
    assert_eq!(one.len(), other.len());
    let differs = one.iter().find(|(id, said)| other[*id] != **said);
    differs.map(|(id, said)| format!("{id}: {said:?}, and {:?}", other[id]))
}

/// The documents of a corpus, in the order of the file.
fn posts(path: &Path) -> Vec<Post> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    zstd::stream::read::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    text.lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let created = row["created"].as_str().unwrap_or("1970-01-01");
            Post {
                id: row["id"].as_str().unwrap().to_owned(),
                created: Timestamp::parse_text(created).unwrap(),
                text: row["text"].as_str().unwrap().to_owned(),
            }
        })
        .collect()
}

/// Not in order of creation: late documents take their places.
fn agree_on(name: &str) {
    let Some(path) = corpus(name) else { return };
    let posts = posts(&path);
    let rule = Rule::default();
    let store = said_by_store(&posts, &published(rule));
    let copies = store.values().filter(|(kind, ..)| kind.is_copy()).count();
    assert!(copies > 0, "{name} has no copies to be tested by");
    let batch = said_by_batch(&posts, rule, Engine::Features, 2);
    assert_eq!(first_difference(&store, &batch), None, "{name}");
}

#[test]
fn they_agree_on_korean_petitions() {
    agree_on("ko-petitions.jsonl.zst");
}

#[test]
fn they_agree_on_korean_precedents() {
    agree_on("ko-precedents.jsonl.zst");
}

#[test]
fn they_agree_on_news() {
    agree_on("en-reuters21578.jsonl.zst");
}

#[test]
fn they_agree_on_usenet() {
    agree_on("en-usenet20news.jsonl.zst");
}

#[test]
fn they_agree_on_documentation() {
    agree_on("en-win32-api-docs.jsonl.zst");
}

/// Real documents of many kinds, in the order in which they are used.
const CORPORA: [&str; 16] = [
    "ko-petitions",
    "en-reuters21578",
    "zh-mdn",
    "ja-mdn",
    "en-usenet20news",
    "ko-precedents",
    "en-win32-api-docs",
    "labelled/ko-petition-edits",
    "labelled/ko-law-revisions",
    "labelled/en-license-texts",
    "labelled/en-kafka-html-versions",
    "labelled/en-manpages-versions",
    "labelled/en-news-plagiarism",
    "labelled/en-rfc-obsoletes",
    "labelled/en-clough-stevenson",
    "labelled/en-state-bills",
];

/// The first so many documents of all corpora; none where the corpora are not there.
fn many_posts(documents: usize) -> Option<Vec<Post>> {
    let mut all = Vec::new();
    for name in CORPORA {
        if all.len() >= documents {
            break;
        }
        let named = posts(&corpus(&format!("{name}.jsonl.zst"))?);
        all.extend(
            named.into_iter().map(|post| Post { id: format!("{name} {}", post.id), ..post }),
        );
    }
    all.truncate(documents);
    Some(all)
}

/// Stores these documents from three instances at once, each a third of them in order.
fn store_from_three(place: &Path, posts: &[Post], params: &StoreParams) -> Vec<(String, Said)> {
    let stores: Vec<Store> =
        (0..3).map(|_| Store::open_or_create(place, Some(params)).unwrap()).collect();
    std::thread::scope(|scope| {
        for (instance, store) in stores.iter().enumerate() {
            scope.spawn(move || {
                let mut pending = VecDeque::new();
                for post in posts.iter().skip(instance).step_by(3) {
                    let document = NewDocument::text(&post.id, Some(post.created), &post.text);
                    pending.push_back(store.submit(store.prepare(&document).unwrap()).unwrap());
                    if pending.len() > 50 {
                        pending.pop_front().unwrap().wait().unwrap();
                    }
                }
                pending.into_iter().for_each(|pending| drop(pending.wait().unwrap()));
            });
        }
    });
    let stored = in_order(&stores[0]);
    for store in stores {
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
        store.close().unwrap();
    }
    stored
}

/// Whatever the order in which they arrive, and wherever: documents from three instances on one PostgreSQL are what a store of
/// one process says of them, and what a batch run says. `WONBON_DOCUMENTS` and `WONBON_ORDERS` say how many; scripts/hard.sh:
/// 100,000 in five orders.
#[test]
fn three_instances_on_one_postgres_agree_in_any_order_of_arrival() {
    let Some(server) = shared_server() else { return };
    let documents = number("WONBON_DOCUMENTS", 800);
    let Some(mut posts) = many_posts(documents as usize) else { return };
    assert_eq!(posts.len() as u64, documents);
    let rule = Rule::default();
    let (orders, mut copies) = (number("WONBON_ORDERS", 1), 0);
    for order in 0..orders {
        let mut random = Random::new(2008, order, 0);
        for at in (1..posts.len()).rev() {
            posts.swap(at, random.below(at as u64 + 1) as usize);
        }
        let folder = tempfile::tempdir().unwrap();
        let place = server.address(&format!("order_{order}"), folder.path());
        let stored = store_from_three(place.as_ref(), &posts, &published(rule));
        // Of documents of one time the first that arrived comes first; three instances make an order of their own.
        let by_id: BTreeMap<&str, &Post> =
            posts.iter().map(|post| (post.id.as_str(), post)).collect();
        let arrived: Vec<Post> = stored.iter().map(|(id, _)| by_id[id.as_str()].clone()).collect();
        assert_eq!(arrived.len(), posts.len());
        let stored: BTreeMap<String, Said> = stored.into_iter().collect();
        let embedded = said_by_store(&arrived, &published(rule));
        assert_eq!(first_difference(&stored, &embedded), None, "order {order}, embedded");
        let batch = said_by_batch(&arrived, rule, Engine::Features, 2);
        assert_eq!(first_difference(&stored, &batch), None, "order {order}, batch");
        copies += stored.values().filter(|(kind, ..)| kind.is_copy()).count() as u64;
        server.psql(&format!("DROP SCHEMA order_{order} CASCADE"));
    }
    assert!(copies > 0, "copies");
    let counts = [("documents", documents * orders), ("copies", copies), ("different", 0)];
    report("documents from three instances", &counts);
}

/// Planted families, edited at random, arriving in any order; every fourth corpus by the papers' rule.
#[test]
fn they_agree_on_200_random_corpora() {
    let mut copies = 0;
    for seed in 0..200 {
        let corpus = Corpus::new(CorpusParams {
            seed,
            documents: 20 + seed % 40,
            copy_share: 0.5,
            most_changed: 0.1,
            ..CorpusParams::default()
        });
        let mut posts: Vec<Post> = corpus
            .documents()
            // Some dates are equal.
            .map(|document| {
                post(&document.number.to_string(), (document.number / 3) as i64, &document.text)
            })
            .collect();
        posts.push(post("empty", 1, "... !"));
        posts.push(post("empty too", 2, ""));
        // Any order of arrival, the same for both.
        let turn = seed as usize % posts.len();
        posts.rotate_left(turn);
        posts.swap(0, turn);
        let rule = match seed % 4 {
            0 => Rule::features(2),
            1 => Rule::Threshold(0.5),
            2 => Rule::Threshold(0.9),
            _ => Rule::default(),
        };
        let store = said_by_store(&posts, &published(rule));
        for threads in [1, 3] {
            let batch = said_by_batch(&posts, rule, Engine::Features, threads);
            assert_eq!(first_difference(&store, &batch), None, "corpus {seed}, {rule}");
        }
        copies += store.values().filter(|(kind, ..)| kind.is_copy()).count();
    }
    assert!(copies > 1000, "{copies} copies");
}

/// Words that nobody else uses, from one number to another.
fn words(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
}

/// A document of 100 shingles, and one that has `shared` of them and no others.
fn pair_of(shared: usize) -> [String; 2] {
    [words(0, 104), words(0, shared + 4)]
}

#[test]
fn exactly_at_the_threshold_is_a_copy_by_every_path() {
    for hundredths in [50, 60, 75, 80, 90, 95] {
        let threshold = hundredths as f64 / 100.0;
        let rule: Rule = format!("threshold={threshold}").parse().unwrap();
        let floor: Rule = format!("1of6,floor={threshold}").parse().unwrap();
        for (shared, copy) in [(hundredths, true), (hundredths - 1, false)] {
            let [long, short] = pair_of(shared);
            let set = |text: &str| ElementSet::new(shingles(text, DEFAULT_SHINGLE_WORDS));
            assert_eq!(set(&long).resemblance(&set(&short)), shared as f64 / 100.0);
            let kind = if copy { Kind::Copy } else { Kind::Original };
            let said = |posts: &[Post], rule| said_by_store(posts, &published(rule));

            let in_order = [post("long", 1, &long), post("short", 2, &short)];
            let late = [post("short", 2, &short), post("long", 1, &long)];
            let turned = [post("short", 1, &short), post("long", 2, &long)];
            for (posts, second) in [(&in_order, "short"), (&late, "short"), (&turned, "long")] {
                let expected = said(posts, rule);
                assert_eq!(expected[second].0, kind, "store, {shared} of 100 by {rule}");
                for engine in [Engine::Exact, Engine::Features, Engine::Auto] {
                    for threads in [1, 2] {
                        let batch = said_by_batch(posts, rule, engine, threads);
                        assert_eq!(first_difference(&expected, &batch), None, "{engine:?}, {rule}");
                    }
                }
                // Whether one feature of fourteen min-values agrees is chance; the floor decides among those.
                let by_features = said(posts, floor);
                let batch = said_by_batch(posts, floor, Engine::Features, 1);
                assert_eq!(first_difference(&by_features, &batch), None, "{floor}");
                assert!(copy || by_features[second].0 == Kind::Original, "{floor}");
            }
            linked_families_agree(&in_order, rule, kind);
            questions_and_edits_agree(&long, &short, rule, kind);
        }
    }
}

fn linked_families_agree(posts: &[Post], rule: Rule, kind: Kind) {
    for engine in [Engine::Exact, Engine::Features] {
        let folder = tempfile::tempdir().unwrap();
        let config =
            FamilyConfig { rule, engine, family: FamilyKind::Linked, ..FamilyConfig::default() };
        let documents: Vec<StreamDocument> =
            posts.iter().map(|post| StreamDocument::new(&post.id, &post.text)).collect();
        let families = families_of(documents, &config, folder.path(), &Unwatched).unwrap();
        let last = families.iter().last().unwrap().unwrap();
        assert_eq!(last.kind, kind, "linked, {engine:?}, {rule}");
    }
}

/// A check, an edit that makes a copy of an original, and an edit that makes an original of a copy.
fn questions_and_edits_agree(long: &str, short: &str, rule: Rule, kind: Kind) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &published(rule)).unwrap();
    let at = |seconds| Some(Timestamp::from_seconds(seconds));
    store.add(&NewDocument::text("long", at(1), long)).unwrap();
    let asked = NewDocument::text("short", at(2), short);
    assert_eq!(store.check(&asked).unwrap().kind, kind, "check, {rule}");
    store.add(&NewDocument::text("short", at(2), "something else altogether")).unwrap();
    assert_eq!(store.add(&asked).unwrap().verdict.kind, kind, "edit, {rule}");
    let away = NewDocument::text("long", at(1), "no longer what it was, not at all");
    store.add(&away).unwrap();
    assert_eq!(store.get("short").unwrap().unwrap().verdict.kind, Kind::Original);
    store.add(&NewDocument::text("long", at(1), long)).unwrap();
    assert_eq!(store.get("short").unwrap().unwrap().verdict.kind, kind, "edited back, {rule}");
    store.delete("long").unwrap();
    assert_eq!(store.get("short").unwrap().unwrap().verdict.kind, Kind::Original);
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
}

#[test]
fn a_forged_pair_stays_two_originals_under_every_default() {
    let unverified = Rule::Features { needed: 2, floor: 0.0 };
    let maker = published(unverified).feature_maker().unwrap();
    let (victim, forgery) = forged_pair(&maker, 2);
    let set = |text: &str| ElementSet::new(shingles(text, DEFAULT_SHINGLE_WORDS));
    let resemblance = set(&victim).resemblance(&set(&forgery));
    assert!(resemblance < 0.06, "{resemblance}");
    // The forgery claims to be older.
    let posts = [post("victim", 2, &victim), post("forgery", 1, &forgery)];
    let kinds = |said: BTreeMap<String, Said>| [said["victim"].0, said["forgery"].0];

    // It does what it was made for where nothing is verified and the seed is known.
    let lost = [Kind::Copy, Kind::Original];
    assert_eq!(kinds(said_by_store(&posts, &published(unverified))), lost);
    assert_eq!(kinds(said_by_batch(&posts, unverified, Engine::Auto, 1)), lost);

    let two = [Kind::Original; 2];
    let by_name: Rule = "2of6".parse().unwrap();
    assert_eq!(kinds(said_by_store(&posts, &StoreParams::default())), two);
    for rule in [Rule::default(), by_name] {
        assert_eq!(kinds(said_by_store(&posts, &published(rule))), two, "{rule}");
        assert_eq!(
            kinds(said_by_store(&posts, &StoreParams { rule, ..StoreParams::default() })),
            two
        );
        assert_eq!(kinds(said_by_batch(&posts, rule, Engine::Auto, 1)), two, "{rule}");
    }
    // A secret seed is enough by itself: nobody knows which shingles to repeat.
    let secret = StoreParams { rule: unverified, ..StoreParams::default() };
    assert_eq!(kinds(said_by_store(&posts, &secret)), two);
}

/// On the published truth: no pair from the threshold up is left as two originals.
#[test]
fn a_default_store_leaves_no_true_pair_as_two_originals() {
    let mut pairs = 0;
    for name in ["ko-petitions", "ko-precedents", "en-reuters21578", "en-usenet20news"] {
        let Some(truth) = corpus(&format!("truth/{name}.w5.tsv")) else { continue };
        let Some(path) = corpus(&format!("{name}.jsonl.zst")) else { continue };
        let posts = posts(&path);
        let by_id: BTreeMap<&str, &Post> =
            posts.iter().map(|post| (post.id.as_str(), post)).collect();
        // Secrets, as a default store has, but the same in every run of the test.
        for secret in [[1; 16], [2; 16]] {
            let params = StoreParams { seed: SeedSource::Secret(secret), ..StoreParams::default() };
            let said = said_by_store(&posts, &params);
            for line in std::fs::read_to_string(&truth).unwrap().lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                let set =
                    |id: &str| ElementSet::new(shingles(&by_id[id].text, DEFAULT_SHINGLE_WORDS));
                if fields[2].parse::<f64>().is_ok_and(|value| value < 0.78)
                    || set(fields[0]).resemblance(&set(fields[1])) < 0.8
                {
                    continue;
                }
                pairs += 1;
                let both = [fields[0], fields[1]].map(|id| said[id].0 == Kind::Original);
                assert_ne!(both, [true, true], "{name}: {line}");
            }
        }
    }
    assert!(pairs == 0 || pairs > 1000, "{pairs} pairs");
}
