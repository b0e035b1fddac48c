//! A store against a slow model, under every sequence of add, edit, delete, decision, late arrival and
//! reopen.
//!
//! The model holds the documents, what was decided of them and not taken back, and nothing else; whenever
//! it is asked, it takes them in order (those decided to be the original first, then by creation) and
//! compares each with every original before it. So it has no history, and a store that agrees with it has
//! none either: the order of arrival, and what was deleted or edited in between, leave no trace.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use wonbon_sketch::{ElementSet, FeatureMaker};
use wonbon_store::{
    By, Decision, Kind, NewDocument, Rule, SeedSource, Store, StoreError, StoreParams, Stored,
};
use wonbon_text::shingles::shingles;
use wonbon_text::words::normal_form;
use wonbon_time::Timestamp;

/// What is said of a document: its kind and its original's key.
type Said = (Kind, Option<String>);

struct Held {
    created: Timestamp,
    arrival: u64,
    text: String,
    /// What was decided and not taken back; the last is in effect.
    decided: Vec<Decision>,
}

struct Model {
    params: StoreParams,
    maker: FeatureMaker,
    documents: BTreeMap<String, Held>,
    arrivals: u64,
}

impl Model {
    fn new(params: &StoreParams) -> Self {
        let maker = params.feature_maker().unwrap();
        Model { params: params.clone(), maker, documents: BTreeMap::new(), arrivals: 0 }
    }

    fn add(&mut self, key: &str, created: Option<Timestamp>, text: &str) {
        if let Some(held) = self.documents.get_mut(key) {
            held.created = created.unwrap_or(held.created);
            held.text = text.to_owned();
            return;
        }
        self.arrivals += 1;
        let held = Held {
            created: created.expect("the first version says when"),
            arrival: self.arrivals,
            text: text.to_owned(),
            decided: Vec::new(),
        };
        self.documents.insert(key.to_owned(), held);
    }

    fn families(&self) -> BTreeMap<String, Said> {
        let mut order: Vec<(&String, &Held)> = self.documents.iter().collect();
        order.sort_by_key(|(_, held)| {
            (held.decided.last() != Some(&Decision::Original), held.created, held.arrival)
        });
        let mut originals: Vec<(&String, &Held, ElementSet)> = Vec::new();
        let mut said = BTreeMap::new();
        for (key, held) in order {
            let set = ElementSet::new(shingles(&held.text, self.params.shingle_words));
            if set.is_empty() {
                said.insert(key.clone(), (Kind::Empty, None));
                continue;
            }
            let own = self.maker.features(set.as_slice());
            let mut best: Option<(f64, &String, &Held, &ElementSet)> = None;
            for (other_key, other, other_set) in &originals {
                let resemblance = set.resemblance(other_set);
                let agreeing = own.agreeing(&self.maker.features(other_set.as_slice())).unwrap();
                let (accepted, likeness) = match self.params.rule {
                    Rule::Threshold(threshold) => {
                        // Candidates come from features: one must agree.
                        (resemblance >= threshold && agreeing >= 1, resemblance)
                    }
                    Rule::Features { needed, floor } => {
                        (agreeing >= needed && resemblance >= floor, agreeing as f64)
                    }
                };
                // Earlier ones come first: only a better one takes over.
                if held.decided.is_empty()
                    && accepted
                    && best.as_ref().is_none_or(|(known, ..)| likeness > *known)
                {
                    best = Some((likeness, other_key, other, other_set));
                }
            }
            match best {
                None => {
                    said.insert(key.clone(), (Kind::Original, None));
                    originals.push((key, held, set));
                }
                Some((_, original, other, other_set)) => {
                    let kind = if held.text == other.text {
                        Kind::Identical
                    } else if normal_form(&held.text) == normal_form(&other.text) {
                        Kind::SameText
                    } else if set == *other_set {
                        Kind::SameShingles
                    } else {
                        Kind::Copy
                    };
                    said.insert(key.clone(), (kind, Some(original.clone())));
                }
            }
        }
        said
    }
}

