//! A store against a slow model, under every sequence of add, edit, delete, late arrival and reopen.
//!
//! The model holds the documents and nothing else; whenever it is asked, it takes them in order of
//! creation and compares each with every original before it. So it has no history, and a store that
//! agrees with it has none either: the order of arrival, and what was deleted or edited in between,
//! leave no trace.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use wonbon_sketch::{ElementSet, FeatureMaker};
use wonbon_store::{Kind, NewDocument, Rule, Store, StoreParams, Stored};
use wonbon_text::shingles::shingles;
use wonbon_text::words::normal_form;

/// What is said of a document: its kind and its original's key.
type Said = (Kind, Option<String>);

struct Held {
    created: i64,
    arrival: u64,
    text: String,
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

    fn add(&mut self, key: &str, created: Option<i64>, text: &str) {
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
        };
        self.documents.insert(key.to_owned(), held);
    }

    fn families(&self) -> BTreeMap<String, Said> {
        let mut order: Vec<(&String, &Held)> = self.documents.iter().collect();
        order.sort_by_key(|(_, held)| (held.created, held.arrival));
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
                    Rule::Features(needed) => (agreeing >= needed, agreeing as f64),
                };
                // Earlier ones come first: only a better one takes over.
                if accepted && best.as_ref().is_none_or(|(known, ..)| likeness > *known) {
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
    let read: Result<(), wonbon_store::StoreError> = store.for_each(|document| {
        said.insert(document.key, (document.verdict.kind, document.verdict.original));
        Ok(())
    });
    read.unwrap();
    said
}

#[derive(Debug, Clone)]
enum Step {
    Add { key: u8, created: Option<i64>, text: String },
    Delete { key: u8 },
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
            Step::Add { key, created: says.then_some(created), text }
        }),
        4 => (0_u8..14).prop_map(|key| Step::Delete { key }),
        1 => any::<bool>().prop_map(|cleanly| Step::Reopen { cleanly }),
    ];
    prop::collection::vec(step, 1..45)
}

fn run(params: &StoreParams, steps: &[Step], directory: &Path) {
    let mut store = Store::create(directory, params).unwrap();
    let mut model = Model::new(params);
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Add { key, created, text } => {
                let key = format!("key {key}");
                let known = model.documents.contains_key(&key);
                // A first version without a time would be "now", which the model does not know.
                let created = if known { *created } else { Some(created.unwrap_or(20)) };
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
                let known = model.documents.remove(&key).is_some();
                assert_eq!(store.delete(&key).unwrap(), known, "step {at}");
            }
            Step::Reopen { cleanly } => {
                if *cleanly {
                    store.close().unwrap();
                } else {
                    drop(store);
                    for entry in std::fs::read_dir(directory).unwrap() {
                        let path = entry.unwrap().path();
                        if path.extension().is_some_and(|extension| extension == "snapshot") {
                            std::fs::remove_file(path).unwrap();
                        }
                    }
                }
                store = Store::open(directory).unwrap();
            }
        }
        assert_eq!(families(&store), model.families(), "after step {at}, {step:?}");
        let originals =
            model.families().values().filter(|(kind, _)| *kind == Kind::Original).count();
        assert_eq!(store.index_len(), originals, "after step {at}");
    }
    store.close().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn by_features_families_are_the_models(steps in steps()) {
        let directory = tempfile::tempdir().unwrap();
        run(&StoreParams::default(), &steps, directory.path());
    }

    #[test]
    fn by_one_feature_families_are_the_models(steps in steps()) {
        let directory = tempfile::tempdir().unwrap();
        let params = StoreParams { rule: Rule::Features(1), ..StoreParams::default() };
        run(&params, &steps, directory.path());
    }

    #[test]
    fn by_a_threshold_families_are_the_models(steps in steps(), tenths in 3_u8..=9) {
        let directory = tempfile::tempdir().unwrap();
        let rule = Rule::Threshold(f64::from(tenths) / 10.0);
        run(&StoreParams { rule, ..StoreParams::default() }, &steps, directory.path());
    }
}
