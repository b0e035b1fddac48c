//! Rabin fingerprints: a byte string as a polynomial over GF(2), modulo an irreducible one.
//!
//! The string's bits, first byte first and high bit first, are the coefficients of a polynomial
//! after one leading 1 bit (so that leading zero bytes count). Its remainder modulo `P` is the
//! fingerprint: 64 bits with [`RABIN_64`], 40 bits with [`RABIN_40`] as in the 1997 paper. Two
//! different strings of n bits collide for at most `n / 64` of the irreducible polynomials of
//! degree 64; since the map is linear over GF(2), it is no hash to be used unmixed for
//! *ordering* or *sampling*: that is what `mixing` is for.
//!
//! Which polynomials: the first irreducible ones at or after the binary digits of pi's
//! fraction, so nobody chose them for a purpose. A test proves them irreducible.
//!
//! How: eight tables of 256 words take eight bytes a step. From [`CARRYLESS_FROM`] bytes on,
//! where the CPU multiplies polynomials itself (`pclmulqdq`), four running 128-bit remainders
//! are folded 64 bytes a step and the last 16 bytes go through the tables. Both give the same
//! bits. One core of a 2-core Xeon, MB/s of strings of 16, 56 and 65,536 bytes: 2,650, 2,540 and
//! 1,430 by tables, 2,080, 4,660 and 12,000 by folding (`examples/permutation_speed.rs`).
//!
//! Cost: 16 KB of tables for each polynomial, in the binary. Not here: secrecy. The polynomials
//! are public, so somebody can build two strings with one fingerprint; they cannot choose
//! *which* elements a seeded sketch looks at.

#[cfg(target_arch = "x86_64")]
mod carryless;

/// From this many bytes on the carry-less multiply path is used where the CPU has one.
pub const CARRYLESS_FROM: usize = 32;

/// The way a fingerprint is computed; every path gives the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RabinPath {
    /// Eight table lookups for eight bytes; runs anywhere.
    Table,
    /// Folding by carry-less multiplication (`pclmulqdq`).
    Carryless,
}

