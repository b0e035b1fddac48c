//! Cursors: where the next page of a list starts.
//!
//! A cursor names the last item of a page instead of counting items, so documents that arrive between two
//! pages shift nothing. (Search counts, because its results are ranked anew for every page.) Cursors are
//! opaque to clients; their text may change from version to version.

use crate::error::RequestError;

/// Where a list goes on: two numbers, whose meaning is the list's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor(pub(crate) [u64; 2]);

impl Cursor {
    /// Reads a cursor of a kind of list; none for the beginning.
    pub(crate) fn read(text: Option<&str>, kind: char) -> Result<Option<Cursor>, RequestError> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        let numbers = text.strip_prefix(kind).and_then(|rest| {
            let (one, two) = rest.split_once('-')?;
            Some([one.parse().ok()?, two.parse().ok()?])
        });
        numbers.map(|numbers| Some(Cursor(numbers))).ok_or(RequestError::Cursor)
    }

    /// The first number, in the type its list counts in.
    pub(crate) fn first<N: TryFrom<u64>>(self) -> Result<N, RequestError> {
        N::try_from(self.0[0]).map_err(|_| RequestError::Cursor)
    }

    /// The second number.
    pub(crate) fn second<N: TryFrom<u64>>(self) -> Result<N, RequestError> {
        N::try_from(self.0[1]).map_err(|_| RequestError::Cursor)
    }

    /// The cursor as clients get it.
    pub(crate) fn write(self, kind: char) -> String {
        let [one, two] = self.0;
        format!("{kind}{one}-{two}")
    }
}

/// The cursor behind the last thing shown, if there is more.
pub(crate) fn next_of(is_more: bool, kind: char, last: Option<[u64; 2]>) -> Option<String> {
    last.filter(|_| is_more).map(|numbers| Cursor(numbers).write(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went_and_others_are_refused() {
        let cursor = Cursor([17, u64::MAX]);
        assert_eq!(Cursor::read(Some(&cursor.write('f')), 'f').unwrap(), Some(cursor));
        assert_eq!(Cursor::read(None, 'f').unwrap(), None);
        assert!(cursor.second::<u32>().is_err());
        for wrong in ["f17", "d17-4", "f-1-2", "f1-2-3", "17", "f99999999999999999999-1"] {
            let read = Cursor::read(Some(wrong), 'f');
            assert!(matches!(read, Err(RequestError::Cursor)), "{wrong}");
        }
    }
}
