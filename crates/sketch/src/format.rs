//! Sketches as bytes: format version 1, described in docs/formats.md.
//!
//! The bytes carry everything that decided the sketch (the seed by its fingerprint), so a
//! reader can refuse to compare what does not belong together. The end is the 64-bit Rabin
//! fingerprint of everything before it: every burst of damage up to 64 bits is noticed, any
//! other with probability 1 - 2^-64.
//!
//! Guarantees: writing then reading is the identity; a sketch has one encoding, so reading then
//! writing is too. Damaged bytes give an error, never a panic, and nothing is allocated that
//! the bytes are not long enough to fill.
//!
//! Cost: 27 to 52 bytes around the values; a value takes as many bytes as the largest needs,
//! multiples of a modulus being stored divided by it. Differences between neighbours as
//! variable-length integers were no shorter: samples are spread over the whole range.

use crate::error::SketchError;
use crate::features::{Features, MinValues, Shape};
use crate::modulus::ModulusSketch;
use crate::params::{SketchKind, SketchParams, Width};
use crate::rabin::RABIN_64;
use crate::scaled::ScaledSketch;
use crate::seed::SeedFingerprint;
use crate::smallest::SmallestSketch;
use crate::super_shingles::SuperShingles;

const MAGIC: [u8; 4] = *b"WBSK";
const VERSION: u8 = 1;
const CHECKSUM_BYTES: usize = 8;

/// A sketch of any kind, as read from bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sketch {
    /// Features.
    Features(Features),
    /// Min-values.
    MinValues(MinValues),
    /// A smallest-s sketch.
    Smallest(SmallestSketch),
    /// A modulus sketch.
    Modulus(ModulusSketch),
    /// A scaled modulus sketch.
    Scaled(ScaledSketch),
    /// Super-shingles.
    SuperShingles(SuperShingles),
}

impl Sketch {
    /// How it was made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        match self {
            Sketch::Features(sketch) => sketch.params(),
            Sketch::MinValues(sketch) => sketch.params(),
            Sketch::Smallest(sketch) => sketch.params(),
            Sketch::Modulus(sketch) => sketch.params(),
            Sketch::Scaled(sketch) => sketch.params(),
            Sketch::SuperShingles(sketch) => sketch.params(),
        }
    }

    /// The sketch as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Sketch::Features(sketch) => sketch.to_bytes(),
            Sketch::MinValues(sketch) => sketch.to_bytes(),
            Sketch::Smallest(sketch) => sketch.to_bytes(),
            Sketch::Modulus(sketch) => sketch.to_bytes(),
            Sketch::Scaled(sketch) => sketch.to_bytes(),
            Sketch::SuperShingles(sketch) => sketch.to_bytes(),
        }
    }

    /// Reads a sketch of any kind.
    ///
    /// # Errors
    ///
    /// [`SketchError::NotASketch`], [`SketchError::UnknownVersion`], [`SketchError::Damaged`]
    /// or [`SketchError::Malformed`], or [`SketchError::OutOfRange`] for parameters no sketch
    /// can have.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SketchError> {
        let (body, at) = check(bytes)?;
        let mut reader = Reader { bytes: body, at };
        let params = reader.params(true)?;
        let sketch = match params {
            SketchParams::Features { groups, group_size, seed } => {
                let shape = Shape { groups, group_size, seed };
                let values = reader.fixed(8, usize::from(groups))?;
                Sketch::Features(Features { shape, values })
            }
            SketchParams::MinValues { groups, group_size, seed } => {
                let shape = Shape { groups, group_size, seed };
                let values = reader.fixed(4, shape.min_value_count())?;
                let values = values.into_iter().map(|value| value as u32).collect();
                Sketch::MinValues(MinValues { shape, values })
            }
            SketchParams::Smallest { count, seed } => {
                let values = reader.increasing(1, u64::MAX)?;
                if values.len() > count as usize {
                    return Err(reader.malformed("more values than the sketch may keep"));
                }
                Sketch::Smallest(SmallestSketch { count, seed, values })
            }
            SketchParams::Modulus { modulus, width, seed } => {
                let values = reader.increasing(modulus, width.largest())?;
                Sketch::Modulus(ModulusSketch { modulus, width, seed, values })
            }
            SketchParams::Scaled { base, most, width, seed } => {
                let modulus = reader.u64()?;
                if !is_power(modulus, base.into()) {
                    return Err(reader.malformed("the modulus is no power of its base"));
                }
                let values = reader.increasing(modulus, width.largest())?;
                Sketch::Scaled(ScaledSketch { base, most, width, seed, modulus, values })
            }
            SketchParams::SuperShingles { run, of } => {
                let values = reader.increasing(1, u64::MAX)?;
                Sketch::SuperShingles(SuperShingles { run, of: *of, values })
            }
        };
        if reader.bytes.is_empty() {
            Ok(sketch)
        } else {
            Err(reader.malformed("bytes are left over"))
        }
    }
}

