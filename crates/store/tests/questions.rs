//! Questions about texts: against looking at every document, and against the truth of real corpora.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "clippy sees no test in what tests call"
)]

#[path = "support/mod.rs"]
mod support;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use wonbon_sketch::ElementSet;
use wonbon_store::{
    MOST_ASKED_BYTES, Measure, NewDocument, Question, SeedSource, SourcesQuestion, Store,
    StoreError, StoreParams,
};
use wonbon_testkit::corpora::corpus;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, shingles};
use wonbon_text::words::for_each_word;
use wonbon_time::Timestamp;

fn words(text: &str) -> usize {
    let mut count = 0;
    for_each_word(text, |_| count += 1);
    count
}

fn set(text: &str) -> ElementSet {
    ElementSet::new(shingles(text, DEFAULT_SHINGLE_WORDS))
}

fn read(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "zst") {
        zstd::stream::read::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    } else {
        std::io::BufReader::new(file).read_to_string(&mut text).unwrap();
    }
    text
}

/// Id and text of each document of a corpus.
fn texts(path: &Path) -> BTreeMap<String, String> {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["id"].as_str().unwrap().to_owned(), row["text"].as_str().unwrap().to_owned())
    };
    read(path).lines().map(row).collect()
}

fn filled<'a>(
    directory: &Path,
    documents: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Store {
    let store = Store::create(directory, &StoreParams::default()).unwrap();
    let pending: Vec<_> = documents
        .into_iter()
        .map(|(id, text)| {
            store
                .submit(
                    store
                        .prepare(&NewDocument::text(
                            id,
                            Some(Timestamp::from_microseconds(1)),
                            text,
                        ))
                        .unwrap(),
                )
                .unwrap()
        })
        .collect();
    for pending in pending {
        pending.wait().unwrap();
    }
    store
}

/// Pairs of a truth file.
fn truth(name: &str) -> Option<Vec<(String, String)>> {
    let path = corpus(&format!("truth/{name}.tsv"))?;
    let pair = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        (fields.next().unwrap(), fields.next().unwrap())
    };
    Some(read(&path).lines().map(pair).collect())
}

/// Everything that is found for some texts: keys, and how the estimates lay.
struct Asked {
    found: HashMap<String, HashSet<String>>,
    estimates: usize,
    off: usize,
}

fn ask_all<'a>(
    store: &Store,
    texts: &BTreeMap<String, String>,
    ids: impl IntoIterator<Item = &'a String>,
    question: &Question,
) -> Asked {
    let mut asked = Asked { found: HashMap::new(), estimates: 0, off: 0 };
    for id in ids {
        if asked.found.contains_key(id) {
            continue;
        }
        let mine = set(&texts[id]);
        let answer = store.ask(&texts[id], question).unwrap();
        let mut keys = HashSet::new();
        for found in answer.matches {
            let overlap = mine.overlap(&set(&found.document.text));
            assert_eq!(overlap, found.overlap);
            let exact = question.measure.of(&overlap);
            assert!(exact >= question.min, "{id}: {exact}");
            if found.estimate.samples > 0 {
                asked.estimates += 1;
                let error = (found.estimate.value - exact).abs();
                asked.off += usize::from(error > 2.0 * found.estimate.standard_error + 1e-9);
            }
            keys.insert(found.document.key);
        }
        asked.found.insert(id.clone(), keys);
    }
    asked
}

const CORPORA: [&str; 4] = ["en-usenet20news", "ko-petitions", "ko-precedents", "en-reuters21578"];

