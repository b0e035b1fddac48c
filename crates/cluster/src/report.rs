//! The report of a run: one page that needs nothing else, readable by day and by night.
//!
//! Totals, how large families are, how alike copies are, the largest families with their differences
//! marked, what was skipped and why, the parameters, time and memory of every phase.
//!
//! Cost: some hundred kilobytes at most; texts are shown up to [`SHOWN_BYTES`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use wonbon_text::difference::{Kind as Part, difference};

use crate::dedup::DedupSummary;
use crate::verdicts::{Kind, Verdicts};

/// How many families are shown.
pub const SHOWN_FAMILIES: usize = 20;

/// How many copies of each family are shown.
pub const SHOWN_COPIES: usize = 3;

/// How much of a text is compared and shown.
pub const SHOWN_BYTES: usize = 6_000;

/// Words of agreement that are shown around a difference.
const AROUND: usize = 12;

/// A family as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownFamily {
    pub(crate) original: u32,
    pub(crate) size: u32,
    pub(crate) copies: Vec<u32>,
}

/// The largest families, with some copies of each: those that differ first.
pub(crate) fn shown_families(verdicts: &Verdicts, others: u32) -> Vec<ShownFamily> {
    let mut families: Vec<ShownFamily> = verdicts
        .largest(SHOWN_FAMILIES)
        .into_iter()
        .map(|(original, size)| ShownFamily { original, size, copies: Vec::new() })
        .collect();
    let place: BTreeMap<u32, usize> =
        families.iter().enumerate().map(|(at, family)| (family.original, at)).collect();
    for wanted in [true, false] {
        for document in others..verdicts.len() {
            let told = verdicts.get(document);
            if told.kind.is_copy()
                && (told.kind == Kind::Resembling) == wanted
                && let Some(&at) = place.get(&told.original)
                && families[at].copies.len() < SHOWN_COPIES
            {
                families[at].copies.push(document);
            }
        }
    }
    families
}

/// What the page is made of.
pub(crate) struct Report<'a> {
    pub(crate) summary: &'a DedupSummary,
    pub(crate) verdicts: &'a Verdicts,
    pub(crate) others: u32,
    pub(crate) families: &'a [ShownFamily],
    /// Ids and texts of the documents that are shown.
    pub(crate) documents: &'a BTreeMap<u32, (String, String)>,
}

