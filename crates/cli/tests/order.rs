//! `wonbon order` as a person meets it: table, files, errors, exit codes.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::fs;
use std::path::Path;

use support::{json, stderr, stdout, wonbon};

/// Two sites: a front page and two pages of a, a front page and a page of b; c cannot be reached.
fn graph(folder: &Path) -> String {
    let directory = folder.join("web");
    fs::create_dir(&directory).unwrap();
    let urls = "http://a.example/\nhttp://a.example/1\nhttp://a.example/2\nhttp://b.example/\n\
                http://b.example/1\nhttp://c.example/\n";
    fs::write(directory.join("urls.txt"), urls).unwrap();
    fs::write(directory.join("edges.tsv"), "0\t1\n0\t2\n0\t3\n1\t3\n3\t4\n3\t0\n5\t0\n").unwrap();
    directory.to_str().unwrap().to_owned()
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn curves_and_a_plot_are_written_and_a_table_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, out) = (graph(folder.path()), path(folder.path(), "out"));
    let seeds = path(folder.path(), "seeds.txt");
    fs::write(&seeds, "# where to begin\nhttp://a.example/\n").unwrap();
    let output = wonbon(&["order", &graph, "--order", "bfs,mcs", "--seeds", &seeds, "-o", &out]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert!(
        lines[0].starts_with(
            "6 pages, 7 links, 3 sites; 5 pages of 2 sites can be reached from 1 page"
        ),
        "{}",
        lines[0]
    );
    assert_eq!(lines.len(), 5);
    assert!(lines[3].starts_with("bfs ") && lines[4].starts_with("mcs "));
    let csv = fs::read_to_string(folder.path().join("out/curves.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["order", "pages", "pagerank", "sites", "turns"]);
    assert_eq!(rows.len(), 1 + 2 * 5);
    // Breadth-first comes to the second site with the fourth page; initial links do the same here.
    let sites: Vec<&str> = rows[1..6].iter().map(|row| row[3]).collect();
    assert_eq!(sites, ["1", "1", "1", "2", "2"]);
    let plot = fs::read_to_string(folder.path().join("out/curves.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains(">mcs<"));
    assert!(!folder.path().join("out.partial").exists());
}

#[test]
fn json_is_one_object_with_all_orderings() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, out) = (graph(folder.path()), path(folder.path(), "out"));
    let output = wonbon(&[
        "order", &graph, "--order", "all", "--gap", "3", "--site", "host", "--json", "-o", &out,
    ]);
    let told = json(&output);
    assert_eq!(
        (&told["pages"], &told["site"], &told["gap"]),
        (&6.into(), &"host".into(), &3.into())
    );
    let orders = told["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 13);
    for order in orders {
        assert!(order["pages"].as_u64() >= Some(5), "{order}");
        assert_eq!(order["shares"].as_array().unwrap().len(), 5, "{order}");
        assert!(order["idle_turns"].as_u64() > Some(0), "{order}");
    }
}

#[test]
fn a_crawl_that_stops_early_has_no_later_shares() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, out) = (graph(folder.path()), path(folder.path(), "out"));
    let output = wonbon(&["order", &graph, "--order", "bfs", "--pages", "1", "-o", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).lines().last().unwrap().ends_with('–'), "{}", stdout(&output));
}

#[test]
fn the_same_web_is_made_again_and_can_be_crawled() {
    let folder = tempfile::tempdir().unwrap();
    let (once, again) = (path(folder.path(), "once"), path(folder.path(), "again"));
    for out in [&once, &again] {
        let output = wonbon(&["order", "generate", "--pages", "2000", "--seed", "7", "-o", out]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), ""));
        assert!(stderr(&output).starts_with("note: 2,000 pages of "), "{}", stderr(&output));
    }
    for file in ["urls.txt", "edges.tsv"] {
        let bytes = |directory: &str| fs::read(Path::new(directory).join(file)).unwrap();
        assert_eq!(bytes(&once), bytes(&again));
    }
    let out = path(folder.path(), "out");
    let output = wonbon(&["order", &once, "-o", &out]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    assert_eq!(stdout(&output).lines().count(), 3 + 6);
}

#[test]
fn what_cannot_be_done_is_said_in_a_sentence_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (graph, out) = (graph(folder.path()), path(folder.path(), "out"));
    let seeds = path(folder.path(), "seeds.txt");
    fs::write(&seeds, "http://a.example/\n\nhttp://d.example/\n").unwrap();
    let there = path(folder.path(), "web");
    let missing = path(folder.path(), "missing");
    for (arguments, expected) in [
        (
            vec![&graph[..], "--order", "bfs,best", "-o", &out],
            "error: `best` is no ordering; there are generic, bfs,",
        ),
        (vec![&graph, "--order", "bfs,bfs", "-o", &out], "error: the ordering bfs is named twice"),
        (
            vec![&graph, "--seeds", &seeds, "-o", &out],
            "error: DIR/seeds.txt:3 `http://d.example/` is no page of DIR/web",
        ),
        (vec![&graph, "-o", &there], "error: DIR/web is there already; nothing is overwritten"),
        (vec![&missing, "-o", &out], "error: DIR/missing is no graph: neither a directory"),
        (
            vec![&graph, "--damping", "1", "-o", &out],
            "error: invalid value '1' for '--damping <D>': a probability below 1",
        ),
        (
            vec![&graph, "--site", "page", "-o", &out],
            "error: invalid value 'page' for '--site <RULE>': `page` is neither host nor domain",
        ),
        (vec![&graph], "error: the following required arguments were not provided: --out <OUT>"),
    ] {
        let output = wonbon(&[&["order"], &arguments[..]].concat());
        let said = stderr(&output).replace(folder.path().to_str().unwrap(), "DIR");
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""), "{said}");
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!Path::new(&out).exists());
    }
}