#[test]
fn what_the_truth_files_list_is_found() {
    if support::leaves_out_large_corpora() {
        return;
    }
    let (mut contained, mut contained_found) = (0, 0);
    let (mut long, mut long_found) = (0, 0);
    let (mut alike, mut alike_found) = (0, 0);
    for name in CORPORA {
        let Some(path) = corpus(&format!("{name}.jsonl.zst")) else { return };
        let (Some(contain), Some(pairs)) =
            (truth(&format!("{name}.w5.contain")), truth(&format!("{name}.w5")))
        else {
            return;
        };
        let texts = texts(&path);
        let directory = support::place();
        let store = filled(directory.path(), &texts);

        let within = Question { measure: Measure::Within, min: 0.7, limit: 1000 };
        let asked = ask_all(&store, &texts, contain.iter().map(|(small, _)| small), &within);
        let (mut all, mut found) = (0, 0);
        for (small, large) in &contain {
            // The truth's normal form differs from ours in a few characters: only what is true of
            // the exact sets is asked for.
            if set(&texts[small]).containment_in(&set(&texts[large])) < within.min {
                continue;
            }
            let hit = usize::from(asked.found[small].contains(large));
            all += 1;
            found += hit;
            if words(&texts[small]) >= 100 {
                long += 1;
                long_found += hit;
            }
        }
        eprintln!("{name}: within finds {found} of {all}");
        contained += all;
        contained_found += found;

        let similar = Question { measure: Measure::Resemblance, min: 0.5, limit: 2000 };
        let resembling = ask_all(&store, &texts, pairs.iter().map(|(a, _)| a), &similar);
        let (mut all, mut found) = (0, 0);
        for (a, b) in &pairs {
            if set(&texts[a]).resemblance(&set(&texts[b])) >= similar.min {
                all += 1;
                found += usize::from(resembling.found[a].contains(b));
            }
        }
        eprintln!("{name}: similar finds {found} of {all}");
        alike += all;
        alike_found += found;
        for (what, asked) in [("within", &asked), ("similar", &resembling)] {
            eprintln!(
                "{name}: {what}: {} of {} estimates lie beyond two standard errors",
                asked.off, asked.estimates
            );
            // Two standard errors hold 95 of 100.
            assert!(asked.off * 100 <= asked.estimates * 6 + 300, "{name}, {what}");
        }
    }
    let share = |found: usize, all: usize| found as f64 / all as f64;
    eprintln!(
        "within: {contained_found} of {contained}, of at least 100 words {long_found} of {long}; \
         similar: {alike_found} of {alike}"
    );
    assert!(share(contained_found, contained) >= 0.85);
    assert!(share(long_found, long) >= 0.97);
    assert!(share(alike_found, alike) >= 0.98);
}

#[test]
fn edited_petitions_are_found_by_kind_of_edit() {
    let Some(path) = corpus("labelled/ko-petition-edits.jsonl.zst") else { return };
    let Some(pairs) = corpus("labelled/ko-petition-edits.pairs.tsv") else { return };
    let texts = texts(&path);
    let directory = support::place();
    let store = filled(directory.path(), &texts);
    let mut kinds: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for line in read(&pairs).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let (original, edited, kind) = (fields[0], fields[1], fields[2]);
        let row = kinds.entry(kind.to_owned()).or_default();
        row[0] += 1;
        let questions = [
            (edited, original, Measure::Resemblance, 0.3),
            (edited, original, Measure::Within, 0.5),
            (original, edited, Measure::Within, 0.5),
        ];
        for (place, (asked, wanted, measure, min)) in questions.into_iter().enumerate() {
            let question = Question { measure, min, limit: 100 };
            let answer = store.ask(&texts[asked], &question).unwrap();
            let found = answer.matches.iter().any(|found| found.document.key == wanted);
            let exact = measure.of(&set(&texts[asked]).overlap(&set(&texts[wanted])));
            // Nothing that is there by the exact sets may be missed.
            assert!(found || exact < min, "{asked} and {wanted}: {exact}");
            row[place + 1] += usize::from(found);
        }
    }
    eprintln!("kind: pairs, similar, edited within original, original within edited");
    for (kind, row) in &kinds {
        eprintln!("{kind}: {row:?}");
    }
    // The kinds made for containment are found by it, each in its direction.
    assert!(kinds["excerpt"][2] * 100 >= kinds["excerpt"][0] * 97);
    assert!(kinds["host"][3] * 100 >= kinds["host"][0] * 97);
}

