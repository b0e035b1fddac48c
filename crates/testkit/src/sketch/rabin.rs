//! Polynomials over GF(2), one coefficient at a time.

/// The remainder of "a 1 bit, then the bits of `bytes`" modulo `t^degree + low_terms`, by long
/// division on a list of bits.
pub fn slow_rabin(bytes: &[u8], degree: u32, low_terms: u64) -> u64 {
    let mut bits = vec![true];
    for byte in bytes {
        for place in (0..8).rev() {
            bits.push(byte >> place & 1 == 1);
        }
    }
    let degree = degree as usize;
    // The divisor's bits, highest first.
    let mut divisor = vec![true];
    divisor.extend((0..degree).rev().map(|place| low_terms >> place & 1 == 1));
    let length = bits.len();
    for first in 0..length.saturating_sub(degree) {
        if bits[first] {
            for (offset, bit) in divisor.iter().enumerate() {
                bits[first + offset] ^= bit;
            }
        }
    }
    let rest = &bits[length.saturating_sub(degree)..];
    rest.iter().fold(0, |value, bit| value << 1 | u64::from(*bit))
}

/// Whether `t^degree + low_terms` is irreducible, by Rabin's test: `t^(2^degree) = t`, and
/// `t^(2^(degree/q)) - t` has no factor in common with it for any prime q dividing the degree.
pub fn is_irreducible(degree: u32, low_terms: u64) -> bool {
    let modulus = 1u128 << degree | u128::from(low_terms);
    let frobenius = |times: u32| (0..times).fold(2, |value, _| multiply(value, value, modulus));
    let is_prime = |q: &u32| (2..*q).all(|divisor| !q.is_multiple_of(divisor));
    frobenius(degree) == 2
        && (2..=degree)
            .filter(|q| degree.is_multiple_of(*q))
            .filter(is_prime)
            .all(|q| greatest_common_divisor(modulus, frobenius(degree / q) ^ 2) == 1)
}

fn top(value: u128) -> u32 {
    u128::BITS - value.leading_zeros()
}

fn multiply(left: u128, right: u128, modulus: u128) -> u128 {
    let mut product = 0;
    for place in (0..top(right)).rev() {
        product <<= 1;
        if top(product) == top(modulus) {
            product ^= modulus;
        }
        if right >> place & 1 == 1 {
            product ^= left;
        }
    }
    product
}

fn greatest_common_divisor(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        while top(left) >= top(right) {
            left ^= right << (top(left) - top(right));
        }
        (left, right) = (right, left);
    }
    left
}
