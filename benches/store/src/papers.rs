//! The experiment: fill the indexes step by step, ask, compare the answers.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use cpu_time::ProcessTime;
use wonbon_index::papers::{B6D1, R1D3, R15D2, SqliteIndex, Trees};
use wonbon_index::{CopyIndex, IndexParams, Match, MemoryIndex, Row};

use crate::documents::Documents;
use crate::nodes::{Nodes, Point, points_of_fifteen, points_of_one};
use crate::{Draw, PapersArgs, report};

/// What was seen at one number of documents.
pub(crate) struct Step {
    pub(crate) documents: usize,
    /// How many questions were answered with a copy.
    pub(crate) found: usize,
    pub(crate) indexes: Vec<Measured>,
}

/// What was seen of one index at one number of documents.
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// CPU and wall time of a question, average over all.
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    /// Pages of a question, average: of the trees, and of comparing what they found. `None` for an
    /// index without pages.
    pub(crate) pages: Option<(f64, f64)>,
    /// What stands for the paper's page accesses: nodes of R*-trees, pages of B-trees. `None` for an
    /// index without pages.
    pub(crate) accesses: Option<Accesses>,
    /// CPU time of loading this step's documents, and how many these were.
    pub(crate) load: Duration,
    pub(crate) loaded: usize,
    /// Bytes on disk, or in memory.
    pub(crate) bytes: u64,
}

/// Accesses of all questions, apart for those that find an original and those that find none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Accesses {
    pub(crate) found: Average,
    pub(crate) none: Average,
}

impl Accesses {
    fn add(&mut self, found: bool, accesses: u64) {
        let average = if found { &mut self.found } else { &mut self.none };
        average.sum += accesses;
        average.count += 1;
    }

    pub(crate) fn all(&self) -> Average {
        let (found, none) = (self.found, self.none);
        Average { sum: found.sum + none.sum, count: found.count + none.count }
    }
}

/// A sum and of how many.
#[derive(Clone, Copy, Default)]
pub(crate) struct Average {
    sum: u64,
    count: u64,
}

impl Average {
    /// The average, if there is any.
    pub(crate) fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// The points that a question looks for in R*-trees.
type PointsOf = fn(&[u64]) -> Vec<Point>;

/// The originals of one step, in the order of arrival.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    features: Vec<u64>,
}

pub(crate) fn run(args: &PapersArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let directory = tempfile::tempdir()?;
    let params = IndexParams::default();
    let path = |name: &str| directory.path().join(name);
    let mut b6d1 = Some(B6D1::open(&path("b6d1"), params)?);
    let mut r15d2 = Some(R15D2::open(&path("r15d2"), params)?);
    let mut r1d3 = Some(R1D3::open(&path("r1d3"), params)?);
    let mut memory = MemoryIndex::new(params)?;
    let mut documents = Documents::new(args.seed)?;
    let (mut next, mut stored) = (0_u64, Vec::new());
    // As in the paper, questions may be drawn from documents that are not stored yet.
    let beyond: Vec<u32> = (0..*args.steps.last().expect("there is a step") as u32).collect();
    let mut steps = Vec::new();
    for &step in &args.steps {
        let say = |what: &str| {
            eprintln!("{:6.0} s  {step} documents: {what}", started.elapsed().as_secs_f64());
        };
        say("features, and the default index");
        let (mut batch, mut loading) = (Batch::default(), Duration::ZERO);
        while memory.len() < step {
            let features = documents.features(next);
            if !features.is_empty() && memory.first_match(features)?.is_none() {
                let row = Row(u32::try_from(next)?);
                let clock = ProcessTime::now();
                memory.insert(row, features)?;
                loading += clock.elapsed();
                batch.rows.push(row);
                batch.features.extend_from_slice(features);
                stored.push(row.0);
            }
            next += 1;
        }
        let posts = if args.draw == Draw::Stored { &stored } else { &beyond };
        let questions: Vec<Vec<u64>> =
            (0..args.queries as u64).map(|number| documents.question(number, posts)).collect();
        let expected =
            questions.iter().map(|asked| memory.matches(asked)).collect::<Result<Vec<_>, _>>()?;
        let found = expected.iter().filter(|found| !found.is_empty()).count();

        let asking = Asking { args, questions: &questions, expected: &expected, batch: &batch };
        let default = Measured {
            load: loading,
            bytes: memory.memory_bytes() as u64,
            ..asking.ask("default", &memory, || None)?
        };
        let indexes = vec![
            asking.fill_and_ask(&mut b6d1, &path("b6d1"), None, say)?,
            asking.fill_and_ask(&mut r15d2, &path("r15d2"), Some(points_of_fifteen), say)?,
            asking.fill_and_ask(&mut r1d3, &path("r1d3"), Some(points_of_one), say)?,
            default,
        ];
        steps.push(Step { documents: step, found, indexes });
        report::write(args, &steps, started.elapsed(), next)?;
    }
    Ok(())
}

