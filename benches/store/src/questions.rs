//! `questions`: similar, within, contains and sources at growing numbers of documents.
//!
//! The store is filled with posts of about 2 kB; the first 100,000 of them carry the same footer, so
//! that a text with that footer shares shingles with all of them. Then asked, by one thread, each with a
//! limit of ten: about stored posts with some words changed, about quotations of a paragraph, about
//! texts never seen, and about texts that carry the footer. Every question about a stored post or a
//! quotation must find the post it was made of, or ten that share as much, or the run fails.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context;
use wonbon_store::{
    Measure, NewDocument, Question, SourcesQuestion, Store, StoreError, StoreParams,
};
use wonbon_time::Timestamp;

use crate::QuestionsArgs;
use crate::adds::{corpus, fill, percentiles};

/// Posts with the footer.
const WITH_FOOTER: u64 = 100_000;

const FOOTER: &str = " All posts of this blog may be passed on as long as nothing in them is changed and \
    the name of the one who wrote them stays where it is, write to us before you print them on paper";

/// The words of a quotation.
const QUOTED_WORDS: usize = 60;

struct Asked {
    what: &'static str,
    /// Median, 99th percentile and longest, in microseconds.
    times: [f64; 3],
    found: usize,
    questions: usize,
}

struct Step {
    documents: u64,
    shingle_bytes: f64,
    segments: usize,
    in_memory: f64,
    open_seconds: f64,
    first_seconds: f64,
    asked: Vec<Asked>,
}

pub fn run(args: &QuestionsArgs) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let place = directory.path().join("store");
    let corpus = corpus(args.seed);
    let text = |number: u64| {
        let mut text = corpus.document(number).text;
        if number < WITH_FOOTER {
            text.push_str(FOOTER);
        }
        text
    };
    let mut steps = Vec::new();
    Store::create(&place, &StoreParams::default())?.close()?;
    let mut filled = 0;
    for &documents in &args.steps {
        let store = Store::open(&place)?;
        fill(filled..documents, |number| {
            let (key, text) = (key(number), text(number));
            Ok(store.submit(store.prepare(&NewDocument::text(
                &key,
                Some(Timestamp::from_microseconds(number as i64)),
                &text,
            ))?)?)
        })?;
        filled = documents;
        store.close()?;
        let started = Instant::now();
        let store = Store::open(&place)?;
        let open_seconds = started.elapsed().as_secs_f64();
        store.catch_up()?;
        let reader = store.shingles()?;
        let started = Instant::now();
        let question = Question { measure: Measure::Resemblance, min: 0.1, limit: 10 };
        store.ask(&text(documents / 2), &question)?;
        let first_seconds = started.elapsed().as_secs_f64();
        let in_memory = reader.segments().iter().filter(|segment| segment.is_in_memory());
        steps.push(Step {
            documents,
            shingle_bytes: store.disk_bytes().shingles as f64 / documents as f64,
            segments: reader.segments().len(),
            in_memory: in_memory.map(|segment| segment.len()).sum::<usize>() as f64 / 1e6,
            open_seconds,
            first_seconds,
            asked: ask_all(&store, &text, documents, args.questions)?,
        });
        store.close()?;
        // Progress for whoever waits.
        eprintln!("{documents} documents asked about");
    }
    let mut file = std::fs::File::create(args.report.out.with_extension("md"))?;
    file.write_all(report(args, &steps).as_bytes())?;
    Ok(())
}

fn key(number: u64) -> String {
    format!("https://blog{}.example/{number}", number % 1000)
}

