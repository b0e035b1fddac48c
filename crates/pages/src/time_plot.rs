//! Lines or grouped bars over time: several series of numbers, one number each a moment.
//!
//! Lines stand where their time is; grouped bars stand at equal distances, one group a moment. A
//! moment without a number is a gap, not a zero. Series are distinguished by colour, by dashes and by
//! the shape of their marks, and all numbers stand in a table that can be opened below the picture,
//! so neither colour nor sight is needed.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::page::Cell;
use crate::{Page, Wording, fill, thousands};

/// A moment at which numbers are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Where it is, in microseconds since 1970; moments stand in order.
    pub at: i64,
    /// How it is called: `2026-11-15`.
    pub label: String,
}

impl Moment {
    /// A moment and its name.
    pub fn new(at: i64, label: impl Into<String>) -> Self {
        Moment { at, label: label.into() }
    }
}

/// Numbers that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// One for each moment; `None`, or one that is not finite, is a gap.
    pub values: Vec<Option<f64>>,
}

impl Series {
    /// A name and one number for each moment.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Series { name: name.into(), values: values.into_iter().collect() }
    }

    fn value(&self, at: usize) -> Option<f64> {
        self.values.get(at).copied().flatten().filter(|value| value.is_finite())
    }
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Whole numbers.
    Counts,
    /// Parts of one, written as percent.
    Shares,
    /// Any numbers.
    Numbers,
}

/// How numbers are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line for each series.
    Lines,
    /// A bar for each series at each moment.
    Bars,
}

/// A plot over time.
#[derive(Debug, Clone, Copy)]
pub struct TimePlot<'a> {
    /// What it shows.
    pub title: &'a str,
    /// What a moment is: `sweep`.
    pub moments: &'a str,
    /// What the numbers count: `documents`.
    pub values: &'a str,
    /// How numbers are written.
    pub scale: Scale,
    /// How numbers are drawn.
    pub shape: Shape,
    /// The moments, in order.
    pub points: &'a [Moment],
    /// The numbers, each series as long as `points`.
    pub series: &'a [Series],
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 46.0;
/// Colours of the style sheet.
const COLOURS: usize = 6;
const DASHES: [&str; 4] = ["", "7 4", "2 3", "9 3 2 3"];
/// The width of a character of an axis, with some room.
const CHARACTER: f64 = 7.6;

impl Page {
    /// Draws a plot over time, with its legend and its numbers.
    pub fn time_plot(&mut self, plot: &TimePlot<'_>) {
        let figure = |inside| html! { figure { figcaption { (plot.title) } (inside) } };
        self.within(figure, |page| page.plot_and_numbers(plot));
    }

    fn plot_and_numbers(&mut self, plot: &TimePlot<'_>) {
        let known =
            || plot.series.iter().flat_map(|s| (0..plot.points.len()).map(|at| s.value(at)));
        if known().flatten().next().is_none() {
            self.paragraph(self.wording.no_numbers);
            return;
        }
        let axis = Axis::over(known().flatten(), plot.scale);
        let picture = Picture { plot, axis };
        let (name, description) = (self.fresh_name(), self.fresh_name());
        self.markup(html! {
            div.plot tabindex="0" role="group" aria-label=(plot.title) {
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby={ (name) " " (description) } {
                    title id=(name) { (plot.title) }
                    desc id=(description) { (picture.told(self.wording)) }
                    (picture.axes())
                    (picture.marks())
                }
            }
            ul.legend {
                @for (number, series) in plot.series.iter().enumerate() {
                    li class={ "s" (number % COLOURS) } {
                        svg.series viewBox="0 0 30 12" aria-hidden="true" {
                            @match plot.shape {
                                Shape::Lines => {
                                    path d="M1 6H29" stroke-dasharray=(dashes(number)) {}
                                    (mark(number, 15.0, 6.0))
                                }
                                Shape::Bars => { rect x="9" y="0" width="12" height="12" rx="2" {} }
                            }
                        }
                        span { (series.name) }
                    }
                }
            }
        });
        let columns: Vec<&str> = std::iter::once(plot.moments)
            .chain(plot.series.iter().map(|s| s.name.as_str()))
            .collect();
        let rows: Vec<Vec<Cell>> = plot
            .points
            .iter()
            .enumerate()
            .map(|(at, moment)| {
                let numbers = plot.series.iter().map(|series| {
                    Cell::Number(
                        series.value(at).map_or_else(|| "–".to_owned(), |v| exact(plot.scale, v)),
                    )
                });
                std::iter::once(Cell::Text(moment.label.clone())).chain(numbers).collect()
            })
            .collect();
        self.details(self.wording.the_numbers, false, |page| page.table(&columns, &rows));
    }
}

