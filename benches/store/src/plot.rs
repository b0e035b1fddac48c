//! Lines over numbers of documents, as SVG.

use std::fmt::Write;

/// One line, with the paper's value at its end.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
    /// A value of the paper, at a number of documents.
    pub(crate) paper: Option<(f64, f64)>,
}

/// What is on the upright axis.
pub(crate) struct Axis {
    pub(crate) title: &'static str,
    pub(crate) logarithmic: bool,
    /// How a value is written.
    pub(crate) label: fn(f64) -> String,
}

const COLOURS: [&str; 4] = ["#2f6f8f", "#c0562f", "#3f8f4f", "#7a5fa0"];
const LEFT: f64 = 70.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 300.0;

/// The plot. Filled marks are ours, hollow ones the paper's.
pub(crate) fn svg(lines: &[Line], axis: &Axis) -> String {
    let all = || lines.iter().flat_map(|line| line.points.iter().copied().chain(line.paper));
    let most_documents = all().map(|(documents, _)| documents).fold(0.0, f64::max);
    let (mut low, mut high) = all()
        .fold((f64::MAX, 0.0_f64), |(low, high), (_, value)| (low.min(value), high.max(value)));
    let ticks: Vec<f64> = if axis.logarithmic {
        (low, high) = (low.log10().floor(), high.log10().ceil());
        (low as i32..=high as i32).map(|power| 10_f64.powi(power)).collect()
    } else {
        let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
            .into_iter()
            .find(|step| high / step <= 8.0)
            .unwrap_or(high);
        (low, high) = (0.0, (high / step).ceil() * step);
        (0..=(high / step) as u32).map(|number| f64::from(number) * step).collect()
    };
    let across = |documents: f64| LEFT + (RIGHT - LEFT) * documents / most_documents;
    let up = |value: f64| {
        let value = if axis.logarithmic { value.log10() } else { value };
        BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low)
    };
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 350\" \
         font-family=\"sans-serif\" font-size=\"12\"><rect width=\"640\" height=\"350\" \
         fill=\"#fff\"/>\n",
    );
    let mut put = |element: String| writeln!(svg, "{element}").expect("a string takes all");
    for tick in ticks {
        let (at, label) = (up(tick), (axis.label)(tick));
        put(format!("<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#ddd\"/>"));
        put(format!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0
        ));
    }
    put(format!("<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#888\"/>"));
    for (documents, _) in lines.first().map_or(&[][..], |line| &line.points) {
        put(format!(
            "<text x=\"{:.1}\" y=\"318\" text-anchor=\"middle\">{}k</text>",
            across(*documents),
            documents / 1000.0
        ));
    }
    for ((number, line), colour) in lines.iter().enumerate().zip(COLOURS) {
        let path: Vec<String> = line
            .points
            .iter()
            .map(|&(documents, value)| format!("{:.1} {:.1}", across(documents), up(value)))
            .collect();
        put(format!(
            "<path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"2\" fill=\"none\"/>",
            path.join("L")
        ));
        for &(documents, value) in &line.points {
            put(mark(across(documents), up(value), colour, colour));
        }
        if let Some((documents, value)) = line.paper {
            put(mark(across(documents), up(value), "#fff", colour));
        }
        let at = 60.0 + 20.0 * number as f64;
        put(mark(520.0, at - 4.0, colour, colour));
        put(format!("<text x=\"530\" y=\"{at}\">{}</text>", line.name));
    }
    put(mark(520.0, 156.0, "#fff", "#555"));
    put("<text x=\"530\" y=\"160\">2010 paper</text>".to_owned());
    put("<text x=\"285\" y=\"340\" text-anchor=\"middle\">documents</text>".to_owned());
    put(format!("<text x=\"{LEFT}\" y=\"26\">{}</text>", axis.title));
    svg.push_str("</svg>\n");
    svg
}

fn mark(across: f64, down: f64, fill: &str, line: &str) -> String {
    format!(
        "<circle cx=\"{across:.1}\" cy=\"{down:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"{line}\" \
         stroke-width=\"2\"/>"
    )
}
