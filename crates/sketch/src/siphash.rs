//! SipHash-2-4: the keyed function from which everything a seed decides is derived.
//!
//! Why not a generator such as splitmix64: its steps can be undone, so whoever learns one derived
//! number (a multiplier, the printed fingerprint of a seed) has the seed. SipHash was made to be
//! a pseudo-random function under a 128-bit key; seeing outputs does not give the key.
//!
//! Cost: about 20 ns for the short messages used here; paid when a maker is built, never for an
//! element. Not here: hashing of documents (`rabin`).

/// SipHash-2-4 of `message` under the 128-bit key `(key0, key1)`, as Aumasson and Bernstein
/// define it (2012): two rounds for each eight bytes, four at the end.
pub(crate) fn siphash24(key0: u64, key1: u64, message: &[u8]) -> u64 {
    let mut state = [
        key0 ^ 0x736f_6d65_7073_6575,
        key1 ^ 0x646f_7261_6e64_6f6d,
        key0 ^ 0x6c79_6765_6e65_7261,
        key1 ^ 0x7465_6462_7974_6573,
    ];
    let (words, tail) = message.as_chunks::<8>();
    for word in words {
        absorb(&mut state, u64::from_le_bytes(*word));
    }
    let mut last = [0u8; 8];
    last[..tail.len()].copy_from_slice(tail);
    // The top byte of the last word is the message length modulo 256.
    last[7] = (message.len() % 256) as u8;
    absorb(&mut state, u64::from_le_bytes(last));

    state[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut state);
    }
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

fn absorb(state: &mut [u64; 4], word: u64) {
    state[3] ^= word;
    round(state);
    round(state);
    state[0] ^= word;
}

fn round(state: &mut [u64; 4]) {
    let [mut v0, mut v1, mut v2, mut v3] = *state;
    v0 = v0.wrapping_add(v1);
    v2 = v2.wrapping_add(v3);
    v1 = v1.rotate_left(13) ^ v0;
    v3 = v3.rotate_left(16) ^ v2;
    v0 = v0.rotate_left(32).wrapping_add(v3);
    v2 = v2.wrapping_add(v1);
    v1 = v1.rotate_left(17) ^ v2;
    v3 = v3.rotate_left(21) ^ v0;
    v2 = v2.rotate_left(32);
    *state = [v0, v1, v2, v3];
}

#[cfg(test)]
mod tests {
    use super::*;
    #[allow(deprecated)]
    use std::hash::{Hasher, SipHasher};

    #[test]
    fn it_is_the_siphash_of_the_standard_library_for_every_short_length() {
        let message: Vec<u8> = (0..80).collect();
        for length in 0..message.len() {
            let (key0, key1) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908 ^ length as u64);
            #[allow(deprecated)]
            let mut theirs = SipHasher::new_with_keys(key0, key1);
            theirs.write(&message[..length]);
            assert_eq!(siphash24(key0, key1, &message[..length]), theirs.finish(), "{length}");
        }
    }
}
