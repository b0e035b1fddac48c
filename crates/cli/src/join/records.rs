//! Lines of a file to sets of token numbers.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use wonbon_join::interner::{HashNumbers, WordNumbers};
use wonbon_join::{CollectionBuilder, Side};
use wonbon_text::shingles::Shingler;
use wonbon_text::words::for_each_word;

/// What the text of a record becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextAs {
    /// Plain lines are tokens between spaces; JSON must hold tokens.
    Tokens,
    /// The words of the normal form.
    Words,
    /// Shingles of so many words.
    Shingles(usize),
}

/// Reads one file or two into one collection.
pub(crate) struct Reading<'a> {
    text_as: TextAs,
    field: Option<&'a str>,
    builder: CollectionBuilder,
    words: WordNumbers,
    hashes: HashNumbers,
    shingler: Shingler,
    tokens: Vec<u32>,
    lines: u64,
}

impl<'a> Reading<'a> {
    /// Nothing read yet.
    pub(crate) fn new(text_as: TextAs, field: Option<&'a str>, two_files: bool) -> Self {
        let width = match text_as {
            TextAs::Shingles(width) => width,
            TextAs::Tokens | TextAs::Words => 1,
        };
        Self {
            text_as,
            field,
            builder: if two_files {
                CollectionBuilder::for_two_files()
            } else {
                CollectionBuilder::for_self_join()
            },
            words: WordNumbers::new(),
            hashes: HashNumbers::new(),
            shingler: Shingler::new(NonZeroUsize::new(width).unwrap_or(NonZeroUsize::MIN)),
            tokens: Vec::new(),
            lines: 0,
        }
    }

    /// Reads a file to its end.
    pub(crate) fn read(&mut self, path: &Path, side: Side) -> Result<()> {
        let mut source = wonbon_documents::open(path)?;
        let mut line = Vec::new();
        // Decided by the first line that is not blank.
        let mut is_json = None;
        for number in 0_u64.. {
            line.clear();
            let read = source.reader().read_until(b'\n', &mut line);
            if read.map_err(|error| source.broken(error))? == 0 {
                break;
            }
            let text = line.trim_ascii();
            if is_json.is_none() && !text.is_empty() {
                is_json = Some(text.starts_with(b"{"));
            }
            self.tokens.clear();
            if is_json == Some(true) && !text.is_empty() {
                self.json(text).with_context(|| format!("line {number} of {}", path.display()))?;
            } else {
                match self.text_as {
                    TextAs::Tokens => {
                        self.words.number_all(text, &mut self.tokens)?;
                    }
                    TextAs::Words | TextAs::Shingles(_) => {
                        self.text(&String::from_utf8_lossy(text))?;
                    }
                }
            }
            self.builder.push(side, &self.tokens)?;
            self.lines += 1;
        }
        Ok(())
    }

    /// Lines read so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Ends reading; the dictionaries are dropped.
    pub(crate) fn into_builder(self) -> CollectionBuilder {
        self.builder
    }

    fn json(&mut self, line: &[u8]) -> Result<()> {
        let object: Value = serde_json::from_slice(line).context("not a JSON object")?;
        let named = match self.field {
            Some(name) => object.get(name).map(|value| (name, value)),
            None => ["tokens", "text"]
                .into_iter()
                .find_map(|name| object.get(name).map(|value| (name, value))),
        };
        let Some((name, value)) = named else {
            bail!("no field {:?}", self.field.unwrap_or("tokens\" or \"text"));
        };
        match (value, self.text_as) {
            (Value::Array(tokens), TextAs::Tokens) => {
                for token in tokens {
                    let number = match token {
                        Value::String(word) => self.words.number(word.as_bytes())?,
                        Value::Number(number) => {
                            self.words.number(number.to_string().as_bytes())?
                        }
                        _ => bail!("field {name:?} holds a token that is no string or number"),
                    };
                    self.tokens.push(number);
                }
                Ok(())
            }
            (Value::Array(_), _) => {
                bail!("field {name:?} holds tokens, which --words and --shingle do not apply to")
            }
            (Value::String(_), TextAs::Tokens) => {
                bail!("field {name:?} holds text: say --words or --shingle W")
            }
            (Value::String(text), _) => self.text(text),
            _ => bail!("field {name:?} holds neither text nor a list of tokens"),
        }
    }

    fn text(&mut self, text: &str) -> Result<()> {
        let mut failed = None;
        let (tokens, hashes, words) = (&mut self.tokens, &mut self.hashes, &mut self.words);
        let mut push = |number| match number {
            Ok(number) => tokens.push(number),
            Err(error) => failed = Some(error),
        };
        if let TextAs::Shingles(_) = self.text_as {
            self.shingler.for_each_chunk(text, |chunk| {
                for &hash in chunk {
                    push(hashes.number(hash));
                }
            });
        } else {
            for_each_word(text, |word| push(words.number(word.as_bytes())));
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}
