//! The reasons of problems in Korean, for the pages.
//!
//! The libraries describe a problem in an English sentence with values. This table has a pattern for every such
//! sentence that a page can show, and its Korean translation; `{0}` stands for a value in both. A sentence
//! without a pattern is shown in English and marked as such.
//! Cost: one pass over some forty patterns for each problem that a page shows.

/// English patterns and their Korean sentences.
const REASONS: [(&str, &str); 40] = [
    ("there is no document `{0}`", "`{0}` 문서가 없습니다"),
    ("`{0}` is not watched", "`{0}` 문서는 지켜보고 있지 않습니다"),
    ("there is no job `{0}`", "`{0}` 작업이 없습니다"),
    ("there is no job {0}", "{0}번 작업이 없습니다"),
    ("there is no crawl {0}", "{0}번 수집이 없습니다"),
    ("job {0} is no crawl", "{0}번 작업은 수집이 아닙니다"),
    ("job {0} is {1}", "{0}번 작업의 지금 상태는 {1}입니다"),
    ("say which files: `inputs` is empty", "파일을 지정하세요. `inputs`가 비어 있습니다"),
    ("the seed {0} must not be asked: {1}", "시작 주소 {0}에는 요청할 수 없습니다: {1}"),
    ("{0} jobs have not ended yet", "작업 {0}개가 아직 끝나지 않았습니다"),
    (
        "one of `key`, `text` and `html` says what is asked about",
        "`key`, `text`, `html` 가운데 하나로 무엇을 물을지 지정하세요",
    ),
    ("hand back `next` of an earlier answer as it is", "앞선 답의 `next`를 그대로 보내세요"),
    ("say a `{0}` or a `{1}`, not both", "`{0}`와 `{1}` 가운데 하나만 지정하세요"),
    ("at most {0} seeds are taken", "시작 주소는 {0}개까지 받습니다"),
    ("`a` and `b` say what is compared", "비교할 문서를 `a`와 `b`로 지정하세요"),
    ("`key` says which document is meant", "어느 문서인지 `key`로 지정하세요"),
    ("`key` says which document is removed", "지울 문서를 `key`로 지정하세요"),
    ("the query has no words to look for", "검색어에 찾을 낱말이 없습니다"),
    (
        "the query has {0} characters; {1} is the limit",
        "검색어가 {0}자입니다. {1}자까지 쓸 수 있습니다",
    ),
    (
        "the query has {0} words and fields; {1} is the limit",
        "검색어의 낱말과 필드가 {0}개입니다. {1}개까지 쓸 수 있습니다",
    ),
    ("the query took longer than {0} s; narrow it", "검색이 {0}초를 넘겼습니다. 검색어를 좁히세요"),
    (
        "\"{0}\" after {1}: is not a date; write 2024, 2024-05, 2024-05-01 or 2024-05-01T09:00:00Z",
        "{1}: 뒤의 \"{0}\"는 날짜가 아닙니다. 2024, 2024-05, 2024-05-01, 2024-05-01T09:00:00Z처럼 쓰세요",
    ),
    (
        "results {0} to {1} lie beyond the first {2}; narrow the query instead",
        "{0}번부터 {1}번까지의 결과는 처음 {2}개를 벗어납니다. 검색어를 좁히세요",
    ),
    (
        "a key has 1 to {0} bytes, this one has {1}",
        "키는 1바이트에서 {0}바이트까지입니다. 이 키는 {1}바이트입니다",
    ),
    (
        "a text has up to {0} bytes, this one has {1}",
        "글은 {0}바이트까지입니다. 이 글은 {1}바이트입니다",
    ),
    ("the text has no words", "글에 낱말이 없습니다"),
    (
        "the disk is full: nothing of this was stored",
        "디스크가 가득 차 아무것도 저장되지 않았습니다",
    ),
    ("the log of the service says more", "자세한 것은 서비스의 로그에 있습니다"),
    ("/docs lists what there is", "있는 주소는 /docs에 있습니다"),
    ("/docs lists what can be done here", "할 수 있는 일은 /docs에 있습니다"),
    (
        "as many requests as can be answered at once are being answered",
        "한꺼번에 답할 수 있는 만큼의 요청에 답하고 있습니다",
    ),
    ("the request comes from {0}", "{0}에서 온 요청입니다"),
    ("write `Authorization: Bearer` and the token", "`Authorization: Bearer` 뒤에 토큰을 쓰세요"),
    (
        "send it as `Authorization: Bearer`, or sign in",
        "`Authorization: Bearer`로 보내거나 로그인하세요",
    ),
    ("it was never made, or was revoked", "만든 적이 없거나 취소된 토큰입니다"),
    ("token {0} has expired", "토큰 {0}의 기한이 지났습니다"),
    (
        "this needs the scope {0}, which token {1} has not",
        "{0} 권한이 필요하지만 토큰 {1}에는 없습니다",
    ),
    ("load the page again and send its form", "페이지를 다시 불러온 뒤 양식을 보내세요"),
    ("at most {0} bytes are taken", "{0}바이트까지 받습니다"),
    ("start it with `--backups DIR`", "`--backups DIR`로 서비스를 시작하세요"),
];

