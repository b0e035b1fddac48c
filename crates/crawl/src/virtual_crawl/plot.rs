//! The curves of virtual crawls as a picture: the paper's figures 3 and 4 beside each other.
//!
//! One SVG file that asks for nothing else and reads by day and by night. Left the cumulative
//! PageRank, right the number of sites, both over the pages fetched. Lines are told apart by colour
//! and by dashes, and each is named where it ends as well as above the panels.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use super::Point;

/// One ordering's curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The ordering.
    pub name: String,
    /// What it gathered, by rising number of pages.
    pub points: Vec<Point>,
}

const WIDTH: f64 = 1040.0;
const PANEL_WIDTH: f64 = 410.0;
const PANEL_HEIGHT: f64 = 300.0;
/// Where the panels begin from the left.
const LEFT: [f64; 2] = [64.0, 594.0];
const LEGEND_COLUMNS: usize = 7;
const LEGEND_WIDTH: f64 = 140.0;
const LEGEND_HEIGHT: f64 = 22.0;

/// Colours by day and by night; dashes change when they come round.
const COLOURS: [(&str, &str); 7] = [
    ("#1f6f9c", "#6fb3d2"),
    ("#b4540a", "#f0a35e"),
    ("#2f7d3b", "#7fcb8a"),
    ("#8b3fa0", "#c99bdc"),
    ("#a3263c", "#f08a9b"),
    ("#5d6670", "#aeb6bd"),
    ("#7a6a00", "#d9c95a"),
];
const DASHES: [&str; 3] = ["", "7 4", "2 3"];

/// What a panel shows of a point.
type Value = fn(&Point) -> f64;

/// Draws the curves.
pub fn svg(curves: &[Curve]) -> Markup {
    let legend_rows = curves.len().div_ceil(LEGEND_COLUMNS);
    let top = 28.0 + legend_rows as f64 * LEGEND_HEIGHT + 26.0;
    let height = top + PANEL_HEIGHT + 52.0;
    let most_pages = curves.iter().filter_map(|curve| curve.points.last()).map(|point| point.pages);
    let most_pages = f64::from(most_pages.max().unwrap_or(1));
    let values: [(&str, Value); 2] = [
        ("cumulative PageRank", |point| point.pagerank),
        ("number of sites", |point| f64::from(point.sites)),
    ];
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
            aria-label="Cumulative PageRank and number of sites over pages fetched" {
            "\n" style { (PreEscaped(style_sheet())) } "\n"
            (legend(curves))
            @for ((title, value), left) in values.into_iter().zip(LEFT) {
                (panel(curves, title, value, most_pages, (left, top)))
            }
        }
        "\n"
    }
}

/// Constant: colours and dashes by day and by night.
fn style_sheet() -> String {
    let mut css = String::from(
        "svg{color-scheme:light dark;background:#fbfaf7;font:13px system-ui,sans-serif}\
         text{fill:#1d2327}.faint{fill:#626b72}.grid{stroke:#dedbd3;fill:none}\
         .line{fill:none;stroke-width:2;stroke-linejoin:round}",
    );
    for (at, (day, _)) in COLOURS.iter().enumerate() {
        let _ = write!(css, ".c{at}{{stroke:{day}}}text.c{at}{{stroke:none;fill:{day}}}");
    }
    css.push_str(
        "@media(prefers-color-scheme:dark){svg{background:#14181b}text{fill:#e6e8e9}\
         .faint{fill:#9aa4ab}.grid{stroke:#333b41}",
    );
    for (at, (_, night)) in COLOURS.iter().enumerate() {
        let _ = write!(css, ".c{at}{{stroke:{night}}}text.c{at}{{stroke:none;fill:{night}}}");
    }
    css.push('}');
    css
}

fn style(at: usize) -> (usize, &'static str) {
    (at % COLOURS.len(), DASHES[at / COLOURS.len() % DASHES.len()])
}

fn legend(curves: &[Curve]) -> Markup {
    html! {
        @for (at, curve) in curves.iter().enumerate() {
            @let x = LEFT[0] + (at % LEGEND_COLUMNS) as f64 * LEGEND_WIDTH;
            @let y = 28.0 + (at / LEGEND_COLUMNS) as f64 * LEGEND_HEIGHT;
            @let (colour, dashes) = style(at);
            path.line.{ "c" (colour) } stroke-dasharray=(dashes) d={ "M" (x) " " (y - 4.5) "h30" } {}
            text x=(x + 38.0) y=(y) { (curve.name) } "\n"
        }
    }
}

/// The multiples of a step up to a number.
fn ticks(step: f64, most: f64) -> impl Iterator<Item = f64> {
    (0..).map(move |tick| f64::from(tick) * step).take_while(move |tick| *tick <= most * 1.0001)
}

