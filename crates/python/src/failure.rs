//! Errors on their way to Python: what a library says becomes an exception of `wonbon.errors`, in the words
//! that the program prints.
//!
//! Rust errors fall into three classes (the request is wrong, the environment failed, our data is broken);
//! so do the exceptions. An exception that Python raised, in a generator of batches or by Ctrl-C, is passed
//! on as it is.

use arrow_schema::ArrowError;
use pyo3::prelude::*;
use wonbon_app::{AppError, RequestError};
use wonbon_documents::InputError;
use wonbon_sketch::SketchError;

/// Why something asked for in Python was not done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Python said so.
    Python(PyErr),
    /// One of ours: the name of the exception, and its sentence.
    Ours(Class, String),
    /// Somebody asked to stop.
    Stopped,
}

/// The exceptions of `wonbon.errors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The request is wrong.
    Request,
    /// A column is missing, or is not what it should be.
    Column,
    /// There is no such document.
    UnknownDocument,
    /// The environment failed: a file, a disk, memory.
    Environment,
    /// Our data is broken.
    Damaged,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Request => "RequestError",
            Class::Column => "ColumnError",
            Class::UnknownDocument => "UnknownDocumentError",
            Class::Environment => "EnvironmentFailedError",
            Class::Damaged => "DamagedError",
        }
    }
}

impl Failure {
    /// The request is wrong: one sentence about it.
    pub(crate) fn request(sentence: impl Into<String>) -> Self {
        Failure::Ours(Class::Request, sentence.into())
    }

    /// A column is wrong: one sentence that names it.
    pub(crate) fn column(sentence: impl Into<String>) -> Self {
        Failure::Ours(Class::Column, sentence.into())
    }

    /// The request is wrong, as a library says.
    pub(crate) fn wrong(error: &(dyn std::error::Error + 'static)) -> Self {
        Failure::of(Class::Request, error)
    }

    /// The environment failed, as a library says.
    pub(crate) fn environment(error: &(dyn std::error::Error + 'static)) -> Self {
        Failure::of(Class::Environment, error)
    }

    /// Our data is broken, as a library says.
    pub(crate) fn damaged(error: &(dyn std::error::Error + 'static)) -> Self {
        Failure::of(Class::Damaged, error)
    }

    /// An error and its causes, as the program prints them.
    pub(crate) fn of(class: Class, error: &(dyn std::error::Error + 'static)) -> Self {
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        // Some sentences end with their cause already.
        let sentence = causes.map(ToString::to_string).fold(error.to_string(), |told, cause| {
            if told.ends_with(&cause) { told } else { format!("{told}: {cause}") }
        });
        Failure::Ours(class, sentence)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        let (class, sentence) = match failure {
            Failure::Python(error) => return error,
            Failure::Stopped => return pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
            Failure::Ours(class, sentence) => (class, sentence),
        };
        Python::attach(|py| {
            let exception = py
                .import("wonbon.errors")
                .and_then(|errors| errors.getattr(class.name())?.call1((sentence,)));
            match exception {
                Ok(exception) => PyErr::from_value(exception),
                Err(error) => error,
            }
        })
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Failure::request(format!("the Arrow data cannot be read: {error}"))
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Failure::of(Class::Request, &error)
    }
}

impl From<SketchError> for Failure {
    fn from(error: SketchError) -> Self {
        Failure::of(Class::Request, &error)
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Stopped => Failure::Stopped,
            InputError::Io { .. } => Failure::of(Class::Environment, &error),
            error => Failure::of(Class::Request, &error),
        }
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        match error {
            AppError::UnknownDocument { .. } => Failure::of(Class::UnknownDocument, &error),
            AppError::Store(error) => error.into(),
            AppError::Io { .. } | AppError::Record { .. } => {
                Failure::of(Class::Environment, &error)
            }
            error => Failure::of(Class::Request, &error),
        }
    }
}