/// A reason in Korean, if it is one that is known.
pub(crate) fn in_korean(reason: &str) -> Option<String> {
    REASONS.iter().find_map(|(english, korean)| Some(fill(korean, &values(english, reason)?)))
}

/// What stands in a sentence where its pattern has places, if the sentence is of this pattern.
fn values<'a>(pattern: &str, sentence: &'a str) -> Option<Vec<(usize, &'a str)>> {
    let mut found = Vec::new();
    let mut rest = sentence;
    let mut pieces = pattern.split('{');
    rest = rest.strip_prefix(pieces.next()?)?;
    for piece in pieces {
        let (number, after) = piece.split_once('}')?;
        let length = if after.is_empty() { rest.len() } else { rest.find(after)? };
        found.push((number.parse().ok()?, &rest[..length]));
        rest = &rest[length + after.len()..];
    }
    rest.is_empty().then_some(found)
}

/// A sentence with its values. Values are put in once: what they hold is no place.
fn fill(pattern: &str, values: &[(usize, &str)]) -> String {
    let mut filled = String::new();
    let mut pieces = pattern.split('{');
    filled.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (number, after) = piece.split_once('}').unwrap_or(("", piece));
        let value = values.iter().find(|(at, _)| number.parse() == Ok(*at));
        filled.push_str(value.map_or("", |(_, value)| *value));
        filled.push_str(after);
    }
    filled
}

#[cfg(test)]
mod tests {
    use wonbon_app::{AppError, RequestError};
    use wonbon_store::{Query, StoreError};

    use super::*;
    use crate::problem::Problem;

    #[test]
    fn values_stand_where_the_sentence_wants_them() {
        let said = in_korean("the query has 700 characters; 512 is the limit").unwrap();
        assert_eq!(said, "검색어가 700자입니다. 512자까지 쓸 수 있습니다");
        assert_eq!(in_korean("there is no document `{1}`").unwrap(), "`{1}` 문서가 없습니다");
        assert_eq!(in_korean("something nobody wrote a pattern for"), None);
    }

    #[test]
    fn both_sentences_of_a_reason_have_the_same_places() {
        let places = |text: &str| {
            let mut places: Vec<String> = text
                .split('{')
                .skip(1)
                .map(|piece| piece.split('}').next().unwrap().to_owned())
                .collect();
            places.sort();
            places
        };
        for (english, korean) in REASONS {
            assert_eq!(places(english), places(korean), "{english}");
        }
    }

    #[test]
    fn what_pages_refuse_is_told_in_korean() {
        let problems = [
            Problem::unknown("a"),
            AppError::UnknownJob { number: 7 }.into(),
            AppError::NoInputs.into(),
            RequestError::NoText.into(),
            RequestError::Cursor.into(),
            Problem::from(StoreError::BadKey { bytes: 0, most: 4096 }),
            Problem::from(StoreError::NoWords),
            Problem::from(Query::parse("").unwrap_err()),
            Problem::from(Query::parse("a after:never").unwrap_err()),
            Problem::from(Query::parse(&"가".repeat(5000)).unwrap_err()),
        ];
        for problem in problems {
            assert!(in_korean(&problem.detail).is_some(), "{}", problem.detail);
        }
    }
}
