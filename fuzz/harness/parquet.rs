//! Whatever bytes call themselves a Parquet file, its rows are documents or what is wrong is told, within bounds.

use std::num::NonZeroUsize;
use std::path::Path;

use wonbon_documents::{
    FieldNames, InputError, Inputs, Limits, PieceOutput, Reading, for_each_document,
};
use wonbon_progress::Unwatched;

const MOST: usize = 1 << 20;

/// Reads the bytes as they are, and with the marks of the format around them.
///
/// # Panics
///
/// When a promise of reading does not hold.
pub(crate) fn parquet(data: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("in.parquet");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("there is room");
        read(&path)
    };
    assert_eq!(read(data), read(data), "the same bytes give the same documents");
    if data.len() > 8 {
        let mut dressed = data.to_vec();
        dressed[..4].copy_from_slice(b"PAR1");
        let end = dressed.len();
        dressed[end - 4..].copy_from_slice(b"PAR1");
        read(&dressed);
    }
}

/// Texts and reasons, in order.
fn read(path: &Path) -> (Vec<String>, Vec<String>) {
    let paths = [path.to_owned()];
    let mut inputs = Inputs::find(&paths, FieldNames::default()).expect("the file is there");
    inputs.limits = Limits { row_group_bytes: MOST as u64, ..Limits::for_documents(MOST) };
    let reading = Reading::new(&inputs, NonZeroUsize::MIN, &Unwatched);
    let (mut texts, mut reasons) = (Vec::new(), Vec::new());
    let ended = for_each_document(
        &reading,
        || (),
        |(), document, texts: &mut Vec<String>| {
            assert!(document.bytes().len() <= MOST);
            texts.push(document.text().to_owned());
        },
        |piece: PieceOutput<Vec<String>>| {
            let documents = piece.is_document.iter().filter(|is| **is).count();
            assert_eq!(documents, piece.output.len());
            texts.extend(piece.output);
            reasons.extend(piece.skipped.iter().map(|skipped| skipped.why.clone()));
            Ok::<(), InputError>(())
        },
    );
    if let Err(error) = ended {
        reasons.push(error.to_string());
    }
    assert!(reasons.iter().all(|why| !why.is_empty()));
    (texts, reasons)
}
