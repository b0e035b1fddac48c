//! Features of all blocks as bytes, column by column, and the scales that make bytes of numbers.
//!
//! A column is contiguous, so a question of a tree compares sixteen blocks an instruction.

/// Takes features one by one, in a fixed order.
pub(crate) trait Sink {
    /// The next feature of the block.
    fn put(&mut self, name: &'static str, value: u8);
}

/// Features column by column.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    bytes: Vec<u8>,
    rows: usize,
    next: usize,
}

impl Columns {
    pub(crate) fn new(rows: usize) -> Self {
        Columns { bytes: Vec::with_capacity(rows * 160), rows, next: 0 }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The values of one feature, one a block.
    pub(crate) fn column(&self, feature: usize) -> &[u8] {
        &self.bytes[feature * self.rows..][..self.rows]
    }

    pub(crate) fn count(&self) -> usize {
        self.bytes.len().checked_div(self.rows).unwrap_or(0)
    }

    /// Writes the features of one block. The first block's come first.
    pub(crate) fn row(&mut self, row: usize) -> Row<'_> {
        self.next = 0;
        Row { columns: self, row }
    }
}

/// Writes one block's features.
pub(crate) struct Row<'columns> {
    columns: &'columns mut Columns,
    row: usize,
}

impl Sink for Row<'_> {
    fn put(&mut self, _name: &'static str, value: u8) {
        let columns = &mut *self.columns;
        let at = columns.next * columns.rows + self.row;
        if at >= columns.bytes.len() {
            // Only while the first row is written.
            columns.bytes.resize((columns.next + 1) * columns.rows, 0);
        }
        columns.bytes[at] = value;
        columns.next += 1;
    }
}

/// An amount on a logarithmic scale: four steps a doubling.
pub(crate) fn amount(value: u32) -> u8 {
    if value < 4 {
        return value as u8;
    }
    let log = 31 - value.leading_zeros();
    let quarter = (value >> (log - 2)) & 3;
    ((log - 1) * 4 + quarter) as u8
}

/// A part of a whole in 1/250.
pub(crate) fn share(part: u32, whole: u32) -> u8 {
    (u64::from(part) * 250).checked_div(u64::from(whole)).unwrap_or(0).min(250) as u8
}

/// A sum of weights around the middle of a byte, in steps of four.
pub(crate) fn centred(score: i32) -> u8 {
    (score / 4 + 128).clamp(0, 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_grow_and_fit_a_byte() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(amount), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(amount(u32::MAX), 123);
        assert!((1..10_000u32).all(|value| amount(value) <= amount(value + 1)));
    }

    #[test]
    fn shares_are_parts_of_250() {
        assert_eq!((share(0, 0), share(1, 2), share(7, 7), share(9, 7)), (0, 125, 250, 250));
    }
}
