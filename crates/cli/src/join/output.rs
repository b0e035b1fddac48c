//! Pairs to standard output or a file: sorted, complete or not at all.
//!
//! A join finds pairs in the order of its records' sizes; the output is in the order of lines.
//! Pairs are sorted in memory, or, when a memory limit was given and they exceed their share of
//! it, in runs that are written to a temporary file and merged. A waiting pair takes 12 bytes: two
//! lines and what they share. Sizes, and so similarities, follow from the lines when it is printed.
//!
//! A file is written beside its destination under a temporary name and renamed when it is
//! complete and on disk. Something that is not a regular file (a device, a pipe) is written to
//! directly.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wonbon_files::ReplacedFile;
use wonbon_join::{Collection, Measure, Pair, PairSink, Side};

/// A line on standard error; that it cannot be written is nobody's loss.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// How a pair is printed.
pub(crate) struct Format {
    json: bool,
    measure: Measure,
    two_files: bool,
    /// By line: the size of its set, for each side.
    sizes: [Vec<u32>; 2],
}

impl Format {
    /// For pairs of a collection, which need not live as long.
    pub(crate) fn new(collection: &Collection, measure: Measure, json: bool) -> Self {
        let two_files = collection.has_two_sides();
        let right = if two_files { collection.line_sizes(Side::Right) } else { Vec::new() };
        Self { json, measure, two_files, sizes: [collection.line_sizes(Side::Left), right] }
    }

    /// Appends the line of a pair.
    fn append(&self, pair: &Waiting, text: &mut Vec<u8>) {
        let &Waiting { left, right, overlap } = pair;
        let [of_left, of_second] = &self.sizes;
        let of_right = if self.two_files { of_second } else { of_left };
        let (left_size, right_size) = (of_left[left as usize], of_right[right as usize]);
        let pair = Pair { left, right, overlap, left_size, right_size };
        let value = |text: &mut Vec<u8>| match self.measure {
            Measure::Overlap => append_number(overlap, text),
            measure => append_six_decimals(pair.value(measure, self.two_files), text),
        };
        if self.json {
            text.extend_from_slice(b"{\"left\":");
            append_number(left, text);
            text.extend_from_slice(b",\"right\":");
            append_number(right, text);
            text.extend_from_slice(b",\"similarity\":");
            value(text);
            text.extend_from_slice(b",\"overlap\":");
            append_number(overlap, text);
            text.extend_from_slice(b"}\n");
        } else {
            append_number(left, text);
            text.push(b'\t');
            append_number(right, text);
            text.push(b'\t');
            value(text);
            text.push(b'\n');
        }
    }
}

/// Appends a number in decimal digits. The machinery of `write!` takes most of the time of a join with
/// millions of pairs.
fn append_number(mut number: u32, text: &mut Vec<u8>) {
    let (mut digits, mut at) = ([0; 10], 10);
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

/// Appends a number as `{:.6}` prints it.
fn append_six_decimals(value: f64, text: &mut Vec<u8>) {
    let scaled = value * 1e6;
    let (whole, rest) = (scaled.floor(), scaled.fract());
    // The multiplication errs by far less than what is left to the exact way here: numbers close to the middle between two
    // that can be printed.
    if value.is_sign_negative() || !(0.0..1e9).contains(&scaled) || (rest - 0.5).abs() < 1e-6 {
        write!(text, "{value:.6}").expect("writing to memory does not fail");
        return;
    }
    let millionths = whole as u32 + u32::from(rest > 0.5);
    append_number(millionths / 1_000_000, text);
    let mut decimals = *b".000000";
    let mut left = millionths % 1_000_000;
    for digit in decimals[1..].iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
    text.extend_from_slice(&decimals);
}

/// Where pairs go.
pub(crate) enum Output {
    /// Standard output.
    Standard,
    /// A regular file, complete or absent.
    File(PathBuf),
    /// Something else that can be written to.
    Device(PathBuf),
}

impl Output {
    /// Says early that a destination cannot be written.
    pub(crate) fn check(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Standard) };
        let wrong = || format!("could not write {}", path.display());
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(wrong)
            }
            Ok(metadata) if !metadata.is_file() => Ok(Self::Device(path.to_owned())),
            _ => {
                ReplacedFile::create(path)?;
                Ok(Self::File(path.to_owned()))
            }
        }
    }

    /// Writes all pairs and counts them.
    pub(crate) fn write(&self, sorter: PairSorter, format: &Format) -> Result<u64> {
        match self {
            Self::Standard => {
                let mut count = 0;
                let written = write_pairs(&mut io::stdout().lock(), sorter, format, &mut count);
                match written {
                    // Whoever reads has enough.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(count),
                    Err(error) => Err(error).context("could not write to standard output"),
                    Ok(()) => Ok(count),
                }
            }
            Self::Device(path) => {
                let wrong = || format!("could not write {}", path.display());
                let file = File::options().write(true).open(path).with_context(wrong)?;
                write_to(file, sorter, format).map(|(_, count)| count).with_context(wrong)
            }
            Self::File(path) => {
                let wrong = || format!("could not write {}", path.display());
                let file = ReplacedFile::create(path)?;
                let (file, count) = write_to(file, sorter, format).with_context(wrong)?;
                file.commit()?;
                Ok(count)
            }
        }
    }
}