macro_rules! bytes_of_kinds {
    ($($kind:ident $sketch:ty, |$this:ident, $writer:ident| $body:expr;)*) => {$(
        impl $sketch {
            /// The sketch as bytes, with its parameters and a checksum.
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                let ($this, mut $writer) = (self, Writer::new(&self.params()));
                $body;
                $writer.finish()
            }

            /// Reads what [`Self::to_bytes`] wrote.
            ///
            /// # Errors
            ///
            /// [`SketchError::WrongKind`] when the bytes are another kind of sketch, otherwise
            /// as [`Sketch::from_bytes`].
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, SketchError> {
                match Sketch::from_bytes(bytes)? {
                    Sketch::$kind(sketch) => Ok(sketch),
                    other => Err(SketchError::WrongKind {
                        wanted: SketchKind::$kind,
                        found: other.params().kind(),
                    }),
                }
            }
        }

        impl From<$sketch> for Sketch {
            fn from(sketch: $sketch) -> Self {
                Sketch::$kind(sketch)
            }
        }
    )*};
}

bytes_of_kinds! {
    Features Features, |sketch, writer| writer.fixed(8, sketch.values.iter().copied());
    MinValues MinValues, |sketch, writer| writer.fixed(4, sketch.values.iter().map(|v| u64::from(*v)));
    Smallest SmallestSketch, |sketch, writer| writer.increasing(1, &sketch.values);
    Modulus ModulusSketch, |sketch, writer| writer.increasing(sketch.modulus, &sketch.values);
    Scaled ScaledSketch, |sketch, writer| {
        writer.bytes.extend(sketch.modulus.to_le_bytes());
        writer.increasing(sketch.modulus, &sketch.values);
    };
    SuperShingles SuperShingles, |sketch, writer| writer.increasing(1, &sketch.values);
}

const fn kind_code(kind: SketchKind) -> u8 {
    match kind {
        SketchKind::Features => 1,
        SketchKind::MinValues => 2,
        SketchKind::Smallest => 3,
        SketchKind::Modulus => 4,
        SketchKind::Scaled => 5,
        SketchKind::SuperShingles => 6,
    }
}

/// How many bytes hold `value`; at least one.
const fn bytes_for(value: u64) -> usize {
    8 - (value | 1).leading_zeros() as usize / 8
}

/// Whether `number` is `base` to some power; `base` is at least 2.
fn is_power(mut number: u64, base: u64) -> bool {
    while number > 1 && number.is_multiple_of(base) {
        number /= base;
    }
    number == 1
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn new(params: &SketchParams) -> Self {
        let mut writer = Self { bytes: Vec::new() };
        writer.bytes.extend(MAGIC);
        writer.bytes.push(VERSION);
        writer.params(params);
        writer
    }

    fn params(&mut self, params: &SketchParams) {
        let out = &mut self.bytes;
        out.push(kind_code(params.kind()));
        match params {
            SketchParams::Features { groups, group_size, seed }
            | SketchParams::MinValues { groups, group_size, seed } => {
                out.extend(seed.to_u64().to_le_bytes());
                out.extend(groups.to_le_bytes());
                out.extend(group_size.to_le_bytes());
            }
            SketchParams::Smallest { count, seed } => {
                out.extend(seed.to_u64().to_le_bytes());
                out.extend(count.to_le_bytes());
            }
            SketchParams::Modulus { modulus, width, seed } => {
                out.extend(seed.to_u64().to_le_bytes());
                out.extend(modulus.to_le_bytes());
                out.push(width.bits() as u8);
            }
            SketchParams::Scaled { base, most, width, seed } => {
                out.extend(seed.to_u64().to_le_bytes());
                out.extend(base.to_le_bytes());
                out.extend(most.to_le_bytes());
                out.push(width.bits() as u8);
            }
            SketchParams::SuperShingles { run, of } => {
                out.extend(run.to_le_bytes());
                self.params(of);
            }
        }
    }

    fn fixed(&mut self, width: usize, values: impl ExactSizeIterator<Item = u64>) {
        let count = u32::try_from(values.len()).expect("a sketch has fewer than 2^32 values");
        self.bytes.extend(count.to_le_bytes());
        self.bytes.push(if count == 0 { 0 } else { width as u8 });
        for value in values {
            self.bytes.extend(&value.to_le_bytes()[..width]);
        }
    }

    fn increasing(&mut self, modulus: u64, values: &[u64]) {
        let width = bytes_for(values.last().copied().unwrap_or(0) / modulus);
        self.fixed(width, values.iter().map(|value| value / modulus));
    }

    fn finish(mut self) -> Vec<u8> {
        let checksum = RABIN_64.fingerprint(&self.bytes);
        self.bytes.extend(checksum.to_le_bytes());
        self.bytes
    }
}

