//! What is written beside every commit: of what this is an index, how far it has come, how much it holds.
//!
//! The file that tantivy keeps this in has no checksum, and a mark with a wrong digit would lose documents
//! without a sign; so the payload carries its own.

use wonbon_text::words::NORMAL_FORM_VERSION;

use crate::schema::FORMAT_VERSION;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub mark: u64,
    pub documents: u64,
    pub identity: String,
}

impl Payload {
    pub(crate) fn to_text(&self) -> String {
        let body = self.body();
        format!("{:016x} {body}", fingerprint(body.as_bytes()))
    }

    fn body(&self) -> String {
        let Payload { mark, documents, identity } = self;
        format!(
            "wonbon-search {FORMAT_VERSION}.{NORMAL_FORM_VERSION} {mark} {documents} {identity}"
        )
    }

    /// Reads a payload back; `None` if it is damaged or of another version.
    pub(crate) fn from_text(text: &str) -> Option<Payload> {
        let mut parts = text.splitn(6, ' ');
        let (_check, _name, _version) = (parts.next()?, parts.next()?, parts.next()?);
        let mark = parts.next()?.parse().ok()?;
        let documents = parts.next()?.parse().ok()?;
        let payload = Payload { mark, documents, identity: parts.next()?.to_owned() };
        (payload.to_text() == text).then_some(payload)
    }
}

/// FNV-1a in 64 bits: one changed byte always changes it.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_what_was_written_gives_it_back_and_no_other_text_does() {
        let payload = Payload { mark: 1_234, documents: 56, identity: "store 한 2".to_owned() };
        let text = payload.to_text();
        assert_eq!(Payload::from_text(&text), Some(payload));
        for at in (0..text.len()).filter(|&at| text.as_bytes()[at].is_ascii()) {
            for bit in 0..7 {
                let mut changed = text.clone().into_bytes();
                changed[at] ^= 1 << bit;
                let changed = String::from_utf8(changed).unwrap();
                assert_eq!(Payload::from_text(&changed), None, "{changed}");
            }
        }
    }
}
