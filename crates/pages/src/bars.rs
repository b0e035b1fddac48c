//! Horizontal bars: a histogram with its numbers.

use crate::{Page, escape, thousands};

/// From one bar to the next.
const ROW: usize = 24;

/// The longest bar.
const LONGEST: f64 = 340.0;

impl Page {
    /// Bars with their names on the left and their numbers on the right; `title` says what is
    /// counted to those who do not see it.
    pub fn bars(&mut self, title: &str, rows: &[(String, u64)]) {
        let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
        if most == 0 {
            self.paragraph(self.wording.none);
            return;
        }
        let told: Vec<String> =
            rows.iter().map(|(name, count)| format!("{name}: {}", thousands(*count))).collect();
        let (name, description) = (self.fresh_name(), self.fresh_name());
        self.markup(format_args!(
            "<svg class=bars viewBox=\"0 0 520 {}\" role=img aria-labelledby=\"{name} {description}\"><title id={name}>{}</title><desc id={description}>{}</desc>",
            rows.len() * ROW + 4,
            escape(title),
            escape(&told.join("; "))
        ));
        for (at, (name, count)) in rows.iter().enumerate() {
            let y = at * ROW;
            let width =
                if *count == 0 { 0.0 } else { (LONGEST * *count as f64 / most as f64).max(2.0) };
            self.markup(format_args!(
                "<text x=72 y={} class=label>{}</text><rect x=82 y={} width={width:.1} height=16 rx=2 /><text x={:.1} y={} class=count>{}</text>",
                y + 16,
                escape(name),
                y + 4,
                90.0 + width,
                y + 16,
                thousands(*count)
            ));
        }
        self.markup(format_args!("</svg>"));
    }
}
