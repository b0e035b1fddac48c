//! Sets of anything: exact resemblance and containment, and sketches that estimate them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};
use wonbon_sketch::{
    ElementSet, Estimate, ModulusMaker, ModulusParams, ModulusSketch, SmallestMaker,
    SmallestParams, SmallestSketch, sets::Element,
};

use crate::failure::Failure;
use crate::options;

/// A set of texts, bytes or whole numbers.
#[pyclass(frozen, module = "wonbon")]
pub(crate) struct ItemSet(ElementSet);

/// The element of a thing: the same on every machine.
fn element_of(item: &Bound<'_, PyAny>) -> Result<u64, Failure> {
    if let Ok(text) = item.cast::<PyString>() {
        let text = text.to_str().map_err(|_| options::half_of_a_pair("a text of the set"))?;
        return Ok(text.element());
    }
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().element());
    }
    if item.is_instance_of::<PyInt>() {
        let number: i128 = item
            .extract()
            .map_err(|_| Failure::request("a number of a set has at most 128 bits"))?;
        return Ok(number.element());
    }
    let kind = item.get_type();
    Err(Failure::request(format!(
        "a set holds texts, bytes or whole numbers, not {}",
        kind.name()?
    )))
}

/// Value and standard error.
fn told(estimate: Estimate) -> (f64, f64) {
    (estimate.value, estimate.standard_error)
}

#[pymethods]
impl ItemSet {
    #[new]
    fn new(items: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let mut elements = Vec::new();
        let wrong = || {
            let kind = crate::input::name_of(items);
            Failure::request(format!("a set is made of a list of items, not {kind}"))
        };
        for item in items.try_iter().map_err(|_| wrong())? {
            elements.push(element_of(&item?)?);
        }
        Ok(ItemSet(ElementSet::new(elements)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<wonbon.ItemSet: {} items>", self.0.len())
    }

    /// The part of the union that both have; 0 for two empty sets.
    fn resemblance(&self, other: &ItemSet) -> f64 {
        self.0.resemblance(&other.0)
    }

    /// The part of this set that the other has too; 0 when this set is empty.
    fn containment_in(&self, other: &ItemSet) -> f64 {
        self.0.containment_in(&other.0)
    }

    /// The sketch of the smallest values: estimates resemblance.
    #[pyo3(signature = (size = 128, *, seed = None))]
    fn smallest(&self, size: usize, seed: Option<&Bound<'_, PyAny>>) -> Result<SetSketch, Failure> {
        let seed = options::seed(seed)?;
        let maker = SmallestMaker::new(SmallestParams { count: size, seed })?;
        Ok(SetSketch(Kind::Smallest(maker.sketch(self.0.as_slice()))))
    }

    /// The sketch of one value in so many: estimates resemblance and containment.
    #[pyo3(signature = (modulus = 25, *, seed = None))]
    fn modulus(&self, modulus: u64, seed: Option<&Bound<'_, PyAny>>) -> Result<SetSketch, Failure> {
        let seed = options::seed(seed)?;
        let maker = ModulusMaker::new(ModulusParams { modulus, seed, ..ModulusParams::default() })?;
        Ok(SetSketch(Kind::Modulus(maker.sketch(self.0.as_slice()))))
    }
}

enum Kind {
    Smallest(SmallestSketch),
    Modulus(ModulusSketch),
}

/// A sketch of a set.
#[pyclass(frozen, module = "wonbon")]
pub(crate) struct SetSketch(Kind);

#[pymethods]
impl SetSketch {
    /// The resemblance and its standard error.
    fn resemblance(&self, other: &SetSketch) -> Result<(f64, f64), Failure> {
        match (&self.0, &other.0) {
            (Kind::Smallest(one), Kind::Smallest(other)) => {
                Ok(told(one.estimate_resemblance(other)?))
            }
            (Kind::Modulus(one), Kind::Modulus(other)) => {
                Ok(told(one.estimate_resemblance(other)?))
            }
            _ => Err(Failure::request("sketches of two kinds cannot be compared")),
        }
    }

    /// The part of this set that the other has, and its standard error.
    fn containment_in(&self, other: &SetSketch) -> Result<(f64, f64), Failure> {
        match (&self.0, &other.0) {
            (Kind::Modulus(one), Kind::Modulus(other)) => {
                Ok(told(one.estimate_containment_in(other)?))
            }
            _ => Err(Failure::request("only sketches made by `modulus` estimate containment")),
        }
    }

    /// The sketch in the format of docs/formats.md.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = match &self.0 {
            Kind::Smallest(sketch) => sketch.to_bytes(),
            Kind::Modulus(sketch) => sketch.to_bytes(),
        };
        PyBytes::new(py, &bytes)
    }
}
