//! The report: tables in Markdown and the paper's two figures, written again after every step.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::papers::{Measured, Step};
use crate::plot::{Axis, Line, svg};
use crate::{Draw, PapersArgs};

/// What the paper says of 1,500,000 documents: seconds and page accesses of a question.
const PAPER_DOCUMENTS: f64 = 1_500_000.0;
const PAPER: [(&str, f64, f64); 3] =
    [("B6D1", 0.244, 23.3), ("R15D2", 0.214, 29.9), ("R1D3", 0.417, 38.9)];

fn paper(name: &str) -> Option<(f64, f64)> {
    PAPER.iter().find(|paper| paper.0 == name).map(|paper| (paper.1, paper.2))
}

pub(crate) fn write(
    args: &PapersArgs,
    steps: &[Step],
    taken: Duration,
    generated: u64,
) -> anyhow::Result<()> {
    let with = |ending: &str| PathBuf::from(format!("{}{ending}", args.report.out.display()));
    std::fs::write(with(".md"), markdown(args, steps, taken, generated)?)?;
    let lines = |value: fn(&Measured) -> Option<f64>, of_paper: fn((f64, f64)) -> f64| {
        let indexes = steps[0].indexes.iter().enumerate();
        indexes
            .filter_map(|(number, index)| {
                let points: Option<Vec<(f64, f64)>> = steps
                    .iter()
                    .map(|step| Some((step.documents as f64, value(&step.indexes[number])?)))
                    .collect();
                Some(Line {
                    name: index.name,
                    points: points?,
                    paper: paper(index.name).map(|paper| (PAPER_DOCUMENTS, of_paper(paper))),
                })
            })
            .collect::<Vec<_>>()
    };
    let time = Axis {
        title: "average time of a question (figure 2), logarithmic",
        logarithmic: true,
        label: |seconds| match seconds {
            seconds if seconds < 0.9e-6 => format!("{:.0} ns", seconds * 1e9),
            seconds if seconds < 0.9e-3 => format!("{:.0} µs", seconds * 1e6),
            seconds if seconds < 0.9 => format!("{:.0} ms", seconds * 1e3),
            seconds => format!("{seconds:.0} s"),
        },
    };
    let times = lines(|index| Some(index.cpu.as_secs_f64()), |paper| paper.0);
    std::fs::write(with("-time.svg"), svg(&times, &time))?;
    let accesses = |index: &Measured| index.accesses?.all().value();
    let pages = Axis {
        title: "average accesses of a question (figure 3): pages of B-trees, nodes of R*-trees",
        logarithmic: false,
        label: |accesses| format!("{accesses:.0}"),
    };
    std::fs::write(with("-accesses.svg"), svg(&lines(accesses, |paper| paper.1), &pages))?;
    Ok(())
}

