//! Families are what adding the documents one at a time gives; pairs are all pairs.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;

use proptest::prelude::*;
use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::dedup::{DedupConfig, dedup};
use wonbon_cluster::families::FamilyKind;
use wonbon_cluster::keep::Keep;
use wonbon_documents::{Dates, FieldNames, Limits, Unwatched};
use wonbon_rule::Rule;
use wonbon_sketch::{FeatureMaker, FeatureParams, Seed};
use wonbon_testkit::cluster::{
    all_pairs, components, families_by_agreement, families_one_at_a_time,
};
use wonbon_text::shingles::shingles;

const WORDS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

fn config(folder: &Path, threshold: f64) -> DedupConfig {
    DedupConfig {
        inputs: vec![folder.join("in.jsonl")],
        output: folder.join("out"),
        fields: FieldNames::default(),
        dates: Dates::default(),
        method: FamilyConfig {
            rule: Rule::Threshold(threshold),
            family: FamilyKind::Star,
            engine: Engine::Features,
            keep: Keep::First,
            shingle_words: WORDS,
            seed: Seed::default(),
            threads: NonZeroUsize::MIN,
            memory: 1 << 30,
        },
        pairs: None,
        annotate: false,
        strict: false,
        limits: Limits::default(),
        against: Vec::new(),
        part_bytes: 1 << 20,
        save_sketches: false,
        passages: None,
    }
}

fn write_input(folder: &Path, texts: &[String]) {
    let lines: String = texts
        .iter()
        .enumerate()
        .map(|(id, text)| format!("{}\n", serde_json::json!({"id": id, "text": text})))
        .collect();
    std::fs::write(folder.join("in.jsonl"), lines).unwrap();
}

/// For each document its original and resemblance, as the families file tells.
fn told(folder: &Path) -> Vec<(usize, f64, String)> {
    let text = std::fs::read_to_string(folder.join("out/families.jsonl")).unwrap();
    text.lines()
        .enumerate()
        .map(|(number, line)| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["id"], number.to_string());
            let original = line["original"].as_str().unwrap().parse().unwrap();
            let kind = line["kind"].as_str().unwrap().to_owned();
            (original, line["resemblance"].as_f64().unwrap(), kind)
        })
        .collect()
}

fn pairs(path: &Path) -> BTreeMap<(usize, usize), f64> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [one, other]: [usize; 2] = [0, 1].map(|at| fields[at].parse().unwrap());
            ((one.min(other), one.max(other)), fields[2].parse().unwrap())
        })
        .collect()
}

/// Texts that resemble each other in all degrees: a few bases, each with words replaced.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = (0_usize..4, prop::collection::vec((0_usize..30, 0_u32..40), 0..6), 0_usize..31);
    prop::collection::vec(text, 1..25).prop_map(|documents| {
        documents
            .into_iter()
            .map(|(base, edits, length)| {
                let mut words: Vec<String> = (0..length).map(|n| format!("b{base}w{n}")).collect();
                for (at, word) in edits {
                    if let Some(place) = words.get_mut(at) {
                        *place = format!("new{word}");
                    }
                }
                words.join(" ")
            })
            .collect()
    })
}