impl Report<'_> {
    /// The page.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        page.push_str(HEAD);
        self.totals(&mut page);
        self.histograms(&mut page);
        self.families(&mut page);
        self.skipped(&mut page);
        self.parameters(&mut page);
        page.push_str("</main></body></html>\n");
        page
    }

    fn totals(&self, page: &mut String) {
        let summary = self.summary;
        let copies = summary.copies();
        let share = 100.0 * copies as f64 / (summary.documents.max(1)) as f64;
        write(
            page,
            format_args!(
                "<h1>{} of {} documents are copies</h1>",
                apart(copies),
                apart(summary.documents)
            ),
        );
        write(
            page,
            format_args!(
                "<p class=lead>{} stay, in {} families there are {} copies ({share:.1} %). {} of text were read. Copies were looked for by {}.</p>",
                apart(summary.documents - copies),
                apart(summary.families),
                apart(copies),
                bytes(summary.text_bytes),
                escape(&summary.engine)
            ),
        );
        page.push_str("<div class=cards>");
        for kind in Kind::ALL {
            let count = summary.of_kind(kind);
            write(
                page,
                format_args!(
                    "<div class=card><b>{}</b><span>{kind}</span><small>{}</small></div>",
                    apart(count),
                    meaning(kind)
                ),
            );
        }
        page.push_str("</div>");
    }

    fn histograms(&self, page: &mut String) {
        let mut sizes: Vec<(String, u64)> = Vec::new();
        let (mut low, mut high) = (2_u32, 2_u32);
        let all: Vec<u32> = self.verdicts.family_sizes().collect();
        let largest = all.iter().copied().max().unwrap_or(0);
        while low <= largest {
            let count = all.iter().filter(|&&size| size >= low && size <= high).count() as u64;
            let name = if low == high { low.to_string() } else { format!("{low}–{high}") };
            sizes.push((name, count));
            low = high + 1;
            high = if low <= 5 { low } else { low * 2 - 1 };
        }
        let mut bins = [0_u64; 20];
        for document in self.others..self.verdicts.len() {
            let told = self.verdicts.get(document);
            if told.kind.is_copy() {
                bins[((told.resemblance * 20.0) as usize).min(19)] += 1;
            }
        }
        let first = bins.iter().position(|&count| count > 0).unwrap_or(16);
        let resemblances: Vec<(String, u64)> = bins
            .iter()
            .enumerate()
            .skip(first.min(16))
            .map(|(bin, &count)| {
                let edge = |bin: usize| bin as f64 / 20.0;
                (format!("{:.2}–{:.2}", edge(bin), edge(bin + 1)), count)
            })
            .collect();
        page.push_str("<div class=two><section><h2>How large families are</h2>");
        bars(page, &sizes, "families");
        page.push_str("</section><section><h2>How alike copies are to their original</h2>");
        bars(page, &resemblances, "copies");
        page.push_str("</section></div>");
    }

    fn families(&self, page: &mut String) {
        if self.families.is_empty() {
            return;
        }
        page.push_str("<h2>The largest families</h2>");
        for (at, family) in self.families.iter().enumerate() {
            let Some((id, text)) = self.documents.get(&family.original) else { continue };
            let open = if at == 0 { " open" } else { "" };
            write(
                page,
                format_args!(
                    "<details{open}><summary><b>{}</b> documents · original <code>{}</code></summary>",
                    apart(u64::from(family.size)),
                    escape(id)
                ),
            );
            let shown = start(text, 400);
            let more = if shown.len() < text.len() { "…" } else { "" };
            write(page, format_args!("<p class=text>{}{more}</p>", escape(shown)));
            for copy in &family.copies {
                let Some((id, copied)) = self.documents.get(copy) else { continue };
                let told = self.verdicts.get(*copy);
                write(
                    page,
                    format_args!(
                        "<h3><code>{}</code> · {} · resemblance {:.3}</h3>",
                        escape(id),
                        told.kind,
                        told.resemblance
                    ),
                );
                if told.kind == Kind::Resembling {
                    differences(page, start(text, SHOWN_BYTES), start(copied, SHOWN_BYTES));
                }
            }
            page.push_str("</details>");
        }
    }

    fn skipped(&self, page: &mut String) {
        let summary = self.summary;
        page.push_str("<h2>What was skipped and what was odd</h2>");
        if summary.skipped == 0 {
            page.push_str("<p>Every row was a document.</p>");
        } else {
            write(
                page,
                format_args!(
                    "<p>{} rows or files were skipped. The first:</p>",
                    apart(summary.skipped)
                ),
            );
            page.push_str("<table><tr><th>where</th><th>why</th></tr>");
            for skipped in &summary.skipped_first {
                let row = skipped.row.map_or_else(String::new, |row| format!(":{row}"));
                write(
                    page,
                    format_args!(
                        "<tr><td><code>{}{row}</code></td><td>{}</td></tr>",
                        escape(&skipped.file),
                        escape(&skipped.why)
                    ),
                );
            }
            page.push_str("</table>");
        }
        let (repeated, first) = &summary.repeated_ids;
        if *repeated > 0 {
            let names: Vec<String> =
                first.iter().take(10).map(|id| format!("<code>{}</code>", escape(id))).collect();
            write(
                page,
                format_args!(
                    "<p>{} ids stand on several rows: {}.</p>",
                    apart(*repeated),
                    names.join(", ")
                ),
            );
        }
        if summary.without_key > 0 {
            write(
                page,
                format_args!(
                    "<p>{} documents say nothing that decides which of a family stays; they come after the others.</p>",
                    apart(summary.without_key)
                ),
            );
        }
    }

    fn parameters(&self, page: &mut String) {
        let summary = self.summary;
        page.push_str("<div class=two><section><h2>Time and memory</h2><table><tr><th>phase</th><th class=n>seconds</th><th class=n>CPU</th><th class=n>peak so far</th></tr>");
        for phase in &summary.phases {
            write(
                page,
                format_args!(
                    "<tr><td>{}</td><td class=n>{:.2}</td><td class=n>{:.2}</td><td class=n>{}</td></tr>",
                    phase.phase,
                    phase.seconds,
                    phase.cpu_seconds,
                    bytes(phase.peak_bytes)
                ),
            );
        }
        page.push_str("</table></section><section><h2>Parameters</h2><table>");
        if let Some(plan) = summary.plan.as_object() {
            for (name, value) in plan.iter().filter(|(name, _)| name.as_str() != "inputs") {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                write(
                    page,
                    format_args!(
                        "<tr><td>{}</td><td><code>{}</code></td></tr>",
                        escape(name),
                        escape(&value)
                    ),
                );
            }
            if let Some(inputs) = plan.get("inputs").and_then(|inputs| inputs.as_array()) {
                let first = inputs
                    .iter()
                    .take(10)
                    .filter_map(|input| input["path"].as_str())
                    .map(|path| format!("<code>{}</code>", escape(path)))
                    .collect::<Vec<_>>()
                    .join("<br>");
                write(
                    page,
                    format_args!("<tr><td>inputs ({})</td><td>{first}</td></tr>", inputs.len()),
                );
            }
        }
        page.push_str("</table></section></div>");
    }
}