fn markdown(
    args: &PapersArgs,
    steps: &[Step],
    taken: Duration,
    generated: u64,
) -> anyhow::Result<String> {
    let last = steps.last().expect("there is a step");
    let mut page = String::new();
    let names: Vec<&str> = last.indexes.iter().map(|index| index.name).collect();
    let heading = |page: &mut String, first: &[&str], names: &[&str]| {
        let columns = [first, names].concat();
        writeln!(page, "| {} |", columns.join(" | "))?;
        writeln!(page, "|{}", "---|".repeat(columns.len()))
    };
    writeln!(page, "# The papers' experiment: B6D1, R15D2, R1D3 and the default index\n")?;
    writeln!(page, "- date: {}", args.report.date)?;
    writeln!(page, "- machine: {}", machine())?;
    writeln!(page, "- commit: {}", args.report.commit)?;
    writeln!(page, "- command: `{}`", args.report.command)?;
    writeln!(
        page,
        "- {generated} made-up Korean posts of 300 words on average (seed {}), of which {} are \
         stored; {} questions at each step, made of {} by changing 1 to 5 words",
        args.seed,
        last.documents,
        args.queries,
        match args.draw {
            Draw::Stored => "posts stored so far",
            Draw::All => "posts of the last step, stored or not (as in the paper),",
        }
    )?;
    writeln!(
        page,
        "- time from features to answer, best of {} rounds over all questions, on one core, pages \
         warm (SQLite's cache {} MiB for each index); pages of 1,024 bytes",
        args.rounds, args.cache_mebibytes
    )?;
    writeln!(
        page,
        "- every index gave the same verdict and the same list of originals for every question"
    )?;
    writeln!(page, "- the whole run took {:.0} s", taken.as_secs_f64())?;

    writeln!(page, "\n## Average time of a question, µs of CPU (wall)\n")?;
    heading(&mut page, &["documents", "found to be copies"], &names)?;
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    for step in steps {
        let share = 100.0 * step.found as f64 / args.queries as f64;
        write!(page, "| {} | {share:.1} % |", step.documents)?;
        for index in &step.indexes {
            write!(page, " {:.1} ({:.1}) |", micros(index.cpu), micros(index.wall))?;
        }
        writeln!(page)?;
    }
    write!(page, "| paper, {PAPER_DOCUMENTS} | |")?;
    for name in &names {
        match paper(name) {
            Some((seconds, _)) => write!(page, " {:.0} |", seconds * 1e6)?,
            None => write!(page, " – |")?,
        }
    }
    writeln!(page)?;

    writeln!(page, "\n## Average page accesses of a question\n")?;
    writeln!(
        page,
        "As SQLite counts them: in the trees, and (after the plus) in the table of whole features \
         that a find is compared with, which the paper's indexes did not have. One of the first is \
         the file's header. A node of an SQLite R*-tree is a row of a table: to reach it takes the \
         way through that table's B-tree. Nodes are what the paper's pages were.\n"
    )?;
    let papers = PAPER.map(|paper| paper.0);
    heading(&mut page, &["documents"], &papers)?;
    for step in steps {
        write!(page, "| {} |", step.documents)?;
        for (trees, compared) in step.indexes.iter().filter_map(|index| index.pages) {
            write!(page, " {trees:.1} + {compared:.1} |")?;
        }
        writeln!(page)?;
    }
    writeln!(
        page,
        "\nPages of B-trees and nodes of R*-trees; in brackets for questions that find an original, \
         and for those that find none and so ask all trees.\n"
    )?;
    heading(&mut page, &["documents"], &papers)?;
    for step in steps {
        write!(page, "| {} |", step.documents)?;
        for accesses in step.indexes.iter().filter_map(|index| index.accesses) {
            let [all, found, none] =
                [accesses.all(), accesses.found, accesses.none].map(|average| {
                    average.value().map_or("–".to_owned(), |value| format!("{value:.1}"))
                });
            write!(page, " {all} ({found}, {none}) |")?;
        }
        writeln!(page)?;
    }
    write!(page, "| paper, {PAPER_DOCUMENTS} |")?;
    for (_, _, accesses) in PAPER {
        write!(page, " {accesses} |")?;
    }
    writeln!(page)?;

    writeln!(page, "\n## Loading and size\n")?;
    writeln!(
        page,
        "Microseconds of CPU to add a document of this step, and bytes a document in all (of memory \
         for the default, of the file for the others). The default takes documents one by one, with two \
         readings of the clock.\n"
    )?;
    heading(&mut page, &["documents"], &names)?;
    for step in steps {
        write!(page, "| {} |", step.documents)?;
        for index in &step.indexes {
            write!(
                page,
                " {:.1} µs, {:.0} B |",
                micros(index.load) / index.loaded as f64,
                index.bytes as f64 / step.documents as f64
            )?;
        }
        writeln!(page)?;
    }
    let stem = args.report.out.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    writeln!(page, "\n![average time of a question]({stem}-time.svg)")?;
    writeln!(page, "\n![average accesses of a question]({stem}-accesses.svg)")?;
    Ok(page)
}

/// What the system says of its processor and of how busy it is.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let cores = processors.lines().filter(|line| line.starts_with("processor")).count();
    let load = read("/proc/loadavg");
    let load = load.split(' ').take(3).collect::<Vec<_>>().join("/");
    format!("{model}, {cores} cores; load average at the end {load}")
}
