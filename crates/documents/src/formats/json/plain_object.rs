//! The objects that most corpora consist of, without a tape: named strings and numbers on one line.
//!
//! Why: a parser notes every value of a line. Of most lines three fields are wanted, and one of them is nearly the whole
//! line. So wanted strings are unescaped while their end is looked for, eight bytes a step, 32 where nothing is escaped, and
//! everything else is only checked.
//!
//! Guarantee: what is read here is what the parser reads, and nothing is changed before the whole line was seen to be
//! an object. What is rare is left to the parser, which also says what is wrong with a line: tabs and line breaks
//! between values, escapes in names, numbers with exponents or many digits, deep nesting.
//!
//! Cost: the line is looked at twice, for its strings and for UTF-8; wanted strings are copied once, and those with escapes
//! twice if the line must hold them in the end ([`PlainReader::take`]).

use std::ops::Range;

use crate::fields::FieldNames;
use crate::resolve::{Value, Values};

/// How deep values that nobody wants may be nested.
const DEPTH: usize = 16;

/// How much memory is kept from line to line.
const KEPT_BYTES: usize = 1 << 20;

/// The most digits of a number: every whole number of so many fits 64 bits.
const DIGITS: usize = 18;

/// A value of a line that was scanned.
#[derive(Clone, Copy, Debug)]
enum Scanned {
    Null,
    Integer(i64),
    /// The string of this number.
    Text(usize),
    Other,
}

/// A string: where it stands between its quotes, and where it stands unescaped if it has escapes.
#[derive(Clone, Debug)]
struct Text {
    place: Range<usize>,
    unescaped: Option<Range<usize>>,
}

/// Reads plain objects, reusing its memory.
#[derive(Debug)]
pub(super) struct PlainReader {
    /// The names of wanted fields, each with a bit for everything it stands for.
    names: Vec<(Vec<u8>, u16)>,
    /// What was found, by the number of the bit.
    found: [Option<Scanned>; PURPOSES],
    texts: Vec<Text>,
    /// Wanted strings, unescaped, one after another; what follows them has no meaning.
    unescaped: Vec<u8>,
    filled: usize,
}

/// The fields of [`FieldNames`], and the one to rank by.
const PURPOSES: usize = 12;

impl PlainReader {
    pub(super) fn new(fields: &FieldNames, ranking: Option<&str>) -> Self {
        let mut names: Vec<(Vec<u8>, u16)> = Vec::new();
        for (purpose, name) in fields.all().into_iter().chain(ranking).enumerate() {
            match names.iter_mut().find(|(other, _)| other == name.as_bytes()) {
                Some((_, purposes)) => *purposes |= 1 << purpose,
                None => names.push((name.as_bytes().to_vec(), 1 << purpose)),
            }
        }
        PlainReader {
            names,
            found: [None; PURPOSES],
            texts: Vec::new(),
            unescaped: Vec::new(),
            filled: 0,
        }
    }

    /// Whether the first `length` bytes are a plain object, if they are UTF-8; no control character may stand in its
    /// strings, and one must stand behind it, with a step of bytes more. If so, [`values`](Self::values) or
    /// [`take`](Self::take) hands out its values.
    pub(super) fn scan(&mut self, padded: &[u8], length: usize) -> bool {
        self.found = [None; PURPOSES];
        self.texts.clear();
        self.filled = 0;
        // Unescaping makes nothing longer. The room for a line that is much longer than others is given back.
        let room = length + STEP;
        if self.unescaped.len() < room {
            self.unescaped.resize(room, 0);
        } else if self.unescaped.len() > KEPT_BYTES.max(room) {
            self.unescaped.truncate(KEPT_BYTES.max(room));
            self.unescaped.shrink_to_fit();
        }
        self.object(padded, length).is_some()
    }

    fn object(&mut self, line: &[u8], length: usize) -> Option<()> {
        let mut at = Scan { line, at: 0 };
        at.expect(b'{')?;
        if at.next_byte()? != b'}' {
            loop {
                let (name, is_plain) = at.string()?;
                let purposes = is_plain.then(|| self.purposes_of(&line[name]))?;
                at.expect(b':')?;
                if purposes == 0 {
                    at.skip(DEPTH)?;
                } else {
                    let value = self.value(&mut at)?;
                    for purpose in (0..PURPOSES).filter(|purpose| purposes >> purpose & 1 == 1) {
                        self.found[purpose] = Some(value);
                    }
                }
                match at.next_byte()? {
                    b',' => at.at += 1,
                    b'}' => break,
                    _ => return None,
                }
            }
        }
        at.expect(b'}')?;
        line.get(at.at..length)?.iter().all(|&byte| byte == b' ').then_some(())
    }