/// Texts of words of a small vocabulary that quote each other.
fn small_texts() -> impl Strategy<Value = Vec<String>> {
    let passage = prop::collection::vec(0..40u32, 1..30);
    let library = prop::collection::vec(passage, 3..6);
    (library, prop::collection::vec(prop::collection::vec(0..6usize, 1..6), 1..25)).prop_map(
        |(library, texts)| {
            let words = |passage: &Vec<u32>| {
                passage.iter().map(|word| format!("word{word}")).collect::<Vec<_>>().join(" ")
            };
            texts
                .into_iter()
                .map(|parts| {
                    let parts = parts.into_iter().map(|part| words(&library[part % library.len()]));
                    parts.collect::<Vec<_>>().join(" ")
                })
                .collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(support::cases(24)))]

    /// Short documents are kept whole: then the answer is exactly that of looking at all of them,
    /// after edits and deletes, in a store that is open and in one that was opened again.
    #[test]
    fn short_documents_are_answered_as_by_looking_at_all(
        texts in small_texts(),
        edited in small_texts(),
        deleted in prop::collection::vec(0..25usize, 0..6),
        min in 0.05..1.0f64,
    ) {
        let directory = support::place();
        let params = StoreParams { seed: SeedSource::Secret([7; 16]), ..StoreParams::default() };
        let store = Store::create(directory.path(), &params).unwrap();
        let mut known: BTreeMap<String, (Timestamp, String)> = BTreeMap::new();
        for (place, text) in (0..).zip(texts.iter().chain(&edited)) {
            let key = format!("k{}", place % texts.len() as i64);
            store.add(&NewDocument::text(&key, Some(Timestamp::from_microseconds(place)), text)).unwrap();
            known.insert(key, (Timestamp::from_microseconds(place), text.clone()));
        }
        for place in deleted {
            let key = format!("k{place}");
            prop_assert_eq!(store.delete(&key).unwrap(), known.remove(&key).is_some());
        }
        let check = |store: &Store| -> Result<(), TestCaseError> {
            for measure in [Measure::Resemblance, Measure::Within, Measure::Contains] {
                for text in texts.iter().take(3) {
                    let mine = set(text);
                    if mine.is_empty() {
                        continue;
                    }
                    let mut expected: Vec<(f64, Timestamp, String)> = known
                        .iter()
                        .map(|(key, (created, text))| {
                            (measure.of(&mine.overlap(&set(text))), *created, key.clone())
                        })
                        .filter(|(value, ..)| *value > 0.0 && *value >= min)
                        .collect();
                    expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    let answer = store.ask(text, &Question { measure, min, limit: 50 }).unwrap();
                    let answered: Vec<(f64, Timestamp, String)> = answer
                        .matches
                        .into_iter()
                        .map(|found| {
                            (measure.of(&found.overlap), found.document.created, found.document.key)
                        })
                        .collect();
                    prop_assert_eq!(answered, expected);
                    prop_assert!(answer.complete);
                }
            }
            Ok(())
        };
        check(&store)?;
        let reader = Store::open_read_only(directory.path()).unwrap();
        check(&reader)?;
        store.close().unwrap();
        check(&Store::open(directory.path()).unwrap())?;
        prop_assert_eq!(Store::open(directory.path()).unwrap().verify().unwrap().first, Vec::<String>::new());
    }
}

