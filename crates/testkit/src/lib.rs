//! Generators and slow, obvious oracles for Wonbon's tests and benchmarks.

pub mod harness;
