//! What a post's reason is made from: its shingles and features.

use wonbon_sketch::{ElementSet, FeatureMaker, FeatureParams, SketchError};
use wonbon_text::extract::core_text;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, shingles};

use super::families::Document;
use super::sample::Post;
use wonbon_store::FEATURE_COUNT;

/// Reads posts; the permutations are drawn once for all of them.
pub struct Reader {
    features: FeatureMaker,
}

impl Reader {
    /// With the papers' parameters and the published seed.
    pub fn new() -> Result<Self, SketchError> {
        let params = FeatureParams { groups: FEATURE_COUNT, ..FeatureParams::default() };
        Ok(Reader { features: FeatureMaker::new(params)? })
    }

    /// Makes of a post what its reason needs.
    pub fn read(&self, post: &Post) -> Document {
        let core = core_text(&post.bytes, post.charset.as_deref(), None);
        let shingles_in_order = shingles(&core.page.text, DEFAULT_SHINGLE_WORDS);
        Document {
            id: post.id.clone(),
            created: post.created.clone(),
            charset: core.charset,
            from_page: core.is_html,
            features: self.features.features(&shingles_in_order),
            shingles: ElementSet::new(shingles_in_order.clone()),
            shingles_in_order,
        }
    }
}