fn write_to<W: Write>(mut to: W, sorter: PairSorter, format: &Format) -> io::Result<(W, u64)> {
    let mut count = 0;
    write_pairs(&mut to, sorter, format, &mut count)?;
    Ok((to, count))
}

/// So much text is written at a time.
const TEXT_BYTES: usize = 256 << 10;

/// Writes all pairs and counts them.
fn write_pairs(
    to: &mut impl Write,
    sorter: PairSorter,
    format: &Format,
    count: &mut u64,
) -> io::Result<()> {
    let mut text = Vec::with_capacity(TEXT_BYTES + 256);
    sorter.for_each(|pair| {
        *count += 1;
        format.append(pair, &mut text);
        if text.len() < TEXT_BYTES {
            return Ok(());
        }
        let written = to.write_all(&text);
        text.clear();
        written
    })?;
    to.write_all(&text)?;
    to.flush()
}

const PAIR_BYTES: usize = size_of::<Waiting>();

/// A pair that waits to be sorted and printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    left: u32,
    right: u32,
    overlap: u32,
}

impl Waiting {
    /// By what pairs are sorted, as one number; no two have the same.
    fn place(&self) -> u64 {
        u64::from(self.left) << 32 | u64::from(self.right)
    }
}

/// Collects pairs in any order and gives them back sorted.
pub(crate) struct PairSorter {
    pairs: Vec<Waiting>,
    most: usize,
    spilled: Option<File>,
    runs: Vec<u64>,
    failed: Option<io::Error>,
}

impl PairSorter {
    /// With a memory limit, an eighth of it holds pairs.
    pub(crate) fn new(memory: Option<u64>) -> Self {
        let most = memory.map_or(usize::MAX, |bytes| {
            usize::try_from(bytes / 8).unwrap_or(usize::MAX) / PAIR_BYTES
        });
        Self { pairs: Vec::new(), most, spilled: None, runs: Vec::new(), failed: None }
    }

    /// Whether spilling went well.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.failed.take() {
            None => Ok(()),
            Some(error) => Err(error).context("could not write a temporary file for sorting"),
        }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.pairs.sort_unstable_by_key(Waiting::place);
        let file = match &mut self.spilled {
            Some(file) => file,
            None => self.spilled.insert(tempfile::tempfile()?),
        };
        let mut to = BufWriter::with_capacity(1 << 16, &mut *file);
        for pair in &self.pairs {
            for value in [pair.left, pair.right, pair.overlap] {
                to.write_all(&value.to_le_bytes())?;
            }
        }
        to.flush()?;
        drop(to);
        self.runs.push(self.pairs.len() as u64);
        self.pairs.clear();
        Ok(())
    }

    /// Calls `each` for every pair, in order.
    fn for_each(mut self, mut each: impl FnMut(&Waiting) -> io::Result<()>) -> io::Result<()> {
        self.pairs.sort_unstable_by_key(Waiting::place);
        let Some(file) = self.spilled else {
            return self.pairs.iter().try_for_each(each);
        };
        let mut runs = Vec::new();
        let mut at = 0;
        for &count in &self.runs {
            runs.push(Run::at(&file, at, count)?);
            at += count * PAIR_BYTES as u64;
        }
        let last = runs.len();
        let mut in_memory = self.pairs.iter();
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|pair| std::cmp::Reverse((pair, number))));
        }
        heads.extend(in_memory.next().map(|&pair| std::cmp::Reverse((pair, last))));
        while let Some(std::cmp::Reverse((pair, number))) = heads.pop() {
            each(&pair)?;
            let next = match runs.get_mut(number) {
                Some(run) => run.next()?,
                None => in_memory.next().copied(),
            };
            heads.extend(next.map(|pair| std::cmp::Reverse((pair, number))));
        }
        Ok(())
    }
}

