//! A golden row in each format.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    UInt64Array,
};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use wonbon_time::Timestamp;
use wonbon_warc::http::response_head;
use wonbon_warc::{Record, Writer};

use super::GoldenRow;

const MARK: &str = "\u{feff}";

pub(super) fn json_line(row: &GoldenRow) -> Vec<u8> {
    let line = Value::Object(row.object.clone());
    if row.dos { format!("{MARK}{line}\r\n") } else { format!("{line}\n") }.into_bytes()
}

pub(super) fn csv(row: &GoldenRow) -> Vec<u8> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let names: Vec<String> = row.object.keys().map(|name| quoted(name)).collect();
    let value = |value: &Value| match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    };
    let values: Vec<String> = row.object.values().map(value).collect();
    let (mark, end) = if row.dos { (MARK, "\r\n") } else { ("", "\n") };
    // A single column of an empty text would be a blank line.
    format!("{mark}{}{end}{}{end}", names.join(","), values.join(",")).into_bytes()
}

pub(super) fn parquet(row: &GoldenRow) -> Vec<u8> {
    let columns = row.object.iter().map(|(name, value)| {
        let content = row.bytes.as_ref().filter(|_| name == "text" || name == "html");
        let array: ArrayRef = match (value, content) {
            (_, Some((bytes, _))) => Arc::new(BinaryArray::from(vec![bytes.as_slice()])),
            (Value::Null, _) => Arc::new(StringArray::from(vec![None::<&str>])),
            (Value::Bool(value), _) => Arc::new(BooleanArray::from(vec![*value])),
            (Value::String(text), _) => Arc::new(StringArray::from(vec![text.as_str()])),
            (Value::Number(number), _) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => Arc::new(Int64Array::from(vec![number])),
                (None, Some(number)) => Arc::new(UInt64Array::from(vec![number])),
                _ => Arc::new(Float64Array::from(vec![number.as_f64()])),
            },
            (Value::Array(_) | Value::Object(_), _) => {
                Arc::new(BooleanArray::from(vec![true])) as ArrayRef
            }
        };
        (name.as_str(), array)
    });
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one row fit together");
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("it is writable");
    writer.write(&batch).expect("memory takes it");
    writer.close().expect("memory takes it");
    bytes
}

pub(super) fn warc(row: &GoldenRow) -> Vec<u8> {
    let field = |name: &str| row.text(name).unwrap_or_default();
    let date = Timestamp::parse_text(field("created")).expect("the row has a time");
    let (url, body) = (field("url"), content(row));
    let head = match (row.object.contains_key("redirect"), row.object.contains_key("html")) {
        (true, _) => response_head(301, "Moved", [("Location", field("redirect").as_bytes())]),
        (false, html) => {
            let kind = if html { "text/html" } else { "text/plain" };
            let charset = row.bytes.as_ref().map_or(Some("utf-8"), |(_, charset)| *charset);
            let kind = match charset {
                Some(charset) => format!("{kind}; charset={charset}"),
                None => kind.to_owned(),
            };
            response_head(200, "OK", [("Content-Type", kind.as_bytes())])
        }
    };
    let mut writer = Writer::new(Vec::new(), 1);
    writer.write(&Record::response(url, date, &head, &body)).expect("memory takes it");
    writer.into_inner()
}

/// The content of the row as bytes.
pub(super) fn content(row: &GoldenRow) -> Vec<u8> {
    if let Some((bytes, _)) = &row.bytes {
        return bytes.clone();
    }
    let text = row.text("text").or(row.text("html")).unwrap_or_default();
    if row.dos { format!("{MARK}{text}") } else { text.to_owned() }.into_bytes()
}