impl RabinPath {
    /// The paths this CPU has, slowest first.
    #[must_use]
    pub fn available() -> &'static [RabinPath] {
        if carryless_token().is_some() {
            &[RabinPath::Table, RabinPath::Carryless]
        } else {
            &[RabinPath::Table]
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn carryless_token() -> Option<carryless::Carryless> {
    static TOKEN: std::sync::LazyLock<Option<carryless::Carryless>> =
        std::sync::LazyLock::new(carryless::Carryless::detect);
    *TOKEN
}

#[cfg(not(target_arch = "x86_64"))]
fn carryless_token() -> Option<std::convert::Infallible> {
    None
}

/// The 64-bit fingerprint function.
pub static RABIN_64: Rabin = Rabin::new(64, 0x243f_6a88_85a3_0907);

/// The 40-bit fingerprint function, the width of the 1997 paper.
pub static RABIN_40: Rabin = Rabin::new(40, 0x24_3f6a_889f);

/// One fingerprint function: a polynomial and the tables made from it.
pub struct Rabin {
    degree: u32,
    /// The polynomial without its leading term.
    low_terms: u64,
    /// `step[i][byte]` is `byte * t^(64 + 8i)` modulo the polynomial.
    step: [[u64; 256]; 8],
    /// `excess[i][byte]` is `byte * t^(40 + 8i)`: what lies above 40 bits in a state. Zero and
    /// unused for degree 64, where nothing does.
    excess: [[u64; 256]; 3],
    /// `t^128`, `t^192`, `t^512`, `t^576` modulo the polynomial, for folding.
    fold: Fold,
}

/// Constants for moving a 128-bit remainder up by 128 or 512 bits.
#[derive(Clone, Copy)]
struct Fold {
    by_128: [u64; 2],
    by_512: [u64; 2],
}

impl Rabin {
    const fn new(degree: u32, low_terms: u64) -> Self {
        assert!(degree == 40 || degree == 64);
        let mut step = [[0u64; 256]; 8];
        let mut table = 0;
        while table < 8 {
            step[table] = multiples(64 + 8 * table as u32, degree, low_terms);
            table += 1;
        }
        let mut excess = [[0u64; 256]; 3];
        let mut table = 0;
        while degree == 40 && table < 3 {
            excess[table] = multiples(40 + 8 * table as u32, degree, low_terms);
            table += 1;
        }
        let fold = Fold {
            by_128: [power_of_t(128, degree, low_terms), power_of_t(192, degree, low_terms)],
            by_512: [power_of_t(512, degree, low_terms), power_of_t(576, degree, low_terms)],
        };
        Self { degree, low_terms, step, excess, fold }
    }

    /// The degree of the polynomial, which is the number of bits in a fingerprint.
    #[must_use]
    pub const fn degree(&self) -> u32 {
        self.degree
    }

    /// The polynomial without its leading term `t^degree`; bit `i` is the coefficient of `t^i`.
    #[must_use]
    pub const fn low_terms(&self) -> u64 {
        self.low_terms
    }

    /// The fingerprint of `bytes`.
    ///
    /// ```
    /// use wonbon_sketch::rabin::{RABIN_40, RABIN_64};
    /// assert_ne!(RABIN_64.fingerprint(b"a rose"), RABIN_64.fingerprint(b"is a rose"));
    /// assert!(RABIN_40.fingerprint(b"a rose") < 1 << 40);
    /// ```
    #[must_use]
    pub fn fingerprint(&self, bytes: &[u8]) -> u64 {
        let state = self.absorb(1, bytes);
        self.reduce(state)
    }

    /// The fingerprint by a given path, or `None` where the CPU lacks it.
    #[must_use]
    pub fn fingerprint_by(&self, path: RabinPath, bytes: &[u8]) -> Option<u64> {
        let state = match path {
            RabinPath::Table => self.absorb_by_table(1, bytes),
            #[cfg(target_arch = "x86_64")]
            RabinPath::Carryless => {
                let (state, tail) = carryless_token()?.fold(self.fold, 1, bytes);
                let state = self.absorb_by_table(0, &state.to_be_bytes());
                self.absorb_by_table(state, tail)
            }
            #[cfg(not(target_arch = "x86_64"))]
            RabinPath::Carryless => return None,
        };
        Some(self.reduce(state))
    }

    /// Appends `bytes` to the string whose remainder is `state`. The result is below `2^64`
    /// and congruent to the remainder, not yet reduced to `degree` bits.
    fn absorb(&self, state: u64, bytes: &[u8]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if bytes.len() >= CARRYLESS_FROM
            && let Some(carryless) = carryless_token()
        {
            let (folded, tail) = carryless.fold(self.fold, state, bytes);
            let state = self.absorb_by_table(0, &folded.to_be_bytes());
            return self.absorb_by_table(state, tail);
        }
        self.absorb_by_table(state, bytes)
    }

    fn absorb_by_table(&self, mut state: u64, bytes: &[u8]) -> u64 {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            state = self.times_t64(state) ^ u64::from_be_bytes(*word);
        }
        let (halves, tail) = tail.as_chunks::<4>();
        for half in halves {
            let high = ((state >> 32) as u32).to_le_bytes();
            let product = self
                .step
                .iter()
                .zip(high)
                .fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)]);
            state = (state << 32 | u64::from(u32::from_be_bytes(*half))) ^ product;
        }
        for byte in tail {
            let overflow = self.step[0][(state >> 56) as usize];
            state = (state << 8 | u64::from(*byte)) ^ overflow;
        }
        state
    }

    fn times_t64(&self, state: u64) -> u64 {
        let mut product = 0;
        for (table, byte) in self.step.iter().zip(state.to_le_bytes()) {
            product ^= table[usize::from(byte)];
        }
        product
    }

    /// Brings a state below `2^64` down to `degree` bits.
    fn reduce(&self, state: u64) -> u64 {
        if self.degree == 64 {
            return state;
        }
        let mut reduced = state & ((1 << 40) - 1);
        for (table, byte) in self.excess.iter().zip((state >> 40).to_le_bytes()) {
            reduced ^= table[usize::from(byte)];
        }
        reduced
    }
}

/// A string fingerprinted piece by piece: the result does not depend on where it was cut.
///
/// It is a [`std::hash::Hasher`], so anything that implements `Hash` can be fingerprinted.
#[derive(Clone)]
pub struct RabinHasher {
    function: &'static Rabin,
    state: u64,
}

impl RabinHasher {
    /// An empty string, under `function`.
    #[must_use]
    pub const fn new(function: &'static Rabin) -> Self {
        Self { function, state: 1 }
    }
}

impl Default for RabinHasher {
    fn default() -> Self {
        Self::new(&RABIN_64)
    }
}

impl std::hash::Hasher for RabinHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.state = self.function.absorb(self.state, bytes);
    }

    fn finish(&self) -> u64 {
        self.function.reduce(self.state)
    }
}

const fn times_t(value: u64, degree: u32, low_terms: u64) -> u64 {
    let overflow = value >> (degree - 1) & 1 == 1;
    let mask = if degree == 64 { u64::MAX } else { (1 << degree) - 1 };
    let shifted = value << 1 & mask;
    if overflow { shifted ^ low_terms } else { shifted }
}

/// `byte * t^exponent` modulo the polynomial, for every byte.
const fn multiples(exponent: u32, degree: u32, low_terms: u64) -> [u64; 256] {
    let mut table = [0u64; 256];
    let mut power = power_of_t(exponent, degree, low_terms);
    let mut first = 1;
    while first < 256 {
        let mut below = 0;
        while below < first {
            table[first + below] = table[below] ^ power;
            below += 1;
        }
        power = times_t(power, degree, low_terms);
        first *= 2;
    }
    table
}

const fn power_of_t(exponent: u32, degree: u32, low_terms: u64) -> u64 {
    let mut power = 1;
    let mut done = 0;
    while done < exponent {
        power = times_t(power, degree, low_terms);
        done += 1;
    }
    power
}
