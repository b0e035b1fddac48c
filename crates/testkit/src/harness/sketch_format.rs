//! Arbitrary bytes as a sketch: an error or a sketch that gives the same bytes back.

use wonbon_sketch::{Sketch, rabin::RABIN_64};

/// Reads the bytes as they are, and once more as the body of a sketch with the right beginning
/// and checksum, since chance does not make those.
pub fn sketch_format(data: &[u8]) {
    read(data);
    let mut dressed = b"WBSK\x01".to_vec();
    dressed.extend(data);
    let checksum = RABIN_64.fingerprint(&dressed);
    dressed.extend(checksum.to_le_bytes());
    read(&dressed);
}

fn read(bytes: &[u8]) {
    let sketch = match Sketch::from_bytes(bytes) {
        Ok(sketch) => sketch,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert_eq!(sketch.to_bytes(), bytes, "a sketch has one encoding");
    assert!(!sketch.params().to_string().is_empty());
    // Whatever was accepted can be compared with itself.
    let estimates = match &sketch {
        Sketch::Smallest(sketch) => vec![sketch.estimate_resemblance(sketch)],
        Sketch::MinValues(sketch) => vec![sketch.estimate_resemblance(sketch)],
        Sketch::Modulus(sketch) => {
            vec![sketch.estimate_resemblance(sketch), sketch.estimate_containment_in(sketch)]
        }
        Sketch::Scaled(sketch) => {
            vec![sketch.estimate_resemblance(sketch), sketch.estimate_containment_in(sketch)]
        }
        Sketch::Features(sketch) => {
            assert_eq!(sketch.agreeing(sketch).expect("it is itself"), sketch.values().len());
            Vec::new()
        }
        Sketch::SuperShingles(sketch) => {
            assert_eq!(sketch.shared(sketch).expect("it is itself"), sketch.values().len());
            Vec::new()
        }
        _ => Vec::new(),
    };
    for estimate in estimates {
        let estimate = estimate.expect("a sketch is comparable with itself");
        assert_eq!(estimate.value, if estimate.samples == 0 { 0.0 } else { 1.0 });
    }
}
