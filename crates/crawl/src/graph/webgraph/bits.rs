//! The bit stream of a `.graph` file, and the codes for natural numbers that are written into it.
//!
//! A big-endian stream fills bytes from the most significant bit, a little-endian one from the least
//! significant. The codes are those of Boldi and Vigna, *The WebGraph framework I* (WWW 2004) and
//! *Codes for the World-Wide Web* (Internet Mathematics, 2005). A number takes one bit at least in all
//! of them.
//!
//! Cost: a buffer of 64 kB and a word of 64 bits; a few operations a number.
//!
//! Guarantee: numbers of 2^63 and above are refused, so nothing overflows whatever the bytes are.

use std::io::{self, Read};

use super::WebGraphError;

/// Which bit of a byte comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitOrder {
    /// The most significant.
    Big,
    /// The least significant.
    Little,
}

/// A code for natural numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Unary,
    Gamma,
    Delta,
    /// With its shrinking factor, 1 to 7.
    Zeta(u32),
}

/// Why a number could not be read.
#[derive(Debug)]
pub(super) enum BadNumber {
    /// The stream ends inside it.
    Ends,
    /// It has more than 63 bits.
    TooLarge,
    Io(io::Error),
}

impl BadNumber {
    /// The error for a number among the links of a page.
    pub(super) fn at_page(self, page: u32) -> WebGraphError {
        match self {
            BadNumber::Ends => WebGraphError::Ends { page },
            BadNumber::TooLarge => WebGraphError::Damaged { page },
            BadNumber::Io(source) => WebGraphError::Io(source),
        }
    }
}

/// The most bits that [`BitReader::read_bits`] takes at once: a refill leaves at least so many.
const MOST_AT_ONCE: u32 = 56;

/// Reads numbers from a stream of bits.
#[derive(Debug)]
pub(super) struct BitReader<R> {
    inner: R,
    order: BitOrder,
    buffer: Box<[u8]>,
    /// The bytes of the buffer that are not in the word yet.
    start: usize,
    end: usize,
    /// Bits that were not read yet: the upper ones of a big-endian stream, the lower ones of a
    /// little-endian one. All others are 0.
    word: u64,
    held: u32,
}

impl<R: Read> BitReader<R> {
    pub(super) fn new(inner: R, order: BitOrder) -> Self {
        let buffer = vec![0; 1 << 16].into_boxed_slice();
        BitReader { inner, order, buffer, start: 0, end: 0, word: 0, held: 0 }
    }

    /// Reads a number in this code.
    pub(super) fn read(&mut self, code: Code) -> Result<u64, BadNumber> {
        match code {
            Code::Unary => self.read_unary(),
            Code::Gamma => self.read_gamma(),
            Code::Delta => self.read_delta(),
            Code::Zeta(k) => self.read_zeta(k),
        }
    }

    /// As many zeros as the number, then a one.
    fn read_unary(&mut self) -> Result<u64, BadNumber> {
        let mut zeros = 0;
        loop {
            if self.held == 0 {
                self.refill()?;
            }
            if self.word != 0 {
                let more = match self.order {
                    BitOrder::Big => self.word.leading_zeros(),
                    BitOrder::Little => self.word.trailing_zeros(),
                };
                self.consume(more + 1);
                return Ok(zeros + u64::from(more));
            }
            zeros += u64::from(self.held);
            self.held = 0;
        }
    }

    /// The length of the binary form of n + 1 without its first bit in unary, then these bits.
    fn read_gamma(&mut self) -> Result<u64, BadNumber> {
        let bits = self.read_unary()?;
        self.read_after_first_bit(bits)
    }

    /// As gamma, with the length in gamma.
    fn read_delta(&mut self) -> Result<u64, BadNumber> {
        let bits = self.read_gamma()?;
        self.read_after_first_bit(bits)
    }

    /// The number of whole groups of k bits of n + 1 in unary; then the rest in a minimal binary
    /// code, one bit shorter for the first 2^(groups * k) values.
    fn read_zeta(&mut self, k: u32) -> Result<u64, BadNumber> {
        let groups = self.read_unary()?;
        if groups >= u64::from(63 / k) {
            return Err(BadNumber::TooLarge);
        }
        let low_bits = groups as u32 * k;
        let low = 1_u64 << low_bits;
        let short = self.read_bits(low_bits + k - 1)?;
        if short < low {
            return Ok(short + low - 1);
        }
        Ok((short << 1 | self.read_bits(1)?) - 1)
    }

    fn read_after_first_bit(&mut self, bits: u64) -> Result<u64, BadNumber> {
        let bits = u32::try_from(bits).ok().filter(|&bits| bits < 63);
        let bits = bits.ok_or(BadNumber::TooLarge)?;
        Ok((1_u64 << bits | self.read_bits(bits)?) - 1)
    }

    /// A number in binary; at most 63 bits.
    fn read_bits(&mut self, bits: u32) -> Result<u64, BadNumber> {
        if bits > MOST_AT_ONCE {
            let first = self.read_bits(MOST_AT_ONCE)?;
            let rest_bits = bits - MOST_AT_ONCE;
            let rest = self.read_bits(rest_bits)?;
            return Ok(match self.order {
                BitOrder::Big => first << rest_bits | rest,
                BitOrder::Little => rest << MOST_AT_ONCE | first,
            });
        }
        if bits == 0 {
            return Ok(0);
        }
        if self.held < bits {
            self.refill()?;
            if self.held < bits {
                return Err(BadNumber::Ends);
            }
        }
        let number = match self.order {
            BitOrder::Big => self.word >> (64 - bits),
            BitOrder::Little => self.word & ((1 << bits) - 1),
        };
        self.consume(bits);
        Ok(number)
    }