fn sets(texts: &[String]) -> Vec<BTreeSet<u64>> {
    texts.iter().map(|text| shingles(text, WORDS).into_iter().collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn exact_star_families_are_what_adding_one_at_a_time_gives(
        texts in texts(),
        threshold in prop::sample::select(vec![0.3, 0.5, 0.8, 1.0]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        write_input(folder.path(), &texts);
        let mut config = config(folder.path(), threshold);
        config.method.engine = Engine::Exact;
        config.pairs = Some(folder.path().join("pairs.tsv"));
        dedup(&config, &Unwatched).unwrap();
        let sets = sets(&texts);
        let expected = families_one_at_a_time(&sets, threshold);
        for (number, (original, resemblance, kind)) in told(folder.path()).into_iter().enumerate() {
            match expected[number] {
                Some((expected, value)) => {
                    prop_assert_eq!(original, expected);
                    prop_assert!((resemblance - value).abs() < 1e-12);
                    let same = if texts[number] == texts[original] { "identical" }
                        else if value == 1.0 { "same-" } else { "copy" };
                    prop_assert!(kind.starts_with(same), "{} is not {}", kind, same);
                }
                None => prop_assert_eq!(original, number),
            }
        }
        let found = pairs(&folder.path().join("pairs.tsv"));
        let all = all_pairs(&sets, threshold);
        prop_assert_eq!(found.len(), all.len());
        for (one, other, value) in all {
            prop_assert!((found[&(one, other)] - value).abs() < 1e-6);
        }
    }

    #[test]
    fn every_copy_of_a_star_reaches_the_threshold_to_an_original(
        texts in texts(),
        threshold in prop::sample::select(vec![0.3, 0.5, 0.8]),
        threads in 1_usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        write_input(folder.path(), &texts);
        let mut config = config(folder.path(), threshold);
        config.method.threads = NonZeroUsize::new(threads).unwrap();
        dedup(&config, &Unwatched).unwrap();
        let sets = sets(&texts);
        let told = told(folder.path());
        for (number, (original, resemblance, _)) in told.iter().enumerate() {
            if *original != number {
                let value = wonbon_testkit::cluster::resemblance(&sets[number], &sets[*original]);
                prop_assert!(value >= threshold);
                prop_assert!((resemblance - value).abs() < 1e-12);
                prop_assert_eq!(told[*original].0, *original);
            }
        }
    }

    #[test]
    fn exact_linked_families_are_the_components_of_all_pairs(
        texts in texts(),
        threshold in prop::sample::select(vec![0.3, 0.5, 0.8]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        write_input(folder.path(), &texts);
        let mut config = config(folder.path(), threshold);
        config.method.engine = Engine::Exact;
        config.method.family = FamilyKind::Linked;
        dedup(&config, &Unwatched).unwrap();
        let pairs: Vec<(u32, u32)> = all_pairs(&sets(&texts), threshold)
            .into_iter()
            .map(|(one, other, _)| (one as u32, other as u32))
            .collect();
        let expected = components(texts.len() as u32, &pairs);
        for (number, (original, _, _)) in told(folder.path()).into_iter().enumerate() {
            prop_assert_eq!(original as u32, expected[number]);
        }
    }

    #[test]
    fn threads_and_memory_change_no_byte(texts in texts(), linked in any::<bool>()) {
        let mut outputs = Vec::new();
        for (threads, memory) in [(1, 1 << 30), (2, 1 << 30), (3, 64 << 20)] {
            let folder = tempfile::tempdir().unwrap();
            write_input(folder.path(), &texts);
            let mut config = config(folder.path(), 0.5);
            config.method.threads = NonZeroUsize::new(threads).unwrap();
            config.method.memory = memory;
            config.pairs = Some(folder.path().join("pairs.tsv"));
            config.method.family = if linked { FamilyKind::Linked } else { FamilyKind::Star };
            dedup(&config, &Unwatched).unwrap();
            outputs.push(["out/families.jsonl", "out/kept/in.jsonl", "pairs.tsv"].map(|name| {
                std::fs::read(folder.path().join(name)).unwrap()
            }));
        }
        prop_assert_eq!(&outputs[0], &outputs[1]);
        prop_assert_eq!(&outputs[0], &outputs[2]);
    }

    #[test]
    fn families_of_the_papers_rule_are_what_agreement_of_features_gives(
        texts in long_texts(),
        least in 1_usize..=4,
        floor in prop::sample::select(vec![0.0, 0.5, 0.9]),
        threads in 1_usize..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        write_input(folder.path(), &texts);
        let mut config = config(folder.path(), 0.8);
        config.method.rule = Rule::Features { needed: least, floor };
        config.method.threads = NonZeroUsize::new(threads).unwrap();
        dedup(&config, &Unwatched).unwrap();
        let maker = FeatureMaker::new(FeatureParams::default()).unwrap();
        let sets = sets(&texts);
        let features: Vec<_> = sets
            .iter()
            .map(|set| maker.features(&set.iter().copied().collect::<Vec<_>>()))
            .collect();
        let has_words: Vec<bool> = sets.iter().map(|set| !set.is_empty()).collect();
        let expected = families_by_agreement(&has_words, least, |one, other| {
            let resemblance = wonbon_testkit::cluster::resemblance(&sets[one], &sets[other]);
            let agreeing = features[one].agreeing(&features[other]).unwrap();
            if resemblance >= floor { agreeing } else { 0 }
        });
        for (number, (original, resemblance, kind)) in told(folder.path()).into_iter().enumerate() {
            prop_assert_eq!(original, expected[number].unwrap_or(number), "{}", number);
            let value = wonbon_testkit::cluster::resemblance(&sets[number], &sets[original]);
            prop_assert!((resemblance - value).abs() < 1e-12);
            prop_assert_eq!(kind == "empty", sets[number].is_empty());
        }
    }
}

/// Texts of which some agree in all features, some in a few, some in none: two bases of 120 words
/// with up to five of them replaced (a resemblance of 0.97 for each), and now and then nothing.
fn long_texts() -> impl Strategy<Value = Vec<String>> {
    let text = (0_usize..2, prop::collection::vec((0_usize..120, 0_u32..40), 0..6), 0_u32..12);
    prop::collection::vec(text, 2..14).prop_map(|documents| {
        documents
            .into_iter()
            .map(|(base, edits, chance)| {
                if chance == 0 {
                    return "...".to_owned();
                }
                let mut words: Vec<String> = (0..120).map(|n| format!("b{base}w{n}")).collect();
                edits.into_iter().for_each(|(at, word)| words[at] = format!("new{word}"));
                words.join(" ")
            })
            .collect()
    })
}
