//! The few fields we want from JSON-LD, read leniently.
//!
//! Pages write JSON-LD by string concatenation: raw line breaks inside strings, trailing commas,
//! two documents in one script. A strict parser refuses such a script whole, so this reads what it
//! can: objects as they nest, their string members, in one pass and without recursion.
//!
//! Cost: linear; one entry per open object.

/// What one JSON-LD object says.
#[derive(Debug, Default, Clone)]
pub(crate) struct Thing {
    pub types: Vec<String>,
    pub article_body: Option<String>,
    pub description: Option<String>,
    pub headline: Option<String>,
    pub name: Option<String>,
    pub text: Option<String>,
    pub date_published: Option<String>,
    pub language: Option<String>,
}

impl Thing {
    /// Whether one of its types is among `names`.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        self.types.iter().any(|kind| names.contains(&kind.rsplit('/').next().unwrap_or(kind)))
    }
}

/// Objects deeper than this are read over.
const MAX_DEPTH: usize = 64;

/// The objects of a script, in the order in which they start.
pub(crate) fn things(json: &str) -> Vec<Thing> {
    let bytes = json.as_bytes();
    let mut done: Vec<Thing> = Vec::new();
    // Open objects (index into `done`) and arrays with the key they are the value of.
    let mut open: Vec<(Option<usize>, String)> = Vec::new();
    let mut key = String::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let (value, end) = string(json, at + 1);
                at = end;
                let mut behind = at;
                while bytes.get(behind).is_some_and(u8::is_ascii_whitespace) {
                    behind += 1;
                }
                if bytes.get(behind) == Some(&b':') {
                    key = value;
                    at = behind + 1;
                } else {
                    let (owner, name) = match open.last() {
                        Some((Some(owner), _)) => (Some(*owner), key.as_str()),
                        Some((None, array_key)) => {
                            let owner = open.iter().rev().find_map(|(owner, _)| *owner);
                            (owner, array_key.as_str())
                        }
                        None => (None, ""),
                    };
                    if let Some(owner) = owner {
                        set(&mut done[owner], name, value);
                    }
                }
                continue;
            }
            b'{' => {
                if open.len() >= MAX_DEPTH {
                    return done;
                }
                open.push((Some(done.len()), std::mem::take(&mut key)));
                done.push(Thing::default());
            }
            b'[' => {
                if open.len() >= MAX_DEPTH {
                    return done;
                }
                open.push((None, std::mem::take(&mut key)));
            }
            b'}' | b']' => {
                open.pop();
            }
            _ => {}
        }
        at += 1;
    }
    done
}

fn set(thing: &mut Thing, key: &str, value: String) {
    let slot = match key {
        "@type" => {
            thing.types.push(value);
            return;
        }
        "articleBody" => &mut thing.article_body,
        "description" => &mut thing.description,
        "headline" => &mut thing.headline,
        "name" => &mut thing.name,
        "text" => &mut thing.text,
        "datePublished" => &mut thing.date_published,
        "inLanguage" => &mut thing.language,
        _ => return,
    };
    slot.get_or_insert(value);
}

/// Reads a JSON string from behind its opening quote; returns it and the place behind its end.
fn string(json: &str, from: usize) -> (String, usize) {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let mut at = from;
    loop {
        let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
            out.push_str(&json[at..]);
            return (out, bytes.len());
        };
        out.push_str(&json[at..at + found]);
        at += found;
        if bytes[at] == b'"' {
            return (out, at + 1);
        }
        match bytes.get(at + 1) {
            Some(b'n') => out.push('\n'),
            Some(b't') => out.push('\t'),
            Some(b'r') => out.push('\r'),
            Some(b'b' | b'f') => out.push(' '),
            Some(b'u') => {
                let unit = |at: usize| {
                    json.get(at..at + 4).and_then(|hex| u16::from_str_radix(hex, 16).ok())
                };
                let Some(first) = unit(at + 2) else {
                    at += 2;
                    continue;
                };
                at += 6;
                let second = if first & 0xfc00 == 0xd800 && json[at..].starts_with("\\u") {
                    unit(at + 2).filter(|unit| unit & 0xfc00 == 0xdc00)
                } else {
                    None
                };
                if second.is_some() {
                    at += 6;
                }
                let units = [first, second.unwrap_or(0)];
                let count = if second.is_some() { 2 } else { 1 };
                for c in char::decode_utf16(units[..count].iter().copied()) {
                    out.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                continue;
            }
            Some(&b) if b.is_ascii() => out.push(char::from(b)),
            Some(_) => {
                at += 1;
                continue;
            }
            None => return (out, bytes.len()),
        }
        at += 2;
    }
}