    fn purposes_of(&self, name: &[u8]) -> u16 {
        self.names.iter().find(|(wanted, _)| wanted == name).map_or(0, |(_, purposes)| *purposes)
    }

    fn value(&mut self, at: &mut Scan<'_>) -> Option<Scanned> {
        Some(match at.next_byte()? {
            b'"' => {
                let from = self.filled;
                let (place, written) = at.unescape(&mut self.unescaped[from..])?;
                let is_plain = written == place.len();
                let unescaped = (!is_plain).then(|| from..from + written);
                self.filled += if is_plain { 0 } else { written };
                self.texts.push(Text { place, unescaped });
                Scanned::Text(self.texts.len() - 1)
            }
            b'n' => {
                at.literal(b"null")?;
                Scanned::Null
            }
            // What a fraction is worth, the parser says.
            b'-' | b'0'..=b'9' => Scanned::Integer(at.number()??),
            _ => {
                at.skip(DEPTH)?;
                Scanned::Other
            }
        })
    }

    /// The values of the line that was scanned; none if the line is not UTF-8.
    pub(super) fn values<'a>(&'a self, line: &'a [u8]) -> Option<Values<'a>> {
        let mut values: [Value<'a>; PURPOSES] = Default::default();
        let mut checked = 0;
        for (number, Text { place, unescaped }) in self.texts.iter().enumerate() {
            // An escape is a whole character, so what is UTF-8 unescaped was it before, and the other way round.
            simdutf8::basic::from_utf8(&line[checked..place.start]).ok()?;
            let bytes = unescaped
                .as_ref()
                .map_or_else(|| &line[place.clone()], |place| &self.unescaped[place.clone()]);
            self.enter(&mut values, number, simdutf8::basic::from_utf8(bytes).ok()?);
            checked = place.end;
        }
        simdutf8::basic::from_utf8(&line[checked..]).ok()?;
        Some(self.complete(values))
    }

    /// The same of a line that is UTF-8, for callers that keep the line alone: strings with escapes are written where they
    /// stand.
    pub(super) fn take<'a>(&self, mut line: &'a mut [u8]) -> Values<'a> {
        let mut values: [Value<'a>; PURPOSES] = Default::default();
        let mut taken = 0;
        for (number, Text { place, unescaped }) in self.texts.iter().enumerate() {
            let (head, rest) = line.split_at_mut(place.end - taken);
            let mut text = &mut head[place.start - taken..];
            if let Some(unescaped) = unescaped {
                text = &mut text[..unescaped.len()];
                text.copy_from_slice(&self.unescaped[unescaped.clone()]);
            }
            let text = simdutf8::basic::from_utf8(text)
                .expect("the line is UTF-8, and escapes are characters");
            self.enter(&mut values, number, text);
            (line, taken) = (rest, place.end);
        }
        self.complete(values)
    }

    /// Enters a text wherever it was found.
    fn enter<'a>(&self, values: &mut [Value<'a>; PURPOSES], number: usize, text: &'a str) {
        for (value, found) in values.iter_mut().zip(&self.found) {
            if matches!(found, Some(Scanned::Text(of)) if *of == number) {
                *value = Value::from(text);
            }
        }
    }

    /// Enters what is no text.
    fn complete<'a>(&self, mut values: [Value<'a>; PURPOSES]) -> Values<'a> {
        for (value, found) in values.iter_mut().zip(&self.found) {
            match found {
                Some(Scanned::Integer(number)) => *value = Value::Integer((*number).into()),
                Some(Scanned::Other) => *value = Value::Other,
                Some(Scanned::Null | Scanned::Text(_)) | None => {}
            }
        }
        // In the order of `FieldNames::all`.
        let [id, url, created, published, title, site, author, rest @ ..] = values;
        let [language, text, html, redirect, ranking] = rest;
        Values {
            id,
            url,
            created,
            published,
            title,
            site,
            author,
            language,
            text,
            html,
            redirect,
            ranking,
        }
    }
}

