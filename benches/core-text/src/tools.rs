//! The extractors, each as "decoded page in, text out".

/// An extractor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Wonbon,
    DomSmoothie,
    RsTrafilatura,
    Libreadability,
}

impl Tool {
    pub const ALL: &[Tool] =
        &[Tool::Wonbon, Tool::DomSmoothie, Tool::RsTrafilatura, Tool::Libreadability];

    pub fn name(self) -> &'static str {
        match self {
            Tool::Wonbon => "wonbon",
            Tool::DomSmoothie => "dom_smoothie",
            Tool::RsTrafilatura => "rs-trafilatura",
            Tool::Libreadability => "libreadability",
        }
    }

    /// How deep a nesting this tool is asked to read: the others take seconds, then minutes or the
    /// whole stack.
    pub fn deepest(self) -> usize {
        match self {
            Tool::Wonbon => 1_000_000,
            _ => 5_000,
        }
    }

    /// The text found; empty when the tool finds nothing.
    pub fn extract(self, page: &str, url: Option<&str>) -> String {
        match self {
            Tool::Wonbon => wonbon_text::extract::extract(page, url).text,
            Tool::DomSmoothie => {
                // Raw text squashes the words of neighbouring blocks; this mode does not.
                let config = dom_smoothie::Config {
                    text_mode: dom_smoothie::TextMode::Formatted,
                    ..Default::default()
                };
                dom_smoothie::Readability::new(page, None, Some(config))
                    .and_then(|mut readability| readability.parse())
                    .map(|article| article.text_content.to_string())
                    .unwrap_or_default()
            }
            Tool::RsTrafilatura => {
                let options =
                    rs_trafilatura::Options { url: url.map(str::to_owned), ..Default::default() };
                rs_trafilatura::extract_with_options(page, &options)
                    .map(|result| result.content_text)
                    .unwrap_or_default()
            }
            Tool::Libreadability => libreadability::extract(page, url)
                .map(|article| article.text_content)
                .unwrap_or_default(),
        }
    }
}
