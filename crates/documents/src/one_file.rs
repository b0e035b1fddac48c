//! A file that is one document: text or HTML, in any character set.

use std::path::Path;

use wonbon_text::extract::{CoreText, Formats, Formatted, core_text, core_text_formatted};

use crate::MAX_DOCUMENT_BYTES;
use crate::binary::is_binary;
use crate::error::InputError;
use crate::open::{Source, SourceKind, open, read_whole};

/// A file read as one document.
#[derive(Debug)]
pub struct FileDocument {
    /// The path as given, or `standard input`.
    pub name: String,
    /// Its bytes, decompressed.
    pub bytes: Vec<u8>,
    /// Its core text, with everything that the page says of itself.
    pub core: CoreText,
}

/// Reads a file, or standard input for `-`, as one document.
///
/// # Errors
///
/// [`InputError`]: it cannot be read, is too long, is binary, or is a web archive.
pub fn read_file(path: &Path) -> Result<FileDocument, InputError> {
    read_source(open(path)?)
}

/// As [`read_file`], with the core text also in other formats.
///
/// # Errors
///
/// As [`read_file`].
pub fn read_formatted_file(
    path: &Path,
    formats: Formats,
) -> Result<(FileDocument, Formatted), InputError> {
    let source = open(path)?;
    let name = source.name.clone();
    let bytes = read_text_bytes(source)?;
    let (core, formatted) = core_text_formatted(&bytes, None, None, formats);
    Ok((FileDocument { name, bytes, core }, formatted))
}

/// Reads an opened input as one document.
///
/// # Errors
///
/// As [`read_file`].
pub fn read_source(source: Source) -> Result<FileDocument, InputError> {
    let name = source.name.clone();
    let bytes = read_text_bytes(source)?;
    let core = core_text(&bytes, None, None);
    Ok(FileDocument { name, bytes, core })
}

/// The bytes of an opened input, if they are a text.
pub(crate) fn read_text_bytes(source: Source) -> Result<Vec<u8>, InputError> {
    let (name, kind) = (source.name.clone(), source.kind);
    if kind == SourceKind::Warc {
        return Err(InputError::Archive { name });
    }
    let limit = source.limits.document_bytes.min(MAX_DOCUMENT_BYTES);
    let bytes = read_whole(source, limit)?;
    if is_binary(&bytes) {
        return Err(InputError::Binary { name });
    }
    Ok(bytes)
}
