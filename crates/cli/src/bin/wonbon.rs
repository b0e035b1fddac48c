//! The program `wonbon`: [`wonbon_cli::run`] with the program's own allocator.
//!
//! Apart from the library, because the Python package runs the same commands inside an interpreter, whose
//! allocator is not ours to replace.

use std::process::ExitCode;

use wonbon_allocator::BySize;

#[global_allocator]
static ALLOCATOR: BySize = BySize;

fn main() -> ExitCode {
    ExitCode::from(wonbon_cli::run(std::env::args_os()))
}
