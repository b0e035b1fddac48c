//! The service and its pages.