fn panel(
    curves: &[Curve],
    title: &str,
    value: Value,
    most_pages: f64,
    (left, top): (f64, f64),
) -> Markup {
    let most = curves.iter().flat_map(|curve| &curve.points).map(value).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let (step_x, step_y) = (tick_step(most_pages), tick_step(most));
    let highest = (most / step_y).ceil() * step_y;
    let bottom = top + PANEL_HEIGHT;
    let x = |pages: f64| left + pages / most_pages * PANEL_WIDTH;
    let y = |value: f64| bottom - value / highest * PANEL_HEIGHT;
    html! {
        text.faint x=(left) y=(top - 10.0) { (title) } "\n"
        @for tick in ticks(step_y, highest) {
            @let y = y(tick);
            path.grid d=(format_args!("M{left} {y:.1}h{PANEL_WIDTH}")) {}
            text.faint text-anchor="end" x=(left - 8.0) y=(format_args!("{:.1}", y + 4.0)) {
                (format_short(tick, step_y))
            }
            "\n"
        }
        @for tick in ticks(step_x, most_pages) {
            @let x = format!("{:.1}", x(tick));
            path.grid d={ "M" (x) " " (bottom) "v5" } {}
            text.faint text-anchor="middle" x=(x) y=(bottom + 20.0) { (format_short(tick, step_x)) } "\n"
        }
        text.faint text-anchor="middle" x=(left + PANEL_WIDTH / 2.0) y=(bottom + 40.0) { "pages" } "\n"
        @for (at, curve) in curves.iter().enumerate() {
            @let (colour, dashes) = style(at);
            path.line.{ "c" (colour) } stroke-dasharray=(dashes) d=(svg_path(curve, value, x, y)) {
                title { (curve.name) }
            }
            "\n"
        }
        @for (height, at) in ends(curves, value, left, x, y, bottom) {
            text.{ "c" (style(at).0) } font-size="12" x=(left + PANEL_WIDTH + 5.0)
                y=(format_args!("{:.1}", height + 4.0)) { (curves[at].name) } "\n"
        }
    }
}

/// The way of a curve over its panel.
fn svg_path(curve: &Curve, value: Value, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let mut way = format!("M{:.1} {:.1}", x(0.0), y(0.0));
    let mut drawn = (x(0.0), y(0.0));
    for (index, point) in curve.points.iter().enumerate() {
        let place = (x(f64::from(point.pages)), y(value(point)));
        let last = index + 1 == curve.points.len();
        // Less than a dot away from the last one is not worth its bytes.
        if last || (place.0 - drawn.0).abs() + (place.1 - drawn.1).abs() >= 1.0 {
            let _ = write!(way, "L{:.1} {:.1}", place.0, place.1);
            drawn = place;
        }
    }
    way
}

/// Where the names of lines stand at their ends, apart from each other: the height and the line.
fn ends(
    curves: &[Curve],
    value: Value,
    left: f64,
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
    bottom: f64,
) -> Vec<(f64, usize)> {
    // At the end of a whole crawl all lines meet; they are told apart by the legend then.
    let right = left + PANEL_WIDTH;
    let mut labels: Vec<(f64, usize)> = curves
        .iter()
        .enumerate()
        .filter_map(|(at, curve)| {
            let last = curve.points.last()?;
            (x(f64::from(last.pages)) > right - 1.0).then(|| (y(value(last)), at))
        })
        .collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let spread =
        labels.last().map_or(0.0, |last| last.0) - labels.first().map_or(0.0, |first| first.0);
    if spread < 1.0 && labels.len() > 1 {
        return Vec::new();
    }
    let mut lowest = f64::NEG_INFINITY;
    for (height, _) in &mut labels {
        *height = height.max(lowest + 13.0);
        lowest = *height;
    }
    labels.retain(|(height, _)| *height <= bottom + 4.0);
    labels
}

/// A round distance that gives some five ticks.
fn tick_step(most: f64) -> f64 {
    let rough = most / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|step| step * power)
        .into_iter()
        .find(|&step| step >= rough * 0.999)
        .unwrap_or(power)
}

/// A number with as many digits as its neighbours need.
fn format_short(number: f64, step: f64) -> String {
    let (number, step, unit) = match step {
        step if step >= 200_000.0 => (number / 1e6, step / 1e6, "M"),
        step if step >= 2_000.0 => (number / 1e3, step / 1e3, "k"),
        step => (number, step, ""),
    };
    if number == 0.0 {
        return "0".to_owned();
    }
    let digits = (0..4).find(|&digits| {
        let scaled = step * 10_f64.powi(digits);
        (scaled - scaled.round()).abs() < 1e-6
    });
    format!("{number:.*}{unit}", digits.unwrap_or(4) as usize)
}