/// A sorted run in the temporary file, read a piece at a time.
struct Run<'a> {
    file: &'a File,
    at: u64,
    left: u64,
    piece: BufReader<io::Cursor<Vec<u8>>>,
}

const PIECE: u64 = 3000;

impl<'a> Run<'a> {
    fn at(file: &'a File, at: u64, left: u64) -> io::Result<Self> {
        Ok(Self { file, at, left, piece: BufReader::new(io::Cursor::new(Vec::new())) })
    }

    fn next(&mut self) -> io::Result<Option<Waiting>> {
        if self.piece.fill_buf()?.is_empty() {
            let count = self.left.min(PIECE);
            if count == 0 {
                return Ok(None);
            }
            let mut bytes = vec![0; count as usize * PAIR_BYTES];
            self.file.seek(SeekFrom::Start(self.at))?;
            self.file.read_exact(&mut bytes)?;
            self.at += bytes.len() as u64;
            self.left -= count;
            self.piece = BufReader::with_capacity(PAIR_BYTES, io::Cursor::new(bytes));
        }
        let mut values = [0_u32; 3];
        for value in &mut values {
            let mut bytes = [0; 4];
            self.piece.read_exact(&mut bytes)?;
            *value = u32::from_le_bytes(bytes);
        }
        let [left, right, overlap] = values;
        Ok(Some(Waiting { left, right, overlap }))
    }
}

impl PairSink for PairSorter {
    fn accept(&mut self, pairs: &[Pair]) -> ControlFlow<()> {
        self.pairs.extend(pairs.iter().map(|&Pair { left, right, overlap, .. }| Waiting {
            left,
            right,
            overlap,
        }));
        if self.pairs.len() >= self.most
            && let Err(error) = self.spill()
        {
            self.failed = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_printed_as_the_standard_library_does(
            number in any::<u32>(),
            parts in (0..=2_000_u32, 1..=2_000_u32),
            value in prop_oneof![0.0..1.5_f64, any::<f64>()],
        ) {
            let mut text = Vec::new();
            append_number(number, &mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
            // Millionths and halves of them as well as what similarities are.
            let halves = f64::from(number % 2_000_001) / 2e6;
            for value in [f64::from(parts.0) / f64::from(parts.1), halves, value] {
                let mut text = Vec::new();
                append_six_decimals(value, &mut text);
                prop_assert_eq!(String::from_utf8(text).unwrap(), format!("{value:.6}"));
            }
        }
    }

    #[test]
    fn spilled_runs_come_back_in_the_order_of_one_sort() {
        let pairs: Vec<Pair> = (0..20_000_u32)
            .map(|i| {
                let left = i.wrapping_mul(2_654_435_761) >> 12;
                Pair { left, right: left + 1 + i, overlap: i, left_size: i, right_size: i + 1 }
            })
            .collect();
        let mut sorter = PairSorter::new(Some(8 * 12 * 700));
        for some in pairs.chunks(97) {
            assert!(sorter.accept(some).is_continue());
        }
        assert!(sorter.runs.len() > 10);
        let mut back = Vec::new();
        sorter
            .for_each(|pair| {
                back.push((pair.left, pair.right, pair.overlap));
                Ok(())
            })
            .unwrap();
        let mut sorted = Vec::from_iter(pairs.iter().map(|p| (p.left, p.right, p.overlap)));
        sorted.sort_unstable();
        assert_eq!(back, sorted);
    }
}