/// A place in a line. Behind the line stands a control character.
struct Scan<'a> {
    line: &'a [u8],
    at: usize,
}

/// How many bytes are looked at in a step.
const STEP: usize = 8;

/// How many at once where nothing was escaped for some steps.
const WIDE: usize = 32;
const STEPS_BEFORE_WIDE: usize = 6;

const ONES: u64 = u64::MAX / 0xFF;
const HIGH: u64 = ONES * 0x80;

/// A bit for the first quote, backslash or control character of these bytes, and others above it; 0 if there is none.
#[inline]
fn special(bytes: [u8; STEP]) -> u64 {
    let word = u64::from_le_bytes(bytes);
    // The lowest bit that is set is right: a borrow makes wrong ones only above one that is right.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (is(b'"') | is(b'\\') | below(word, 0x20)) & HIGH
}

/// Whether no byte is a quote, a backslash or a control character. One pass without branches, which vectors do.
#[inline]
fn is_plain(bytes: &[u8; WIDE]) -> bool {
    let is_special = |byte: u8| (byte == b'"') | (byte == b'\\') | (byte < 0x20);
    !bytes.iter().fold(false, |found, &byte| found | is_special(byte))
}

impl Scan<'_> {
    /// The next byte that is no space.
    #[inline]
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            match *self.line.get(self.at)? {
                b' ' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next_byte()? == byte).then(|| self.at += 1)
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.line[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    /// A string, and whether it has no escapes; those that it has mean characters.
    fn string(&mut self) -> Option<(Range<usize>, bool)> {
        self.expect(b'"')?;
        let (start, mut is_plain) = (self.at, true);
        loop {
            let step = *self.line.get(self.at..)?.first_chunk::<STEP>()?;
            let special = special(step);
            // The next step is known before this one was looked at.
            if special == 0 {
                self.at += STEP;
                continue;
            }
            let plain = special.trailing_zeros() as usize / 8;
            self.at += plain;
            match step[plain] {
                b'"' => {
                    self.at += 1;
                    return Some((start..self.at - 1, is_plain));
                }
                b'\\' => {
                    is_plain = false;
                    self.at += escape(&self.line[self.at..])?.1;
                }
                _ => return None,
            }
        }
    }

    /// A string, unescaped to where there is room for it and a step more; and how long it is then.
    #[inline]
    fn unescape(&mut self, to: &mut [u8]) -> Option<(Range<usize>, usize)> {
        self.expect(b'"')?;
        let (start, mut at, mut filled) = (self.at, self.at, 0);
        let mut steps = 0;
        loop {
            let step = *self.line.get(at..)?.first_chunk::<STEP>()?;
            *to.get_mut(filled..)?.first_chunk_mut::<STEP>()? = step;
            let special = special(step);
            if special == 0 {
                at += STEP;
                filled += STEP;
                steps += 1;
                if steps >= STEPS_BEFORE_WIDE {
                    while let Some(wide) = self.line[at..].first_chunk::<WIDE>()
                        && let Some(room) = to.get_mut(filled..filled + WIDE)
                        && is_plain(wide)
                    {
                        room.copy_from_slice(wide);
                        at += WIDE;
                        filled += WIDE;
                    }
                    steps = 0;
                }
                continue;
            }
            steps = 0;
            let plain = special.trailing_zeros() as usize / 8;
            at += plain;
            filled += plain;
            match step[plain] {
                b'"' => {
                    self.at = at + 1;
                    return Some((start..at, filled));
                }
                b'\\' => match ESCAPES[usize::from(*self.line.get(at + 1)?)] {
                    0 => {
                        let (character, length) = escape(&self.line[at..])?;
                        // No character is longer than its escape.
                        filled += character.encode_utf8(to.get_mut(filled..filled + 4)?).len();
                        at += length;
                    }
                    byte => {
                        to[filled] = byte;
                        filled += 1;
                        at += 2;
                    }
                },
                _ => return None,
            }
        }
    }

    /// A number; `Some(None)` if it has a fraction. Without exponent and of few digits.
    fn number(&mut self) -> Option<Option<i64>> {
        let negative = self.line[self.at] == b'-';
        self.at += usize::from(negative);
        let start = self.at;
        let digits = self.digits();
        let whole = &self.line[start..self.at];
        if digits == 0 || (digits > 1 && whole[0] == b'0') {
            return None;
        }
        let mut value =
            whole.iter().take(DIGITS).fold(0, |value, &digit| 10 * value + i64::from(digit - b'0'));
        if negative {
            value = -value;
        }
        let fraction = self.line.get(self.at) == Some(&b'.');
        let more = if fraction {
            self.at += 1;
            self.digits()
        } else {
            0
        };
        let is_plain = digits + more <= DIGITS
            && (more > 0) == fraction
            && matches!(self.line.get(self.at), Some(b',' | b'}' | b']' | b' '));
        is_plain.then_some((!fraction).then_some(value))
    }

    fn digits(&mut self) -> usize {
        let count = self.line[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    /// Checks a value that nobody wants.
    fn skip(&mut self, depth: usize) -> Option<()> {
        match self.next_byte()? {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            open @ (b'{' | b'[') => self.skip_nested(open, depth.checked_sub(1)?),
            _ => None,
        }
    }

    fn skip_nested(&mut self, open: u8, depth: usize) -> Option<()> {
        let close = if open == b'{' { b'}' } else { b']' };
        self.at += 1;
        if self.next_byte()? == close {
            self.at += 1;
            return Some(());
        }
        loop {
            if open == b'{' {
                self.string()?;
                self.expect(b':')?;
            }
            self.skip(depth)?;
            let next = self.next_byte()?;
            self.at += 1;
            match next {
                b',' => {}
                next if next == close => return Some(()),
                _ => return None,
            }
        }
    }
}

/// What a byte behind a backslash means; 0 for those that mean nothing or a number follows.
const ESCAPES: [u8; 256] = {
    let mut escapes = [0; 256];
    let pairs = [*b"n\n", *b"\"\"", *b"\\\\", *b"//", *b"t\t", *b"r\r", *b"b\x08", *b"f\x0C"];
    let mut number = 0;
    while number < pairs.len() {
        let [name, meant] = pairs[number];
        escapes[name as usize] = meant;
        number += 1;
    }
    escapes
};

/// What the escape at the start of these bytes means, and how long it is.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    match *bytes.get(1)? {
        b'u' => {
            let first = unit(bytes)?;
            if let Some(character) = char::from_u32(first) {
                return Some((character, 6));
            }
            let second = unit(bytes.get(6..)?)?;
            let is_pair = (0xD800..0xDC00).contains(&first) && (0xDC00..0xE000).contains(&second);
            let code = 0x1_0000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
            is_pair.then(|| char::from_u32(code)).flatten().map(|character| (character, 12))
        }
        name => match ESCAPES[usize::from(name)] {
            0 => None,
            byte => Some((char::from(byte), 2)),
        },
    }
}

