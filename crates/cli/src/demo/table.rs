//! The verdicts as a table of at most 100 columns.
//!
//! A column is as wide as its widest cell on a terminal, where Hangul, Han and kana are two cells wide. The
//! reason gets the remaining width and wraps. Colours only repeat what the words say; the caller drops
//! them where the output is no terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use wonbon_store::{FEATURE_COUNT, Kind};

use super::families::Verdict;

/// The widest line.
const TABLE_COLUMNS: usize = 100;
/// Between two columns.
const GAP: &str = "  ";
/// Reasons keep at least this width, even beside very long ids.
const LEAST_WHY_COLUMNS: usize = 20;

const HEADINGS: [&str; 7] = ["post", "created", "verdict", "of", "resemblance", "features", "why"];
/// Where the columns stand in [`HEADINGS`].
const VERDICT: usize = 2;
const WHY: usize = 6;

/// The table, with colours.
pub(crate) fn render(verdicts: &[Verdict<'_>]) -> String {
    let rows: Vec<[String; 7]> = verdicts.iter().map(cells).collect();
    let mut widths = HEADINGS.map(UnicodeWidthStr::width);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let before_why: usize = widths[..WHY].iter().map(|width| width + GAP.len()).sum();
    widths[WHY] = TABLE_COLUMNS.saturating_sub(before_why).max(LEAST_WHY_COLUMNS);

    let mut table = String::new();
    let bold = Style::new().bold();
    push_row(&mut table, &HEADINGS.map(str::to_owned), &widths, [bold; 7]);
    for (row, verdict) in rows.iter().zip(verdicts) {
        let mut styles = [Style::new(); 7];
        styles[VERDICT] = style_of(verdict.kind);
        push_row(&mut table, row, &widths, styles);
    }
    table
}

fn cells(verdict: &Verdict<'_>) -> [String; 7] {
    // The date is the part of the time before the T.
    let date = verdict.created.split('T').next().unwrap_or(verdict.created);
    [
        verdict.id.to_owned(),
        date.to_owned(),
        verdict.kind.name().to_owned(),
        verdict.original.unwrap_or_default().to_owned(),
        verdict.resemblance.map(|resemblance| format!("{resemblance:.3}")).unwrap_or_default(),
        verdict
            .features_equal
            .map(|equal| format!("{equal} of {FEATURE_COUNT}"))
            .unwrap_or_default(),
        verdict.why.clone(),
    ]
}

fn style_of(kind: Kind) -> Style {
    match kind {
        Kind::Original => Style::new().fg_color(Some(AnsiColor::Green.into())),
        Kind::Empty => Style::new().dimmed(),
        _ => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
    }
}

fn push_row(table: &mut String, cells: &[String; 7], widths: &[usize; 7], styles: [Style; 7]) {
    let mut line = String::new();
    for ((cell, width), style) in cells.iter().zip(widths).zip(styles).take(WHY) {
        let padding = " ".repeat(width.saturating_sub(cell.width()));
        let _ = write!(line, "{style}{cell}{style:#}{padding}{GAP}");
    }
    let indent: usize = widths[..WHY].iter().map(|width| width + GAP.len()).sum();
    for (number, part) in wrapped(&cells[WHY], widths[WHY]).iter().enumerate() {
        if number > 0 {
            let _ = write!(line, "\n{:indent$}", "");
        }
        let style = styles[WHY];
        let _ = write!(line, "{style}{part}{style:#}");
    }
    line.push('\n');
    table.push_str(&line);
}

/// Cuts at spaces into lines of at most `columns`; a longer word has a line of its own.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict<'a>(id: &'a str, why: &str) -> Verdict<'a> {
        Verdict {
            id,
            created: "2025-01-01T00:00:00Z",
            kind: Kind::Original,
            original: None,
            resemblance: None,
            features_equal: None,
            why: why.to_owned(),
        }
    }

    fn plain(verdicts: &[Verdict<'_>]) -> String {
        anstream::adapter::strip_str(&render(verdicts)).to_string()
    }

    #[test]
    fn columns_line_up_under_wide_and_narrow_ids() {
        let table = plain(&[verdict("텃밭/1", "why"), verdict("garden/1", "why")]);
        let starts: Vec<usize> = table
            .lines()
            .map(|line| line[..line.find("created").or(line.find("2025")).unwrap()].width())
            .collect();
        assert_eq!(starts, [10, 10, 10]);
    }

    #[test]
    fn long_reasons_stay_within_a_hundred_columns() {
        let table = plain(&[verdict("텃밭/1", &"여러 words ".repeat(30))]);
        assert!(table.lines().count() > 3);
        assert!(table.lines().all(|line| line.width() <= 100), "{table}");
    }
}
