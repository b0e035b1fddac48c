//! Elements per second of the permutation paths, and bytes per second of the fingerprints.
//!
//! Measured: one core, best of several rounds, synthetic elements; long sets (1,000,000
//! elements, streamed) and short ones (300 elements, features included), 6 x 14 and 128 x 1
//! permutations. Left out: making the elements. Run with
//! `taskset -c 0 cargo run --release -p wonbon-sketch --example permutation_speed`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;
use wonbon_sketch::rabin::{RABIN_40, RABIN_64, RabinPath};
use wonbon_sketch::{
    ElementSet, FeatureMaker, FeatureParams, PermutationPath, Seed, SketchError, finalise,
};

const ROUNDS: usize = 15;

/// Best rate, in millions of `units` a second.
fn best(units: usize, mut work: impl FnMut()) -> f64 {
    let mut seconds = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work();
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    units as f64 / seconds / 1e6
}

fn main() -> Result<(), SketchError> {
    let elements: Vec<u64> = (0..1_000_000).map(finalise).collect();
    println!("permutations, million elements a second");
    println!("{:8} {:>12} {:>12} {:>12}", "path", "84 streamed", "84 by 300", "128 streamed");
    for path in PermutationPath::available() {
        let maker = |groups, group_size| {
            FeatureMaker::on_path(FeatureParams { groups, group_size, seed: Seed::default() }, path)
        };
        let mut builder = maker(6, 14)?.builder();
        let mut features = builder.features();
        let streamed = best(elements.len(), || {
            builder.clear();
            builder.update(&elements);
            builder.features_into(&mut features);
            black_box(&features);
        });
        let short = best(elements.len(), || {
            for document in elements.chunks(300) {
                builder.clear();
                builder.update(document);
                builder.features_into(&mut features);
                black_box(&features);
            }
        });
        let mut wide = maker(128, 1)?.builder();
        let wide = best(elements.len(), || {
            wide.clear();
            wide.update(&elements);
            black_box(wide.min_values());
        });
        println!("{:8} {streamed:12.1} {short:12.1} {wide:12.1}", path.to_string());
    }

    println!("\nRabin fingerprints, million bytes a second");
    println!(
        "{:10} {:>5} {:>8} {:>8} {:>8} {:>8}",
        "path", "bits", "16 B", "32 B", "56 B", "64 kB"
    );
    let bytes: Vec<u8> = elements.iter().flat_map(|e| e.to_le_bytes()).collect();
    for path in RabinPath::available() {
        for function in [&RABIN_64, &RABIN_40] {
            let rates = [16, 32, 56, 65_536].map(|length| {
                best(bytes.len(), || {
                    for piece in bytes.chunks(length) {
                        black_box(function.fingerprint_by(*path, piece));
                    }
                })
            });
            let [b16, b32, b56, long] = rates;
            let (name, bits) = (format!("{path:?}"), function.degree());
            println!("{name:10} {bits:5} {b16:8.0} {b32:8.0} {b56:8.0} {long:8.0}");
        }
    }

    println!("\nexact sets, million elements a second");
    println!("{:>8} {:>12} {:>12}", "size", "build", "compare");
    for size in [300, 3_000, 100_000] {
        let built = best(elements.len(), || {
            for document in elements.chunks(size) {
                black_box(ElementSet::new(document.to_vec()));
            }
        });
        let left = ElementSet::of(0..size);
        let right = ElementSet::of(size / 10..size + size / 10);
        let repeats = 1_000_000 / size;
        let compared = best(2 * size * repeats, || {
            for _ in 0..repeats {
                black_box(black_box(&left).overlap(black_box(&right)));
            }
        });
        println!("{size:8} {built:12.1} {compared:12.1}");
    }
    Ok(())
}