/// The number in `\u` and four digits.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use simd_json::{Buffers, Tape, fill_tape_padded};

    use super::super::{PADDING, values_of};
    use super::*;

    fn fields() -> FieldNames {
        // One name for two purposes.
        FieldNames { published: "created".to_owned(), ..FieldNames::default() }
    }

    /// What the parser reads.
    fn parsed(line: &[u8]) -> Option<String> {
        let mut padded = line.to_vec();
        padded.resize(line.len() + PADDING, b'\n');
        let mut tape = Tape(Vec::new());
        fill_tape_padded(&mut padded, line.len(), &mut Buffers::default(), &mut tape).ok()?;
        values_of(&fields(), Some("rank"), &tape).ok().map(|values| format!("{values:?}"))
    }

    /// What is read here; nothing if it is left to the parser.
    fn plain(line: &[u8]) -> Option<String> {
        let mut reader = PlainReader::new(&fields(), Some("rank"));
        let mut padded = line.to_vec();
        padded.resize(line.len() + PADDING, b'\n');
        let is_plain = reader.scan(&padded, line.len());
        let values = is_plain.then(|| reader.values(&padded[..line.len()])).flatten();
        let values = values.map(|values| format!("{values:?}"));
        // In place the same comes out.
        if is_plain && std::str::from_utf8(line).is_ok() {
            let taken = format!("{:?}", reader.take(&mut padded[..line.len()]));
            assert_eq!(values.as_ref(), Some(&taken), "{}", String::from_utf8_lossy(line));
        }
        values
    }

    fn agrees(line: &[u8]) -> Result<(), TestCaseError> {
        if let Some(read) = plain(line) {
            prop_assert_eq!(Some(read), parsed(line), "{}", String::from_utf8_lossy(line));
        }
        Ok(())
    }

    #[test]
    fn usual_lines_are_plain() {
        for line in [
            r#"{"id":"a","text":"b"}"#,
            r#"  { "id" : -7 , "text" : "a\nb \"c\" \u00e9\ud83d\ude00\\" , "score": 0.25 } "#,
            r#"{"meta":{"a":[1,{"text":"no"},[],{}],"b":null},"text":"가나","ok":true,"created":12}"#,
            r#"{"text":"one","text":"two","id":null,"rank":[1]}"#,
            "{}",
        ] {
            assert_eq!(plain(line.as_bytes()), parsed(line.as_bytes()), "{line}");
            assert!(plain(line.as_bytes()).is_some(), "{line}");
        }
    }

    #[test]
    fn what_is_no_object_or_rare_is_left_to_the_parser() {
        for line in [
            "",
            "[]",
            "{",
            "{}x",
            "{}{}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":-}"#,
            r#"{"a":+1}"#,
            r#"{"a":1e5}"#,
            r#"{"created":1.5}"#,
            r#"{"a":nul}"#,
            r#"{"a":nullx}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a":"\udc00"}"#,
            r#"{"a":"\ud800\u0041"}"#,
            r#"{"a":"\u12"}"#,
            r#"{"a":"\u+123"}"#,
            r#"{"a":["]}"#,
            r#"{"a":[1 2]}"#,
            r#"{"a":{1:2}}"#,
            r#"{"\u0061":1}"#,
            r#"{"a":"b"#,
            "{\"a\":\"\t\"}",
            "{\t\"a\":1}",
            r#"{"a":12345678901234567890}"#,
        ] {
            assert_eq!(plain(line.as_bytes()), None, "{line}");
        }
        assert_eq!(plain(b"{\"a\":\"\xFF\"}"), None);
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(40), "]".repeat(40));
        assert_eq!(plain(deep.as_bytes()), None);
    }

    fn json() -> impl Strategy<Value = String> {
        let text = r#"([a-z가é ]|[a-z가é ]{60,120}|\\[nrtbf/"\\]|\\u[0-9a-fA-F]{4}|\\ud83d\\ude[0-9a-f]{2}){0,12}"#;
        let string = proptest::string::string_regex(text).unwrap();
        let leaf = prop_oneof![
            4 => string.prop_map(|text| format!("\"{text}\"")),
            1 => "-?[0-9]{1,20}(\\.[0-9]{0,3})?([eE][+-]?[0-9]{1,3})?",
            1 => prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        ];
        let value = leaf.prop_recursive(3, 12, 4, move |inner| {
            let name = "\"[a-c]\"";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|all| format!("[{}]", all.join(","))),
                prop::collection::vec((name, inner), 0..4).prop_map(|all| {
                    let all: Vec<String> =
                        all.into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
                    format!("{{{}}}", all.join(" ,"))
                }),
            ]
        });
        let name = prop_oneof![
            Just("\"id\""),
            Just("\"text\""),
            Just("\"url\""),
            Just("\"created\""),
            Just("\"rank\""),
            Just("\"other\""),
            Just("\"te\\u0078t\""),
        ];
        prop::collection::vec((name, value), 0..6).prop_map(|all| {
            let all: Vec<String> =
                all.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
            format!("{{{}}}", all.join(", "))
        })
    }

    proptest! {
        #[test]
        fn plain_objects_hold_what_the_parser_reads(line in json()) {
            agrees(line.as_bytes())?;
        }

        #[test]
        fn damaged_lines_are_left_to_the_parser_or_read_alike(
            line in json(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..4),
        ) {
            let mut line = line.into_bytes();
            for (at, byte, what) in changes {
                let at = at.index(line.len().max(1));
                match what {
                    _ if line.is_empty() => {}
                    0 => line[at] = byte,
                    1 => {
                        line.remove(at);
                    }
                    _ => line.insert(at, br#""\{}[]:,0 "#[usize::from(byte) % 10]),
                }
            }
            agrees(&line)?;
        }
    }
}
