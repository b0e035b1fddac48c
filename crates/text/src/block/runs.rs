//! Runs of whole blocks: words as a list of the places where they begin and end.
//!
//! Why a list: a loop that hands out words as it finds them ends after a different number of words in every
//! block, which no processor can guess. Here a block appends its borders of words to the list without a branch, and
//! whoever reads the list later has one long loop.
//!
//! Two implementations of the same steps, compared by a property test: plain integers, and AVX-512, where a block
//! is classified in a dozen instructions and one more packs the places.

use super::{BLOCK_BYTES, Classified, Masks};

#[cfg(target_arch = "x86_64")]
mod avx512;

/// Room that a block may need in the list: a border at every byte, the beginning of an open word before them, and what
/// vectors write behind.
const BLOCK_EDGES: usize = BLOCK_BYTES + 2;

/// Where words begin and end in the buffer: begin, end, begin, end.
#[derive(Debug)]
pub(crate) struct Edges {
    places: Vec<u32>,
    filled: usize,
    path: Path,
}

#[derive(Clone, Copy, Debug)]
enum Path {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The next byte of the text.
    pub(crate) at: usize,
    /// How much of the buffer is filled.
    pub(crate) filled: usize,
    /// Where the word that is being read begins in the buffer.
    pub(crate) open: Option<usize>,
    /// Where it begins in the text.
    pub(crate) open_in_text: usize,
}

impl Edges {
    /// An empty list for about so many places.
    pub(crate) fn new(places: usize) -> Self {
        #[cfg(target_arch = "x86_64")]
        let path = avx512::Avx512::detect().map_or(Path::Plain, Path::Avx512);
        #[cfg(not(target_arch = "x86_64"))]
        let path = Path::Plain;
        Edges { places: vec![0; places + 2 * BLOCK_EDGES], filled: 0, path }
    }

    /// Whether a block and a word more fit.
    pub(crate) fn has_room(&self) -> bool {
        self.filled + 2 * BLOCK_EDGES <= self.places.len()
    }

    /// Appends a word. There must be room.
    #[inline]
    pub(crate) fn push(&mut self, start: usize, end: usize) {
        self.places[self.filled] = start as u32;
        self.places[self.filled + 1] = end as u32;
        self.filled += 2;
    }

    /// Whether no word is in the list.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// The words in the list.
    pub(crate) fn words(&self) -> &[[u32; 2]] {
        self.places[..self.filled].as_chunks().0
    }

    /// Empties the list.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// Takes whole blocks of the text: lower-cased to the buffer, their words to the list. Ends behind a block of
    /// which less than `short` bytes are taken, or where the text, the buffer or the list end; returns how
    /// many bytes were taken of the last block. A block must be left and fit.
    #[inline]
    pub(crate) fn run(
        &mut self,
        run: &mut Run,
        text: &[u8],
        buffer: &mut [u8],
        short: usize,
    ) -> usize {
        match self.path {
            Path::Plain => self.run_plain(run, text, buffer, short),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(avx512) => avx512.run(self, run, text, buffer, short),
        }
    }

    fn run_plain(&mut self, run: &mut Run, text: &[u8], buffer: &mut [u8], short: usize) -> usize {
        self.run_by(run, text, buffer, short, super::masks, write_edges)
    }

    /// The same by these two steps: the masks of a block, lower-cased in place; and the places of the bits of a
    /// mask, each with a number added, written to the list.
    #[inline(always)]
    fn run_by(
        &mut self,
        run: &mut Run,
        text: &[u8],
        buffer: &mut [u8],
        short: usize,
        masks: impl Fn(&mut [u8; BLOCK_BYTES]) -> Masks,
        write_edges: impl Fn(u64, u32, &mut [u32; BLOCK_BYTES]),
    ) -> usize {
        let Run { mut at, filled: mut out, open, mut open_in_text } = *run;
        let (mut inside, mut start) = (open.is_some(), open.unwrap_or_default());
        let mut last = 0;
        while let Some(ahead) = text.get(at..).and_then(|rest| rest.first_chunk::<BLOCK_BYTES>())
            && let Some(lowered) = buffer.get_mut(out..).and_then(|rest| rest.split_first_chunk_mut())
            // Readable bytes stay behind the last word.
            && lowered.1.len() >= BLOCK_BYTES
            && let Some(room) = self.places.get_mut(self.filled..self.filled + BLOCK_EDGES)
        {
            let lowered: &mut [u8; BLOCK_BYTES] = lowered.0;
            *lowered = *ahead;
            let Classified { letters, taken } = masks(lowered).classified(BLOCK_BYTES);
            // A bit where a byte is of a word and the one before is not, or the other way round.
            let borders = (letters ^ (letters << 1 | u64::from(inside))) & super::below(taken);
            // The beginning of the open word stands before its end; if there is none, it is written over.
            room[0] = start as u32;
            let first = usize::from(inside);
            let places = room[first..].first_chunk_mut().expect("the room is for a block and more");
            write_edges(borders, out as u32, places);
            let count = first + borders.count_ones() as usize;
            // An odd number of borders leaves a word open.
            inside = count % 2 == 1;
            start = room[count - usize::from(inside)] as usize;
            if inside && start >= out {
                open_in_text = at + (start - out);
            }
            self.filled += count - usize::from(inside);
            at += taken;
            out += taken;
            last = taken;
            if taken < short {
                break;
            }
        }
        *run = Run { at, filled: out, open: inside.then_some(start), open_in_text };
        last
    }
}

/// Writes the places of the bits, eight at a time. What stands behind them has no meaning.
#[inline(always)]
fn write_edges(mut bits: u64, base: u32, places: &mut [u32; BLOCK_BYTES]) {
    for eight in places.as_chunks_mut::<8>().0 {
        for place in eight {
            *place = base + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How a run ends, how much it took of the last block, its words, what the buffer holds.
    type Ended = (Run, usize, Vec<[u32; 2]>, Vec<u8>);

    /// A run by each implementation there is on this processor.
    fn runs(text: &str, from: Run, short: usize) -> Vec<Ended> {
        let best = Edges::new(200);
        [Edges { path: Path::Plain, ..Edges::new(200) }, best]
            .into_iter()
            .map(|mut edges| {
                let mut buffer = vec![b'x'; from.filled + 400];
                let mut run = from;
                let taken = edges.run(&mut run, text.as_bytes(), &mut buffer, short);
                buffer.truncate(run.filled);
                (run, taken, edges.words().to_vec(), buffer)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn all_implementations_find_the_same_words(
            text in "([ -~]|[a-zA-Z]|[가-힣]|[가-힣]){64,400}|\\PC{64,200}",
            open in prop::option::of(0..30_usize),
        ) {
            let from = Run { at: 0, filled: 30, open, open_in_text: 0 };
            let found = runs(&text, from, 16);
            prop_assert_eq!(&found[0], &found[1]);
            let (run, taken, words, buffer) = &found[0];
            prop_assert!(run.at > 0 || *taken == 0);
            let lowered = text[..run.at].to_ascii_lowercase();
            prop_assert_eq!(&buffer[30..], lowered.as_bytes());
            let mut expected = Vec::new();
            let mut start = open;
            for (at, c) in text[..run.at].char_indices() {
                match (c.is_alphanumeric(), start) {
                    (true, None) => start = Some(30 + at),
                    (false, Some(begin)) => {
                        expected.push([begin as u32, 30 + at as u32]);
                        start = None;
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(words, &expected);
            prop_assert_eq!(run.open, start);
            if let Some(start) = start.filter(|&start| start >= 30) {
                prop_assert_eq!(run.open_in_text, start - 30);
            }
        }
    }
}
