//! Horizontal bars: a histogram with its numbers.

use maud::html;

use crate::{Page, thousands};

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
        let height = rows.len() * ROW + 4;
        let width = |count: u64| match count {
            0 => 0.0,
            count => (LONGEST * count as f64 / most as f64).max(2.0),
        };
        self.markup(html! {
            svg.bars viewBox={ "0 0 520 " (height) } role="img" aria-labelledby={ (name) " " (description) } {
                title id=(name) { (title) }
                desc id=(description) { (told.join("; ")) }
                @for (at, (name, count)) in rows.iter().enumerate() {
                    @let y = at * ROW;
                    @let width = width(*count);
                    text.label x="72" y=(y + 16) { (name) }
                    rect x="82" y=(y + 4) width=(format_args!("{width:.1}")) height="16" rx="2" {}
                    text.count x=(format_args!("{:.1}", 90.0 + width)) y=(y + 16) { (thousands(*count)) }
                }
            }
        });
    }
}
