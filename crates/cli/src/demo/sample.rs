//! The posts inside the binary.
//!
//! `sample/posts.jsonl` has one post a line in order of arrival, its text in the line or in a file
//! beside it (EUC-KR bytes and HTML pages cannot stand in JSON). The lines also hold the verdict
//! each post is expected to get; tests read it, the demo does not.

use std::borrow::Cow;

use anyhow::{Context, bail};
use serde::Deserialize;

const POSTS: &str = include_str!("../../sample/posts.jsonl");

const FILES: [(&str, &[u8]); 5] = [
    ("euc-kr-bicycle.txt", include_bytes!("../../sample/euc-kr-bicycle.txt")),
    ("euc-kr-market.txt", include_bytes!("../../sample/euc-kr-market.txt")),
    ("page-darning.html", include_bytes!("../../sample/page-darning.html")),
    ("page-knitting.html", include_bytes!("../../sample/page-knitting.html")),
    ("page-radio.html", include_bytes!("../../sample/page-radio.html")),
];

/// A post as it arrives.
pub(crate) struct Post {
    pub id: String,
    /// ISO 8601, always UTC and to the second, so that the order of strings is that of times.
    pub created: String,
    pub title: Option<String>,
    /// The text's bytes, as its blog sent them.
    pub bytes: Cow<'static, [u8]>,
    /// The charset named by whoever sent the post, as an HTTP header would.
    pub charset: Option<String>,
}

impl Post {
    /// The blog it stands in: what precedes the number in its id.
    pub(crate) fn blog(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Line {
    id: String,
    created: String,
    title: Option<String>,
    text: Option<String>,
    file: Option<String>,
    charset: Option<String>,
}

/// The posts, in order of arrival.
pub(crate) fn posts() -> anyhow::Result<Vec<Post>> {
    POSTS.lines().enumerate().map(|(at, line)| post(line, at + 1)).collect()
}

fn post(line: &str, number: usize) -> anyhow::Result<Post> {
    let Line { id, created, title, text, file, charset } =
        serde_json::from_str(line).with_context(|| format!("line {number} is no post"))?;
    let bytes = match (text, file) {
        (Some(text), None) => Cow::Owned(text.into_bytes()),
        (None, Some(name)) => {
            let found = FILES.iter().find(|(known, _)| *known == name);
            Cow::Borrowed(found.with_context(|| format!("{id} names the unknown file {name}"))?.1)
        }
        _ => bail!("{id} has both a text and a file, or neither"),
    };
    Ok(Post { id, created, title, bytes, charset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_posts_are_euc_kr_and_three_are_pages() {
        let posts = posts().unwrap();
        let count = |wanted: fn(&[u8]) -> bool| posts.iter().filter(|p| wanted(&p.bytes)).count();
        assert_eq!(count(|bytes| std::str::from_utf8(bytes).is_err()), 2);
        assert_eq!(count(|bytes| bytes.starts_with(b"<!DOCTYPE html>")), 3);
    }

    #[test]
    fn every_time_is_utc_to_the_second() {
        for post in posts().unwrap() {
            let shape: String =
                post.created.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            assert_eq!(shape, "0000-00-00T00:00:00Z", "{}", post.id);
        }
    }
}
