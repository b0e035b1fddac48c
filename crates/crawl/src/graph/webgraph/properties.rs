//! The `.properties` file of a WebGraph: how many pages and links, and how they are coded.
//!
//! Keys and values are those of the Java class `BVGraph` and of the Rust crate `webgraph`; keys that
//! only describe the graph (bits per link, statistics) are passed over. `maxrefcount` limits the
//! chains of references for random access; reading in order does not need it.

use super::WebGraphError;
use super::bits::{BitOrder, Code};

/// Classes whose files have this format; older versions of the framework write the word before.
const CLASS: &str = "it.unimi.dsi.webgraph.BVGraph";
/// The newest version of the format.
const NEWEST_VERSION: u64 = 1;
/// The shrinking factor of zeta codes that is meant where none is given.
const ZETA_K: u32 = 3;

/// How a graph is coded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    pub(super) pages: u64,
    pub(super) links: u64,
    pub(super) order: BitOrder,
    /// How many pages back the links of a page may be copied from; 0 for no copying.
    pub(super) window: u64,
    /// The fewest successive links that are coded as an interval; 0 for no intervals.
    pub(super) shortest_interval: u64,
    pub(super) outdegrees: Code,
    pub(super) references: Code,
    pub(super) blocks: Code,
    pub(super) intervals: Code,
    pub(super) residuals: Code,
}

impl Properties {
    /// Reads a `.properties` file.
    ///
    /// # Errors
    ///
    /// A property is missing, or has a value that this reader does not know.
    pub fn parse(text: &str) -> Result<Self, WebGraphError> {
        let mut properties = Properties {
            pages: 0,
            links: 0,
            order: BitOrder::Big,
            window: 7,
            shortest_interval: 4,
            outdegrees: Code::Gamma,
            references: Code::Unary,
            blocks: Code::Gamma,
            intervals: Code::Gamma,
            residuals: Code::Zeta(ZETA_K),
        };
        let (mut pages, mut links) = (None, None);
        let mut flags = "";
        let mut zeta_k = ZETA_K;
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            let Some((name, value)) = line.split_once(['=', ':']) else { continue };
            let (name, value) = (name.trim(), value.trim());
            let unknown = || WebGraphError::unknown(name, value);
            let number = || value.parse::<u64>().map_err(|_| unknown());
            match name {
                "graphclass" if value.trim_start_matches("class ") != CLASS => {
                    return Err(unknown());
                }
                "version" if number()? > NEWEST_VERSION => return Err(unknown()),
                "nodes" => pages = Some(number()?),
                "arcs" => links = Some(number()?),
                "windowsize" => properties.window = number()?,
                "minintervallength" => properties.shortest_interval = number()?,
                "zetak" => {
                    let k = number()?.try_into().ok().filter(|k| (1..=7).contains(k));
                    zeta_k = k.ok_or_else(unknown)?;
                }
                "endianness" => {
                    properties.order = match value {
                        "big" => BitOrder::Big,
                        "little" => BitOrder::Little,
                        _ => return Err(unknown()),
                    };
                }
                "compressionflags" => flags = value,
                _ => {}
            }
        }
        properties.pages = pages.ok_or(WebGraphError::MissingProperty { name: "nodes" })?;
        properties.links = links.ok_or(WebGraphError::MissingProperty { name: "arcs" })?;
        properties.residuals = Code::Zeta(zeta_k);
        for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
            properties.set_code(flag, zeta_k)?;
        }
        Ok(properties)
    }

    /// How many pages the graph has.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// How many links the graph has.
    #[must_use]
    pub fn links(&self) -> u64 {
        self.links
    }

    /// Sets a code from one of the compression flags, say `RESIDUALS_GAMMA`.
    fn set_code(&mut self, flag: &str, zeta_k: u32) -> Result<(), WebGraphError> {
        let unknown = || WebGraphError::unknown("compressionflags", flag);
        let (what, name) = flag.split_once('_').ok_or_else(unknown)?;
        let code = match name {
            "UNARY" => Code::Unary,
            "GAMMA" => Code::Gamma,
            "DELTA" => Code::Delta,
            "ZETA" => Code::Zeta(zeta_k),
            _ => {
                let k = name.strip_prefix("ZETA").and_then(|k| k.parse().ok());
                Code::Zeta(k.filter(|k| (1..=7).contains(k)).ok_or_else(unknown)?)
            }
        };
        match what {
            "OUTDEGREES" => self.outdegrees = code,
            "REFERENCES" => self.references = code,
            "BLOCKS" => self.blocks = code,
            "INTERVALS" => self.intervals = code,
            "RESIDUALS" => self.residuals = code,
            // The file of offsets is not read.
            "OFFSETS" => {}
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_what_the_framework_takes() {
        let properties = Properties::parse("#BVGraph properties\nnodes=5\narcs = 9\n").unwrap();
        assert_eq!((properties.pages(), properties.links()), (5, 9));
        assert_eq!((properties.window, properties.shortest_interval), (7, 4));
        assert_eq!((properties.order, properties.residuals), (BitOrder::Big, Code::Zeta(3)));
    }

    #[test]
    fn codes_and_byte_order_are_read() {
        let text = "graphclass=class it.unimi.dsi.webgraph.BVGraph\nversion=1\nendianness=little\n\
            compressionflags=OUTDEGREES_DELTA|REFERENCES_GAMMA | RESIDUALS_ZETA\n\
            zetak=5\nwindowsize=0\nminintervallength=2\nnodes=1\narcs=0\nbitspernode=1.5\n";
        let properties = Properties::parse(text).unwrap();
        assert_eq!(properties.order, BitOrder::Little);
        assert_eq!((properties.outdegrees, properties.references), (Code::Delta, Code::Gamma));
        assert_eq!((properties.residuals, properties.intervals), (Code::Zeta(5), Code::Gamma));
        assert_eq!((properties.window, properties.shortest_interval), (0, 2));
        let text = "nodes=1\narcs=0\ncompressionflags=INTERVALS_ZETA7|BLOCKS_UNARY|OFFSETS_GAMMA";
        let properties = Properties::parse(text).unwrap();
        assert_eq!((properties.intervals, properties.blocks), (Code::Zeta(7), Code::Unary));
    }

    #[test]
    fn what_is_unknown_is_refused_by_name() {
        for (line, message) in [
            ("nodes=many", "this reader does not know nodes=many"),
            ("arcs=-1", "this reader does not know arcs=-1"),
            ("version=2", "this reader does not know version=2"),
            ("endianness=middle", "this reader does not know endianness=middle"),
            ("zetak=8", "this reader does not know zetak=8"),
            ("zetak=0", "this reader does not know zetak=0"),
            (
                "graphclass=it.unimi.dsi.webgraph.EFGraph",
                "this reader does not know graphclass=it.unimi.dsi.webgraph.EFGraph",
            ),
            (
                "compressionflags=OUTDEGREES_PI2",
                "this reader does not know compressionflags=OUTDEGREES_PI2",
            ),
            (
                "compressionflags=COLOURS_GAMMA",
                "this reader does not know compressionflags=COLOURS_GAMMA",
            ),
            (
                "compressionflags=RESIDUALS_ZETA9",
                "this reader does not know compressionflags=RESIDUALS_ZETA9",
            ),
            ("compressionflags=GAMMA", "this reader does not know compressionflags=GAMMA"),
        ] {
            let error = Properties::parse(&format!("nodes=1\narcs=1\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        let error = Properties::parse("nodes=1\n").unwrap_err();
        assert_eq!(error.to_string(), "the property arcs is missing");
    }
}