/// The questions of one step and what must be answered.
struct Asking<'a> {
    args: &'a PapersArgs,
    questions: &'a [Vec<u64>],
    expected: &'a [Vec<Match>],
    batch: &'a Batch,
}

impl Asking<'_> {
    /// Loads this step's originals into an index, asks, and counts the nodes.
    fn fill_and_ask<T: Trees>(
        &self,
        index: &mut Option<SqliteIndex<T>>,
        path: &Path,
        points: Option<PointsOf>,
        say: impl Fn(&str),
    ) -> anyhow::Result<Measured> {
        let mut open = match index.take() {
            Some(open) => open,
            None => SqliteIndex::open(path, IndexParams::default())?,
        };
        open.set_cache_bytes(self.args.cache_mebibytes << 20)?;
        say(&format!("loading {}", T::NAME));
        let clock = ProcessTime::now();
        open.load(&self.batch.rows, &self.batch.features)?;
        let load = clock.elapsed();
        say(&format!("asking {}", T::NAME));
        let mut measured = self.ask(T::NAME, &open, || Some(open.comparison_page_accesses()))?;
        measured.load = load;
        measured.bytes = std::fs::metadata(path)?.len();
        let Some(points) = points else {
            *index = Some(open);
            return Ok(measured);
        };
        // The index has its file to itself; it is opened again at the next step.
        drop(open);
        let nodes = Nodes::open(path)?;
        let mut visited = Accesses::default();
        for (asked, expected) in self.questions.iter().zip(self.expected) {
            let (nodes, found) = nodes.visited(&points(asked)).context("walking the nodes")?;
            anyhow::ensure!(found || expected.is_empty(), "{} has lost a point", T::NAME);
            visited.add(found, nodes);
        }
        measured.accesses = Some(visited);
        Ok(measured)
    }

    /// Checks every answer, then measures.
    fn ask(
        &self,
        name: &'static str,
        index: &impl CopyIndex,
        comparison_pages: impl Fn() -> Option<u64>,
    ) -> anyhow::Result<Measured> {
        let pages_of_trees = || Some(index.page_accesses() - comparison_pages()?);
        let mut accesses = Accesses::default();
        for (number, (asked, expected)) in self.questions.iter().zip(self.expected).enumerate() {
            anyhow::ensure!(
                &index.matches(asked)? == expected,
                "{name} answers question {number} differently"
            );
            let before = pages_of_trees();
            let agrees = match index.first_match(asked)? {
                Some(first) => expected.contains(&first),
                None => expected.is_empty(),
            };
            anyhow::ensure!(agrees, "{name} judges question {number} differently");
            if let (Some(before), Some(after)) = (before, pages_of_trees()) {
                accesses.add(!expected.is_empty(), after - before);
            }
        }
        // The checks above have warmed the caches.
        let mut best = (Duration::MAX, Duration::MAX);
        let mut pages = None;
        for _ in 0..self.args.rounds {
            let before = comparison_pages().map(|compared| (index.page_accesses(), compared));
            let (wall, cpu) = (Instant::now(), ProcessTime::now());
            for asked in self.questions {
                std::hint::black_box(index.first_match(asked)?);
            }
            best = (best.0.min(cpu.elapsed()), best.1.min(wall.elapsed()));
            pages = before.map(|(all_before, compared_before)| {
                let compared = comparison_pages().unwrap_or_default() - compared_before;
                let all = index.page_accesses() - all_before;
                let average = |pages: u64| pages as f64 / self.questions.len() as f64;
                (average(all - compared), average(compared))
            });
        }
        let questions = self.questions.len() as u32;
        Ok(Measured {
            name,
            cpu: best.0 / questions,
            wall: best.1 / questions,
            pages,
            accesses: pages.is_some().then_some(accesses),
            load: Duration::ZERO,
            loaded: self.batch.rows.len(),
            bytes: 0,
        })
    }
}