fn families(store: &Store) -> BTreeMap<String, Said> {
    let mut said = BTreeMap::new();
    let read: Result<(), StoreError> = store.for_each(|document| {
        said.insert(document.key, (document.verdict.kind, document.verdict.original));
        Ok(())
    });
    read.unwrap();
    said
}

#[derive(Debug, Clone)]
enum Step {
    Add { key: u8, created: Option<Timestamp>, text: String },
    Delete { key: u8 },
    Decide { key: u8, decision: Decision },
    Undo { key: u8 },
    Reopen { cleanly: bool },
}

/// Texts of a few sentences out of a small stock, some twice, some shouted: near-copies in plenty,
/// between more than two originals.
fn texts() -> impl Strategy<Value = String> {
    let sentences = prop::collection::vec(0_usize..3, 8);
    (0_usize..3, sentences, 0_u8..12).prop_map(|(start, variants, manner)| {
        let sentence = |(at, variant): (usize, &usize)| {
            // Most sentences are the stock's; a variant changes one word of one.
            let word = if *variant == 0 { "same" } else { ["left", "right"][variant - 1] };
            let at = at + start * usize::from(at > 5);
            format!("number {at} of the {word} stock says what number {at} always says. ")
        };
        // Two of three variants would leave nothing in common: thin them out.
        let thinned = variants.iter().enumerate().map(|(at, v)| if at % 3 == 0 { *v } else { 0 });
        let thinned: Vec<usize> = thinned.collect();
        let text: String = thinned.iter().enumerate().map(sentence).collect();
        match manner {
            0 => String::new(),
            1 => " ... !".to_owned(),
            2 => text.to_uppercase(),
            3 => format!("{text}{text}"),
            4 => "short".to_owned(),
            _ => text,
        }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0_u8..14, 0_i64..40, texts(), any::<bool>()).prop_map(|(key, created, text, says)| {
            Step::Add { key, created: says.then_some(Timestamp::from_microseconds(created)), text }
        }),
        4 => (0_u8..14).prop_map(|key| Step::Delete { key }),
        4 => (0_u8..14, any::<bool>()).prop_map(|(key, original)| {
            let decision = if original { Decision::Original } else { Decision::NotACopy };
            Step::Decide { key, decision }
        }),
        3 => (0_u8..14).prop_map(|key| Step::Undo { key }),
        1 => any::<bool>().prop_map(|cleanly| Step::Reopen { cleanly }),
    ];
    prop::collection::vec(step, 1..45)
}