fn made_up(from: usize, words: usize) -> String {
    let word = |n: usize| format!("w{}", wonbon_sketch::finalise(n as u64) % 1_000_000);
    (from..from + words).map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_quotation_in_a_long_post_is_found_in_both_directions() {
    let directory = support::place();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    for place in 0..200 {
        let text = made_up(10_000 * place, 3000);
        store
            .add(&NewDocument::text(
                &format!("post {place}"),
                Some(Timestamp::from_microseconds(1)),
                &text,
            ))
            .unwrap();
    }
    for place in 0..200 {
        // Ten to sixty words from the middle of a post of three thousand.
        let quotation = made_up(10_000 * place + 1234, 10 + place % 50);
        let within = Question { measure: Measure::Within, min: 0.9, limit: 10 };
        // Short ones need the search index.
        store.catch_up().unwrap();
        let answer = store.ask(&quotation, &within).unwrap();
        assert_eq!(answer.matches.len(), 1, "quotation {place}");
        assert_eq!(answer.matches[0].document.key, format!("post {place}"));

        let key = format!("quotation {place}");
        store
            .add(&NewDocument::text(&key, Some(Timestamp::from_microseconds(2)), &quotation))
            .unwrap();
        let contains = Question { measure: Measure::Contains, min: 0.9, limit: 10 };
        let answer = store.ask(&made_up(10_000 * place, 3000), &contains).unwrap();
        let keys: Vec<&str> =
            answer.matches.iter().map(|found| found.document.key.as_str()).collect();
        assert_eq!(keys, [format!("post {place}"), key]);
    }
}

#[test]
fn a_text_made_of_parts_names_its_sources_and_what_is_new() {
    let directory = support::place();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    for place in 0..50 {
        let text = made_up(10_000 * place, 500);
        store
            .add(&NewDocument::text(
                &format!("post {place}"),
                Some(Timestamp::from_microseconds(place as i64)),
                &text,
            ))
            .unwrap();
    }
    // A later copy of post 7 explains as much, and is not the source.
    store
        .add(&NewDocument::text(
            "scrap",
            Some(Timestamp::from_microseconds(99)),
            &made_up(70_000, 500),
        ))
        .unwrap();
    let parts = [
        made_up(70_100, 80),
        made_up(990_000, 30),
        made_up(30_400, 60),
        made_up(70_000, 40),
        made_up(990_100, 20),
    ];
    let text = parts.join(". ");
    let answer = store.sources(&text, &SourcesQuestion::default()).unwrap();
    let named: Vec<(&str, usize, usize)> = answer
        .sources
        .iter()
        .map(|source| (source.document.key.as_str(), source.words, source.passages.len()))
        .collect();
    assert_eq!(named, [("post 7", 120, 2), ("post 3", 60, 1)]);
    let first = &answer.sources[0];
    for passage in &first.passages {
        assert_eq!(
            &text[passage.place.clone()],
            &first.document.text[passage.source_place.clone()]
        );
    }
    assert_eq!(first.passages[0].words, 0..80);
    assert_eq!(&text[answer.sources[1].passages[0].place.clone()], parts[2]);
    let unexplained: Vec<&str> =
        answer.unexplained.iter().map(|part| &text[part.place.clone()]).collect();
    assert_eq!(unexplained, [parts[1].as_str(), parts[4].as_str()]);
    assert_eq!((answer.words, answer.explained), (230, 180));
    // The fewest: one that explains everything is enough.
    let whole = store.sources(&made_up(200_000, 300), &SourcesQuestion::default()).unwrap();
    assert_eq!(whole.sources.len(), 1);
    assert!(whole.unexplained.is_empty());
}

#[test]
fn what_cannot_be_asked_is_told_in_a_sentence() {
    let directory = support::place();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    let question = Question { measure: Measure::Within, min: 0.5, limit: 10 };
    assert!(matches!(store.ask(" ...!\n", &question), Err(StoreError::NoWords)));
    let long = "word ".repeat(MOST_ASKED_BYTES / 5 + 1);
    let error = store.ask(&long, &question).unwrap_err();
    assert!(matches!(error, StoreError::TooLong { .. }), "{error}");
    assert!(
        store
            .ask("nothing is stored yet, so nothing is found", &question)
            .unwrap()
            .matches
            .is_empty()
    );
}