    fn consume(&mut self, bits: u32) {
        // In two steps: a shift by 64 is no shift.
        self.word = match self.order {
            BitOrder::Big => self.word << (bits - 1) << 1,
            BitOrder::Little => self.word >> (bits - 1) >> 1,
        };
        self.held -= bits;
    }

    /// Fills the word up to more than [`MOST_AT_ONCE`] bits, or as far as the stream goes.
    fn refill(&mut self) -> Result<(), BadNumber> {
        while self.held <= MOST_AT_ONCE {
            if self.start == self.end {
                self.start = 0;
                self.end = self.read_buffer()?;
                if self.end == 0 {
                    return if self.held == 0 { Err(BadNumber::Ends) } else { Ok(()) };
                }
            }
            let byte = u64::from(self.buffer[self.start]);
            self.start += 1;
            self.word |= match self.order {
                BitOrder::Big => byte << (MOST_AT_ONCE - self.held),
                BitOrder::Little => byte << self.held,
            };
            self.held += 8;
        }
        Ok(())
    }

    fn read_buffer(&mut self) -> Result<usize, BadNumber> {
        loop {
            match self.inner.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(BadNumber::Io),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a stream written as zeros and ones.
    fn bytes(text: &str, order: BitOrder) -> Vec<u8> {
        let mut bytes = vec![0; text.len().div_ceil(8)];
        for (at, _) in text.bytes().enumerate().filter(|&(_, digit)| digit == b'1') {
            bytes[at / 8] |= match order {
                BitOrder::Big => 128 >> (at % 8),
                BitOrder::Little => 1 << (at % 8),
            };
        }
        bytes
    }

    #[test]
    fn the_codes_are_those_of_the_papers() {
        // From table 1 of "Codes for the World-Wide Web", whose numbers begin at 1.
        for (code, number, text) in [
            (Code::Unary, 0, "1"),
            (Code::Unary, 3, "0001"),
            (Code::Gamma, 0, "1"),
            (Code::Gamma, 1, "010"),
            (Code::Gamma, 2, "011"),
            (Code::Gamma, 7, "0001000"),
            (Code::Delta, 0, "1"),
            (Code::Delta, 1, "0100"),
            (Code::Delta, 3, "01100"),
            (Code::Delta, 7, "00100000"),
            (Code::Zeta(1), 7, "0001000"),
            (Code::Zeta(2), 0, "10"),
            (Code::Zeta(2), 1, "110"),
            (Code::Zeta(2), 2, "111"),
            (Code::Zeta(2), 3, "01000"),
            (Code::Zeta(3), 0, "100"),
            (Code::Zeta(3), 1, "1010"),
            (Code::Zeta(3), 6, "1111"),
            (Code::Zeta(3), 7, "0100000"),
            (Code::Zeta(4), 0, "1000"),
            (Code::Zeta(4), 7, "11000"),
        ] {
            let bytes = bytes(text, BitOrder::Big);
            let read = BitReader::new(&bytes[..], BitOrder::Big).read(code);
            assert_eq!(read.unwrap(), number, "{code:?} {text}");
        }
    }

    #[test]
    fn the_least_significant_bit_comes_first_in_a_little_endian_stream() {
        // Unary 2, gamma 4 (length 2, then 01 as a number of two bits), unary 70.
        let text = format!("001{}{}1", "00110", "0".repeat(70));
        let bytes = bytes(&text, BitOrder::Little);
        let mut bits = BitReader::new(&bytes[..], BitOrder::Little);
        assert_eq!(bits.read(Code::Unary).unwrap(), 2);
        assert_eq!(bits.read(Code::Gamma).unwrap(), 4);
        assert_eq!(bits.read(Code::Unary).unwrap(), 70);
        assert!(matches!(bits.read(Code::Unary), Err(BadNumber::Ends)));
    }

    #[test]
    fn long_numbers_are_read_and_too_long_ones_refused() {
        for order in [BitOrder::Big, BitOrder::Little] {
            let read = |zeros: usize, ones: usize| {
                let text = format!("{}1{}", "0".repeat(zeros), "1".repeat(ones));
                BitReader::new(&bytes(&text, order)[..], order).read(Code::Gamma)
            };
            assert_eq!(read(62, 62).unwrap(), (1 << 63) - 2);
            assert!(matches!(read(63, 63), Err(BadNumber::TooLarge)));
            assert!(matches!(read(62, 8), Err(BadNumber::Ends)));
            assert!(matches!(read(500, 500), Err(BadNumber::TooLarge)));
            assert!(matches!(read(40, 0), Err(BadNumber::Ends)));
            for k in 1..=7 {
                let text = format!("{}1{}", "0".repeat(63 / k as usize), "1".repeat(80));
                let bytes = bytes(&text, order);
                let read = BitReader::new(&bytes[..], order).read(Code::Zeta(k));
                assert!(matches!(read, Err(BadNumber::TooLarge)));
            }
        }
    }
}