fn ask_all(
    store: &Store,
    text: &dyn Fn(u64) -> String,
    documents: u64,
    questions: u64,
) -> anyhow::Result<Vec<Asked>> {
    // Without the footer, spread over all that are stored.
    let stored = |at: u64| WITH_FOOTER / 2 + (at * 7919 * 131) % (documents - WITH_FOOTER / 2);
    let edited = |number: u64| {
        let text = text(number);
        let words: Vec<&str> = text.split_whitespace().collect();
        let changed = words.iter().enumerate();
        let changed = changed.map(|(at, word)| if at % 40 == 39 { "another" } else { word });
        changed.collect::<Vec<_>>().join(" ")
    };
    let quoted = |number: u64| {
        let text = text(number);
        let words: Vec<&str> = text.split_whitespace().collect();
        let from = words.len().saturating_sub(QUOTED_WORDS) / 2;
        words[from..(from + QUOTED_WORDS).min(words.len())].join(" ")
    };
    let similar = Question { measure: Measure::Resemblance, min: 0.1, limit: 10 };
    let within = Question { measure: Measure::Within, min: 0.1, limit: 10 };
    let contains = Question { measure: Measure::Contains, min: 0.1, limit: 10 };
    type Made<'a> = Box<dyn Fn(u64) -> (String, Option<String>) + 'a>;
    let of_stored: Made<'_> = Box::new(|at| (edited(stored(at)), Some(key(stored(at)))));
    let of_quoted: Made<'_> = Box::new(|at| (quoted(stored(at)), Some(key(stored(at)))));
    let unseen: Made<'_> = Box::new(|at| (text((1 << 40) + at), None));
    let with_footer: Made<'_> = Box::new(|at| (text((1 << 40) + at) + FOOTER, None));
    let footer_alone: Made<'_> = Box::new(|_| (FOOTER.to_owned(), None));
    let mut asked = Vec::new();
    for (what, question, made) in [
        ("similar to a stored post with every 40th word changed", &similar, &of_stored),
        ("within: a quotation of 60 words", &within, &of_quoted),
        ("similar to a text never seen", &similar, &unseen),
        ("contains: a text never seen", &contains, &unseen),
        ("similar to a text never seen, with the footer of 100,000 posts", &similar, &with_footer),
        ("within: the footer of 100,000 posts alone", &within, &footer_alone),
    ] {
        let mut times = Vec::new();
        let mut found = 0;
        for at in 0..questions {
            let (text, wanted) = made(at);
            let started = Instant::now();
            let answer = match store.ask(&text, question) {
                // A few made-up posts are empty.
                Err(StoreError::NoWords) => continue,
                answer => answer?,
            };
            times.push(started.elapsed());
            match wanted {
                Some(key) => {
                    let hit = answer.matches.iter().any(|found| found.document.key == key);
                    found += usize::from(hit);
                    // Ten others may be as much like it.
                    let least =
                        answer.matches.get(9).map(|last| question.measure.of(&last.overlap));
                    let exact = exact(store, &text, &key, question.measure)?;
                    let outdone = least.is_some_and(|least| least >= exact);
                    anyhow::ensure!(hit || outdone, "{what}: {key} was not found at {exact}");
                }
                None => found += usize::from(!answer.matches.is_empty()),
            }
        }
        asked.push(Asked { what, times: spread(&mut times), found, questions: times.len() });
    }
    let mut times = Vec::new();
    let mut found = 0;
    for at in 0..questions {
        let mosaic = format!("{} {}", quoted(stored(at)), quoted(stored(at + 1)));
        let started = Instant::now();
        let answer = store.sources(&mosaic, &SourcesQuestion::default())?;
        times.push(started.elapsed());
        found += usize::from(answer.sources.len() >= 2);
    }
    let what = "sources of two quotations put together";
    asked.push(Asked { what, times: spread(&mut times), found, questions: times.len() });
    Ok(asked)
}

fn exact(store: &Store, text: &str, key: &str, measure: Measure) -> anyhow::Result<f64> {
    let set = |text: &str| {
        let shingles = wonbon_text::shingles::shingles(text, store.params().shingle_words);
        wonbon_sketch::ElementSet::new(shingles)
    };
    let stored = store.get(key)?.context("it was stored")?;
    Ok(measure.of(&set(text).overlap(&set(&stored.text))))
}

fn spread(times: &mut [Duration]) -> [f64; 3] {
    let [p50, p99] = percentiles(times);
    [p50, p99, times.last().map_or(0.0, |longest| longest.as_secs_f64() * 1e6)]
}

fn report(args: &QuestionsArgs, steps: &[Step]) -> String {
    let mut text = String::from("# Questions about texts\n\n");
    text.push_str(&args.report.head());
    text.push_str(
        "- documents of about 2 kB, half Korean-like, half English-like, a tenth of them copies, the first \
         100,000 with the same footer of 36 words; one thread asks, limit 10; milliseconds, median / 99th \
         percentile / longest\n- every question about a stored post or a quotation found that post or ten that share as much\n\n",
    );
    text.push_str(
        "| documents | shingle index, bytes a document | segments | of it in memory, MB | open, s | first question, ms |\n\
         |---|---|---|---|---|---|\n",
    );
    for step in steps {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {:.0} | {} | {:.1} | {:.2} | {:.1} |",
            step.documents,
            step.shingle_bytes,
            step.segments,
            step.in_memory,
            step.open_seconds,
            step.first_seconds * 1e3
        );
    }
    text.push_str("\n| documents | question | ms | answered |\n|---|---|---|---|\n");
    for step in steps {
        for asked in &step.asked {
            let [p50, p99, longest] = asked.times.map(|microseconds| microseconds / 1e3);
            let _ = writeln!(
                text,
                "| {} | {} | {p50:.2} / {p99:.2} / {longest:.2} | {} of {} |",
                step.documents, asked.what, asked.found, asked.questions
            );
        }
    }
    text
}
