//! The service as one question sees it: the same state, and a store whose questions stop when the answer is no
//! longer wanted.
//!
//! Why a handle of its own: every question reaches the store through it, so none can forget to pass the deadline
//! on. Actions get one that is never cancelled: what has begun is finished.

use std::ops::Deref;
use std::sync::Arc;

use wonbon_progress::Cancellation;
use wonbon_store::{Store, StoreError};

use crate::problem::Problem;
use crate::service::Service;

/// The service for the time of one question.
pub(crate) struct Inquiry {
    service: Arc<Service>,
    /// In place of the service's own.
    pub(crate) store: Store,
    cancellation: Cancellation,
}

impl Inquiry {
    pub(crate) fn new(service: Arc<Service>, cancellation: Cancellation) -> Self {
        let store = service.store.with_cancellation(cancellation.clone());
        Inquiry { service, store, cancellation }
    }

    /// What stops the question.
    pub(crate) fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Ends a question that was cancelled; asked between steps that do not read the store.
    pub(crate) fn go_on(&self) -> Result<(), Problem> {
        match self.cancellation.is_cancelled() {
            true => Err(StoreError::Cancelled.into()),
            false => Ok(()),
        }
    }
}

impl Deref for Inquiry {
    type Target = Service;

    fn deref(&self) -> &Service {
        &self.service
    }
}
