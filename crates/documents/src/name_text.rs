//! Names of files as text: what becomes ids of documents and stands in plans of runs.
//!
//! Why not `display`: it writes every byte that is no UTF-8 as the same character, so two files of one folder would
//! be one document, and the second would replace the first. Here such a byte is that character and its value.

use std::borrow::Cow;
use std::path::Path;

use serde::Serializer;

/// A path as text. Different paths give different texts, unless somebody writes U+FFFD into a name.
pub(crate) fn name_text(path: &Path) -> Cow<'_, str> {
    if let Some(text) = path.to_str() {
        return text.into();
    }
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\u{FFFD}{byte:02X}"));
        }
    }
    text.into()
}

/// For serde, which refuses such paths.
pub(crate) fn write_name<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&name_text(path))
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn names_that_are_no_text_stay_different() {
        let text = |bytes: &'static [u8]| name_text(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(text("가/b.txt".as_bytes()), "가/b.txt");
        assert_eq!(text(b"a\xff\xfe.txt"), "a\u{FFFD}FF\u{FFFD}FE.txt");
        assert_ne!(text(b"\xff"), text(b"\xfe"));
    }
}