fn run(params: &StoreParams, steps: &[Step], directory: &Path) {
    // In PostgreSQL every step is done by another handle.
    let mut stores = support::handles(directory, params);
    let mut model = Model::new(params);
    let mut entries = 0;
    for (at, step) in steps.iter().enumerate() {
        let handle = at % stores.len();
        let store = &stores[handle];
        match step {
            Step::Add { key, created, text } => {
                let key = format!("key {key}");
                let known = model.documents.contains_key(&key);
                // A first version without a time would be "now", which the model does not know.
                let created = if known {
                    *created
                } else {
                    Some(created.unwrap_or(Timestamp::from_microseconds(20)))
                };
                model.add(&key, created, text);
                let document = NewDocument::text(&key, created, text);
                let expected = &model.families()[&key];
                if !known {
                    // Asked before it is stored, the answer is the same.
                    let checked = store.check(&document).unwrap();
                    assert_eq!(&(checked.kind, checked.original), expected, "check, step {at}");
                }
                let added = store.add(&document).unwrap();
                assert_eq!(&(added.verdict.kind, added.verdict.original), expected, "step {at}");
                assert_eq!(added.stored == Stored::New, !known);
                assert_eq!(added.verdict.resemblance.is_some(), expected.1.is_some());
            }
            Step::Delete { key } => {
                let key = format!("key {key}");
                let removed = model.documents.remove(&key);
                entries += u64::from(removed.as_ref().is_some_and(|held| !held.decided.is_empty()));
                assert_eq!(store.delete(&key).unwrap(), removed.is_some(), "step {at}");
            }
            Step::Decide { key, decision } => {
                let key = format!("key {key}");
                let done = store.decide(&key, *decision, &By::default(), None);
                let empty =
                    model.families().get(&key).is_some_and(|(kind, _)| *kind == Kind::Empty);
                match model.documents.get_mut(&key) {
                    None => assert!(matches!(done, Err(StoreError::UnknownDocument { .. }))),
                    Some(_) if empty => assert!(matches!(done, Err(StoreError::NoWords))),
                    Some(held) if held.decided.last() == Some(decision) => {
                        assert_eq!(done.unwrap(), None, "step {at}");
                    }
                    Some(held) => {
                        held.decided.push(*decision);
                        entries += 1;
                        assert_eq!(done.unwrap().unwrap().entry, entries, "step {at}");
                    }
                }
            }
            Step::Undo { key } => {
                let key = format!("key {key}");
                let done = store.undo_decision(&key, None, &By::default(), None);
                match model.documents.get_mut(&key).map(|held| held.decided.pop()) {
                    None => assert!(matches!(done, Err(StoreError::UnknownDocument { .. }))),
                    Some(None) => assert!(matches!(done, Err(StoreError::NothingToUndo { .. }))),
                    Some(Some(_)) => {
                        entries += 1;
                        let done = done.unwrap();
                        let in_effect = model.documents[&key].decided.last().copied();
                        assert_eq!((done.entry, done.after), (entries, in_effect), "step {at}");
                    }
                }
            }
            Step::Reopen { cleanly } => {
                let store = stores.remove(handle);
                if *cleanly {
                    store.close().unwrap();
                } else {
                    let files = store.directory().to_owned();
                    drop(store);
                    for entry in std::fs::read_dir(files).unwrap() {
                        let path = entry.unwrap().path();
                        if path.extension().is_some_and(|extension| extension == "snapshot") {
                            std::fs::remove_file(path).unwrap();
                        }
                    }
                }
                stores.insert(handle, Store::open(directory).unwrap());
            }
        }
        let (store, other) = (&stores[handle], &stores[(handle + 1) % stores.len()]);
        assert_eq!(families(other), model.families(), "by another, after step {at}");
        assert_eq!(families(store), model.families(), "after step {at}, {step:?}");
        let originals =
            model.families().values().filter(|(kind, _)| *kind == Kind::Original).count();
        assert_eq!(store.index_len(), originals, "after step {at}");
    }
    let store = stores.remove(0);
    for other in &stores {
        assert_eq!(other.verify().unwrap().first, Vec::<String>::new());
    }
    let log = store.decisions(None, None, usize::MAX).unwrap();
    let numbers: Vec<u64> = log.iter().map(|entry| entry.entry).collect();
    assert_eq!(numbers, (1..=entries).rev().collect::<Vec<_>>());
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    store.close().unwrap();
}

/// A seed that is the same in every run of the tests.
fn published() -> StoreParams {
    StoreParams { seed: SeedSource::Number(0), ..StoreParams::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(60), ..ProptestConfig::default() })]

    #[test]
    fn by_features_families_are_the_models(steps in steps(), floor in 0_u8..=9) {
        let directory = support::place();
        let rule = Rule::Features { needed: 2, floor: f64::from(floor) / 10.0 };
        run(&StoreParams { rule, ..published() }, &steps, directory.path());
    }

    #[test]
    fn by_one_feature_families_are_the_models(steps in steps()) {
        let directory = support::place();
        let params = StoreParams { rule: Rule::features(1), ..published() };
        run(&params, &steps, directory.path());
    }

    #[test]
    fn by_a_threshold_families_are_the_models(steps in steps(), tenths in 3_u8..=9) {
        let directory = support::place();
        let rule = Rule::Threshold(f64::from(tenths) / 10.0);
        run(&StoreParams { rule, ..published() }, &steps, directory.path());
    }
}
