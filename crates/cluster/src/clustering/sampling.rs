//! Modulus sketches: every document as a sample of its shingles.

use wonbon_sketch::rabin::RABIN_64;
use wonbon_sketch::{ModulusMaker, finalise, super_shingles};
use wonbon_text::shingles::Shingler;

use super::ClusterMethod;
use crate::sketching::Sketches;
use wonbon_rule::fingerprint_set;

impl ClusterMethod {
    /// A sampler for one thread; super-shingles are runs of `run` sampled shingles, if wished.
    pub(crate) fn sampler<'a>(&self, maker: &'a ModulusMaker, run: Option<u32>) -> Sampler<'a> {
        Sampler { shingler: Shingler::new(self.shingle_words), maker, run }
    }
}

/// Makes sketches; one for each thread.
pub(crate) struct Sampler<'a> {
    shingler: Shingler,
    maker: &'a ModulusMaker,
    run: Option<u32>,
}

impl Sampler<'_> {
    /// Sketches one document.
    pub(crate) fn add(&mut self, bytes: &[u8], text: &str, sketches: &mut Sketches) {
        let mut builder = self.maker.builder();
        let count = self.shingler.for_each_chunk(text, |chunk| builder.update(chunk));
        let sketch = builder.finish();
        let normal = finalise(count.normal_form_hash ^ count.words.rotate_left(40));
        sketches.bytes.push(finalise(RABIN_64.fingerprint(bytes)));
        sketches.normal.push(normal);
        sketches.set.push(match (count.words, sketch.is_empty()) {
            (0, _) => 0,
            (_, true) => u128::from(normal.max(1)),
            (_, false) => fingerprint_set(sketch.values()),
        });
        sketches.shingles.push(sketch.values().len() as u32);
        sketches.elements.extend_from_slice(sketch.values());
        if let Some(run) = self.run {
            let supers = super_shingles(&sketch, run).expect("the run was checked before");
            sketches.super_counts.push(supers.values().len() as u32);
            sketches.supers.extend_from_slice(supers.values());
        }
    }
}