/// Where two texts differ, with some words around each place.
fn differences(page: &mut String, left: &str, right: &str) {
    let found = difference(left, right);
    page.push_str("<p class=text>");
    let last = found.spans.len().saturating_sub(1);
    for (at, span) in found.spans.iter().enumerate() {
        match span.kind {
            Part::Same => {
                let words = span.right.clone();
                let (from, to) = (words.start, words.end);
                let head = if at == 0 { from } else { (from + AROUND).min(to) };
                let tail = if at == last { to } else { to.saturating_sub(AROUND).max(head) };
                if head > from {
                    let place = found.right.place(from..head);
                    write(page, format_args!("{} ", escape(&right[place])));
                }
                if tail > head {
                    page.push_str("<i>…</i> ");
                }
                if at != last && tail < to {
                    let place = found.right.place(tail..to);
                    write(page, format_args!("{} ", escape(&right[place])));
                }
            }
            Part::OnlyLeft => {
                let place = found.left.place(span.left.clone());
                write(page, format_args!("<del>{}</del> ", escape(&left[place])));
            }
            Part::OnlyRight => {
                let place = found.right.place(span.right.clone());
                write(page, format_args!("<ins>{}</ins> ", escape(&right[place])));
            }
        }
    }
    page.push_str("</p>");
}

/// Horizontal bars with their numbers.
fn bars(page: &mut String, rows: &[(String, u64)], unit: &str) {
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if most == 0 {
        page.push_str("<p>There are none.</p>");
        return;
    }
    let height = rows.len() * 24 + 4;
    write(page, format_args!("<svg viewBox=\"0 0 520 {height}\" role=img aria-label=\"{unit}\">"));
    for (at, (name, count)) in rows.iter().enumerate() {
        let y = at * 24;
        let width = if *count == 0 { 0.0 } else { (340.0 * *count as f64 / most as f64).max(2.0) };
        write(
            page,
            format_args!(
                "<text x=72 y={} class=label>{name}</text><rect x=82 y={} width={width:.1} height=16 rx=2 /><text x={:.1} y={} class=count>{}</text>",
                y + 16,
                y + 4,
                90.0 + width,
                y + 16,
                apart(*count)
            ),
        );
    }
    page.push_str("</svg>");
}

fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Empty => "no words; kept",
        Kind::Single => "no copies",
        Kind::Original => "has copies",
        Kind::Identical => "same bytes",
        Kind::SameText => "same words, other bytes",
        Kind::SameShingles => "same shingles, other words",
        Kind::Resembling => "copy with differences",
    }
}

fn write(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("writing to a string does not fail");
}

/// The first bytes of a text, whole characters.
fn start(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\0' => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A number with its thousands apart.
fn apart(number: u64) -> String {
    let digits = number.to_string();
    let mut apart = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push('\u{202F}');
        }
        apart.push(digit);
    }
    apart
}

fn bytes(count: u64) -> String {
    match count {
        0..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.2} GB", count as f64 / 1e9),
    }
}

const HEAD: &str = r#"<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content="width=device-width,initial-scale=1"><title>wonbon dedup: report</title><style>
:root{color-scheme:light dark;--ground:#fbfaf7;--card:#fff;--ink:#1d2327;--faint:#626b72;--line:#dedbd3;--bar:#2f6f8f;--ins:#d3f0d6;--del:#fbd9d3}
@media(prefers-color-scheme:dark){:root{--ground:#14181b;--card:#1c2226;--ink:#e6e8e9;--faint:#9aa4ab;--line:#333b41;--bar:#6fb3d2;--ins:#1d4d2b;--del:#5c2822}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,"Noto Sans KR","Apple SD Gothic Neo",sans-serif}
main{max-width:1080px;margin:0 auto;padding:40px 24px 80px}h1{font-size:30px;line-height:1.2;margin:0 0 8px}h2{font-size:18px;margin:36px 0 10px}h3{font-size:14px;font-weight:500;margin:16px 0 4px;color:var(--faint)}
.lead{color:var(--faint);margin:0 0 20px;max-width:80ch}.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(138px,1fr));gap:10px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;display:flex;flex-direction:column}.card b{font-size:22px;font-variant-numeric:tabular-nums}.card span{font-size:15px;white-space:nowrap}.card small{color:var(--faint);font-size:12px}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:0 32px}svg{width:100%;height:auto}rect{fill:var(--bar)}svg text{font-size:13px;fill:var(--ink)}.label{text-anchor:end;fill:var(--faint)}
table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:5px 10px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--faint);font-weight:500}.n{text-align:right;font-variant-numeric:tabular-nums}
code{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}details{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px;margin:8px 0}summary{cursor:pointer;overflow-wrap:anywhere}
.text{font-size:14px;overflow-wrap:anywhere;margin:8px 0}.text i{color:var(--faint)}ins{background:var(--ins);text-decoration:none;border-radius:3px;padding:0 2px}del{background:var(--del);border-radius:3px;padding:0 2px}
</style></head><body><main>
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_document_becomes_markup() {
        let mut page = String::new();
        differences(&mut page, "one two three <b>four</b>", "one <script>two</script> three four");
        for mark in ["<b>", "<script"] {
            assert!(!page.contains(mark), "{page}");
        }
        assert!(page.contains("<ins>script") && page.contains("<del>"), "{page}");
    }

    #[test]
    fn agreement_far_from_differences_is_left_out() {
        let words: Vec<String> = (0..200).map(|n| format!("w{n}")).collect();
        let mut changed = words.clone();
        changed[100] = "changed".to_owned();
        let mut page = String::new();
        differences(&mut page, &words.join(" "), &changed.join(" "));
        assert!(page.contains("<del>w100</del>") && page.contains("<ins>changed</ins>"), "{page}");
        assert!(page.contains("w99 ") && page.contains(" w101"), "{page}");
        assert!(!page.contains("w50 ") && !page.contains("w150"), "{page}");
    }
}
