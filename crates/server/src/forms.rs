//! Forms as requests: the fields of a form fill the same types as the JSON of programs.
//!
//! A form sends texts only, and every field it has. So an empty field is one that was not filled in, a
//! list has an item a line, and numbers and switches are parsed where the type wants one. An error names
//! its field.

use std::str::FromStr;

use serde::de::value::{Error, SeqDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use crate::problem::{Code, Problem};

/// The fields of a form as a browser sends them.
pub(crate) type Fields = Vec<(String, String)>;

/// The value of a field; empty if the form does not have it.
pub(crate) fn field<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
}

/// A request from the fields of a form, without those in `aside`.
pub(crate) fn request_from<R: DeserializeOwned>(
    fields: &[(String, String)],
    aside: &[&str],
) -> Result<R, Problem> {
    let filled = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.trim()))
        .filter(|(name, value)| !value.is_empty() && !aside.contains(name));
    R::deserialize(FilledForm { rest: filled, next: None })
        .map_err(|error| Problem::new(Code::BadParameter, error.to_string()))
}

struct FilledForm<'a, I> {
    rest: I,
    /// The field whose name was read, and whose value comes next.
    next: Option<(&'a str, &'a str)>,
}

impl<'de, 'a, I: Iterator<Item = (&'a str, &'a str)>> Deserializer<'de> for FilledForm<'a, I> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, 'a, I: Iterator<Item = (&'a str, &'a str)>> MapAccess<'de> for FilledForm<'a, I> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.next = self.rest.next();
        self.next.map(|(name, _)| seed.deserialize(FieldValue(name))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self.next.take().expect("a name comes before its value");
        seed.deserialize(FieldValue(value))
            .map_err(|error| Error::custom(format!("`{name}`: {error}")))
    }
}

/// A name or a value that was filled in.
#[derive(Clone, Copy)]
struct FieldValue<'a>(&'a str);

impl FieldValue<'_> {
    fn parse<T: FromStr>(self, wanted: &str) -> Result<T, Error> {
        self.0.parse().map_err(|_| Error::custom(format!("{wanted} is wanted, not `{}`", self.0)))
    }
}

impl<'de> Deserializer<'de> for FieldValue<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(matches!(self.0, "on" | "true"))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f64(self.parse("a number")?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u32(self.parse("a whole number")?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u64(self.parse("a whole number")?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let lines = self.0.lines().map(str::trim).filter(|line| !line.is_empty());
        visitor.visit_seq(SeqDeserializer::new(lines))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str string bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use wonbon_app::requests::{CrawlRequest, DedupRequest};

    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_form_fills_what_json_fills() {
        let form = fields(&[
            ("form", "mark"),
            ("kind", "dedup"),
            ("inputs", " a.jsonl\r\n\r\nb.jsonl "),
            ("threshold", "0.7"),
            ("family", "linked"),
            ("annotate", "on"),
            ("keep", ""),
        ]);
        let by_form: DedupRequest = request_from(&form, &["form", "kind"]).unwrap();
        let json =
            r#"{"inputs":["a.jsonl","b.jsonl"],"threshold":0.7,"family":"linked","annotate":true}"#;
        assert_eq!(by_form, serde_json::from_str(json).unwrap());
    }

    #[test]
    fn an_error_names_its_field_and_its_value() {
        for (name, value) in
            [("delay", "slow"), ("pages", "-1"), ("scope", "here"), ("elsewhere", "x")]
        {
            let form = fields(&[("seeds", "https://a.example/"), (name, value)]);
            let problem = request_from::<CrawlRequest>(&form, &[]).unwrap_err();
            assert_eq!(problem.code, Code::BadParameter);
            assert!(problem.detail.contains(name), "{}", problem.detail);
        }
    }
}