/// Checks magic, version and checksum; returns what lies between, and where it starts.
fn check(bytes: &[u8]) -> Result<(&[u8], usize), SketchError> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or(SketchError::NotASketch)?;
    let (version, rest) = rest.split_first().ok_or(SketchError::NotASketch)?;
    if *version != VERSION {
        return Err(SketchError::UnknownVersion { found: *version, known: VERSION });
    }
    let Some((body, stored)) = rest.split_last_chunk::<CHECKSUM_BYTES>() else {
        return Err(SketchError::Malformed { at: bytes.len(), rule: "the checksum is missing" });
    };
    let stored = u64::from_le_bytes(*stored);
    let computed = RABIN_64.fingerprint(&bytes[..bytes.len() - CHECKSUM_BYTES]);
    if stored != computed {
        return Err(SketchError::Damaged { stored, computed });
    }
    Ok((body, bytes.len() - rest.len()))
}

/// Takes values off the front of the bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    /// Where the front lies in the whole, for messages.
    at: usize,
}

impl<'a> Reader<'a> {
    fn malformed(&self, rule: &'static str) -> SketchError {
        SketchError::Malformed { at: self.at, rule }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], SketchError> {
        let (front, rest) =
            self.bytes.split_at_checked(length).ok_or(self.malformed("it ends too early"))?;
        self.bytes = rest;
        self.at += length;
        Ok(front)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SketchError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, SketchError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn u16(&mut self) -> Result<u16, SketchError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, SketchError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, SketchError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn seed(&mut self) -> Result<SeedFingerprint, SketchError> {
        Ok(SeedFingerprint::from_u64(self.u64()?))
    }

    fn width(&mut self) -> Result<Width, SketchError> {
        match self.u8()? {
            40 => Ok(Width::Bits40),
            64 => Ok(Width::Bits64),
            _ => Err(self.malformed("values are 40 or 64 bits wide")),
        }
    }

    /// The parameters; only the outermost may be super-shingles.
    fn params(&mut self, outermost: bool) -> Result<SketchParams, SketchError> {
        let code = self.u8()?;
        let params = match (code, outermost) {
            (1 | 2, true) => {
                let (seed, groups, group_size) = (self.seed()?, self.u16()?, self.u16()?);
                Shape::check(groups.into(), group_size.into())?;
                if code == 1 {
                    SketchParams::Features { groups, group_size, seed }
                } else {
                    SketchParams::MinValues { groups, group_size, seed }
                }
            }
            (3, _) => {
                let (seed, count) = (self.seed()?, self.u32()?);
                SmallestSketch::check_count(count.into())?;
                SketchParams::Smallest { count, seed }
            }
            (4, _) => {
                let (seed, modulus, width) = (self.seed()?, self.u64()?, self.width()?);
                ModulusSketch::check_modulus(modulus)?;
                SketchParams::Modulus { modulus, width, seed }
            }
            (5, true) => {
                let (seed, base, most) = (self.seed()?, self.u32()?, self.u32()?);
                ScaledSketch::check_params(base, most)?;
                SketchParams::Scaled { base, most, width: self.width()?, seed }
            }
            (6, true) => {
                let run = self.u32()?;
                SuperShingles::check_run(run)?;
                SketchParams::SuperShingles { run, of: Box::new(self.params(false)?) }
            }
            (1..=6, false) => return Err(self.malformed("super-shingles of such a sketch")),
            _ => return Err(self.malformed("the kind of sketch is unknown")),
        };
        Ok(params)
    }

    /// `count` values of a width, both stored; nothing is allocated before the bytes are there.
    fn values(&mut self) -> Result<(usize, Vec<u64>), SketchError> {
        let count = self.u32()? as usize;
        let width = usize::from(self.u8()?);
        if width > 8 || (width == 0) != (count == 0) {
            return Err(self.malformed("a value takes 1 to 8 bytes"));
        }
        let length = count.checked_mul(width).ok_or(self.malformed("it ends too early"))?;
        let bytes = self.take(length)?;
        let values = bytes.chunks(width.max(1)).map(|bytes| {
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(value)
        });
        Ok((width, values.collect()))
    }

    /// No values, or exactly so many, of a given width.
    fn fixed(&mut self, width: usize, count: usize) -> Result<Vec<u64>, SketchError> {
        let (found, values) = self.values()?;
        if !values.is_empty() && (values.len() != count || found != width) {
            return Err(self.malformed("the number or width of values does not fit the kind"));
        }
        Ok(values)
    }

    /// Strictly increasing multiples of `modulus` up to `largest`, stored divided by it.
    fn increasing(&mut self, modulus: u64, largest: u64) -> Result<Vec<u64>, SketchError> {
        let (width, mut values) = self.values()?;
        if !values.is_sorted_by(|left, right| left < right) {
            return Err(self.malformed("the values do not increase"));
        }
        if let Some(last) = values.last() {
            if *last > largest / modulus {
                return Err(self.malformed("a value is too large"));
            }
            if width != bytes_for(*last) {
                return Err(self.malformed("values are stored wider than the largest needs"));
            }
        }
        for value in &mut values {
            *value *= modulus;
        }
        Ok(values)
    }
}
