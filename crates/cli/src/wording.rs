//! Numbers with their nouns, as people write them.

use crate::batch::thousands;

/// "1 copy", "2,310 copies".
pub(crate) fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_singular_and_everything_else_is_plural() {
        let said = [0, 1, 2310].map(|number| counted(number, "copy", "copies"));
        assert_eq!(said, ["0 copies", "1 copy", "2,310 copies"]);
    }
}