/// The vertical axis: steps that people count in.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Axis {
    /// The lowest and the highest line, in steps.
    steps: (i64, i64),
    step: f64,
    scale: Scale,
}

impl Axis {
    /// The axis that holds all of these and zero.
    fn over(values: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let (low, high) =
            values.fold((0.0_f64, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let span = if high > low { high / 5.0 - low / 5.0 } else { 0.2 };
        let tens = 10_f64.powf(span.log10().floor()).max(f64::MIN_POSITIVE);
        let mut step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|nice| nice * tens)
            .find(|&step| step >= span * 0.999)
            .unwrap_or(span);
        if scale == Scale::Counts {
            step = step.max(1.0);
        }
        let steps = ((low / step).floor() as i64, ((high / step).ceil() as i64).max(1));
        Axis { steps, step, scale }
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = (self.steps.0 as f64, self.steps.1 as f64);
        let part = (value / self.step - low) / (high - low);
        HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
    }

    /// The number at a line.
    fn label(&self, line: i64) -> String {
        let value = line as f64 * self.step;
        let decimals = |step: f64| (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        match self.scale {
            Scale::Counts => count(value),
            Scale::Shares => format!("{:.*} %", decimals(self.step * 100.0), value * 100.0),
            Scale::Numbers if self.step >= 1.0 => count(value),
            Scale::Numbers => format!("{value:.*}", decimals(self.step)),
        }
    }
}

/// A whole number with its thousands apart.
fn count(value: f64) -> String {
    let sign = if value <= -0.5 { "−" } else { "" };
    format!("{sign}{}", thousands(value.abs().round() as u64))
}

/// A number in the table and in words.
fn exact(scale: Scale, value: f64) -> String {
    match scale {
        Scale::Counts => count(value),
        Scale::Shares => format!("{:.1} %", value * 100.0),
        Scale::Numbers => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

fn dashes(series: usize) -> &'static str {
    DASHES[series % DASHES.len()]
}

/// The mark of a series at a place.
fn mark(series: usize, x: f64, y: f64) -> Markup {
    let drawn = match series % 4 {
        0 => {
            return html! { circle.mark cx=(short(x)) cy=(short(y)) r="3.6" {} };
        }
        1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
        _ => format!("M{x:.1} {:.1}l4.6 8h-9.2z", y - 5.0),
    };
    html! { path.mark d=(drawn) {} }
}

/// A length in the picture.
fn short(length: f64) -> String {
    format!("{length:.1}")
}

struct Picture<'a> {
    plot: &'a TimePlot<'a>,
    axis: Axis,
}

impl Picture<'_> {
    /// Where a moment is; the middle of its group for bars.
    fn x(&self, at: usize) -> f64 {
        let points = self.plot.points;
        let width = WIDTH - LEFT - RIGHT;
        if self.plot.shape == Shape::Bars || points.len() < 2 {
            return LEFT + width * (at as f64 + 0.5) / points.len() as f64;
        }
        let (first, last) = (points[0].at as f64, points[points.len() - 1].at as f64);
        let inside = 12.0;
        let part = if last > first {
            ((points[at].at as f64 - first) / (last - first)).clamp(0.0, 1.0)
        } else {
            at as f64 / (points.len() - 1) as f64
        };
        LEFT + inside + (width - 2.0 * inside) * part
    }

    /// The plot in a sentence for each series.
    fn told(&self, wording: &Wording) -> String {
        let plot = self.plot;
        let mut told = fill(wording.plot, &[plot.values, plot.moments]);
        for series in plot.series {
            let known: Vec<(usize, f64)> =
                (0..plot.points.len()).filter_map(|at| Some((at, series.value(at)?))).collect();
            let (Some(first), Some(last)) = (known.first(), known.last()) else { continue };
            let value = |&(_, value): &(usize, f64)| exact(plot.scale, value);
            let label = |&(at, _): &(usize, f64)| plot.points[at].label.as_str();
            let values =
                [series.name.as_str(), &value(first), label(first), &value(last), label(last)];
            let _ = write!(told, " {}", fill(wording.series, &values));
        }
        told
    }

    fn axes(&self) -> Markup {
        html! {
            @for line in self.axis.steps.0..=self.axis.steps.1 {
                @let y = self.axis.y(line as f64 * self.axis.step);
                line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(short(y)) y2=(short(y)) {}
                text.label x=(LEFT - 8.0) y=(short(y + 4.5)) { (self.axis.label(line)) }
            }
            text.axis x="0" y="13" { (self.plot.values) }
            text.middle x=(short(LEFT + (WIDTH - LEFT - RIGHT) / 2.0)) y=(HEIGHT - 6.0) {
                (self.plot.moments)
            }
            @for (x, label) in self.named_moments() {
                text.middle x=(short(x)) y=(HEIGHT - BOTTOM + 18.0) { (label) }
            }
        }
    }

    /// Names of moments where there is room for them.
    fn named_moments(&self) -> Vec<(f64, &str)> {
        let mut named = Vec::new();
        let mut free = 0.0;
        for (at, moment) in self.plot.points.iter().enumerate() {
            let half = moment.label.chars().count() as f64 * CHARACTER / 2.0;
            let x = self.x(at).min(WIDTH - half);
            if x - half >= free {
                free = x + half + CHARACTER;
                named.push((x, moment.label.as_str()));
            }
        }
        named
    }

    fn marks(&self) -> Markup {
        html! {
            @for (number, series) in self.plot.series.iter().enumerate() {
                g class={ "series s" (number % COLOURS) } {
                    @match self.plot.shape {
                        Shape::Lines => (self.line(number, series)),
                        Shape::Bars => (self.bars_of(number, series)),
                    }
                }
            }
        }
    }

    /// What is told of a mark when a pointer rests on it.
    fn tip(&self, series: &Series, at: usize, value: f64) -> String {
        let plot = self.plot;
        format!("{}, {}: {}", plot.points[at].label, series.name, exact(plot.scale, value))
    }

    fn line(&self, number: usize, series: &Series) -> Markup {
        let mut way = String::new();
        let mut marks = Vec::new();
        let mut open = false;
        for at in 0..self.plot.points.len() {
            let Some(value) = series.value(at) else {
                open = false;
                continue;
            };
            let (x, y) = (self.x(at), self.axis.y(value));
            let _ = write!(way, "{}{x:.1} {y:.1}", if open { "L" } else { "M" });
            open = true;
            marks.push((mark(number, x, y), self.tip(series, at, value)));
        }
        html! {
            path d=(way) stroke-dasharray=(dashes(number)) {}
            @for (mark, tip) in marks { g { (mark) title { (tip) } } }
        }
    }

    fn bars_of(&self, number: usize, series: &Series) -> Markup {
        let group = (WIDTH - LEFT - RIGHT) / self.plot.points.len() as f64 * 0.8;
        let group = group.min(34.0 * self.plot.series.len() as f64);
        let bar = group / self.plot.series.len() as f64;
        let zero = self.axis.y(0.0);
        let known = (0..self.plot.points.len()).filter_map(|at| Some((at, series.value(at)?)));
        html! {
            @for (at, value) in known {
                @let y = self.axis.y(value);
                @let height = if value == 0.0 { 0.0 } else { (zero - y).abs().max(1.0) };
                @let x = self.x(at) - group / 2.0 + bar * number as f64;
                rect x=(short(x)) y=(short(zero.min(y))) width=(short((bar - 1.0).max(0.6))) height=(short(height)) rx="1" {
                    title { (self.tip(series, at, value)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drawn(shape: Shape, scale: Scale, points: &[Moment], series: &[Series]) -> String {
        let mut page = Page::new("plot");
        page.time_plot(&TimePlot {
            title: "A <plot>",
            moments: "sweep",
            values: "documents",
            scale,
            shape,
            points,
            series,
        });
        page.body().0.to_owned()
    }

    fn days(count: usize) -> Vec<Moment> {
        (0..count)
            .map(|day| Moment::new(day as i64 * 86_400_000_000, format!("day {day}")))
            .collect()
    }

    #[test]
    fn axes_count_as_people_do() {
        let labels = |values: &[f64], scale| {
            let axis = Axis::over(values.iter().copied(), scale);
            (axis.steps.0..=axis.steps.1).map(|line| axis.label(line)).collect::<Vec<_>>()
        };
        assert_eq!(labels(&[3.0], Scale::Counts), ["0", "1", "2", "3"]);
        assert_eq!(labels(&[0.0], Scale::Counts), ["0", "1"]);
        assert_eq!(
            labels(&[870.0], Scale::Counts),
            ["0", "200", "400", "600", "800", "1\u{202F}000"]
        );
        assert_eq!(
            labels(&[0.93], Scale::Shares),
            ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]
        );
        assert_eq!(
            labels(&[0.002], Scale::Shares),
            ["0.00 %", "0.05 %", "0.10 %", "0.15 %", "0.20 %"]
        );
        assert_eq!(labels(&[-4.0, 8.0], Scale::Numbers), ["−5", "0", "5", "10"]);
    }

    #[test]
    fn a_gap_breaks_the_line_and_is_no_zero() {
        let values = [Some(1.0), None, Some(2.0), Some(f64::NAN), Some(3.0)];
        let html = drawn(Shape::Lines, Scale::Counts, &days(5), &[Series::new("kept", values)]);
        let way = html.split("<path d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(way.matches('M').count(), 3, "{way}");
        assert_eq!(html.matches("<td class=\"n\">–</td>").count(), 2);
        assert!(html.contains("kept: from 1 at day 0 to 3 at day 4."), "{html}");
    }

    #[test]
    fn nothing_to_draw_is_said() {
        let html = drawn(Shape::Bars, Scale::Counts, &[], &[]);
        assert!(html.contains("There are no numbers yet.") && !html.contains("<svg"), "{html}");
    }

    #[test]
    fn every_number_is_there_in_words() {
        let series = [
            Series::new("born", [Some(1200.0), Some(40.0)]),
            Series::new("died", [Some(0.0), Some(7.0)]),
        ];
        for shape in [Shape::Lines, Shape::Bars] {
            let html = drawn(shape, Scale::Counts, &days(2), &series);
            for cell in ["1\u{202F}200", "40", "0", "7"] {
                assert!(html.contains(&format!("<td class=\"n\">{cell}</td>")), "{cell}: {html}");
            }
            assert!(html.contains("A &lt;plot&gt;") && !html.contains("<plot>"));
        }
    }

    proptest! {
        #[test]
        fn every_mark_is_inside_the_picture(
            values in prop::collection::vec(prop::option::of(-1e9..1e9_f64), 1..30),
            bars: bool,
        ) {
            let series = Series::new("numbers", values.iter().copied());
            let points = days(values.len());
            let shape = if bars { Shape::Bars } else { Shape::Lines };
            if values.iter().flatten().next().is_some() {
                let axis = Axis::over(values.iter().copied().flatten(), Scale::Numbers);
                prop_assert!(axis.steps.1 - axis.steps.0 <= 8, "{axis:?}");
                for value in values.iter().flatten() {
                    prop_assert!((TOP - 0.1..=HEIGHT - BOTTOM + 0.1).contains(&axis.y(*value)));
                }
                let plot = TimePlot { title: "", moments: "", values: "", scale: Scale::Numbers, shape, points: &points, series: std::slice::from_ref(&series) };
                let picture = Picture { plot: &plot, axis };
                for at in 0..points.len() {
                    prop_assert!((LEFT..=WIDTH - RIGHT).contains(&picture.x(at)));
                }
            }
            let html = drawn(shape, Scale::Numbers, &points, &[series]);
            prop_assert!(!html.contains("NaN") && !html.contains("inf"));
        }
    }
}
