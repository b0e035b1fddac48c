//! Fingerprints, permutations, features, sketches and estimators for sets.
