//! The learned numbers as Rust source.

use wonbon_text::extract::learning::{Model, ObliviousTree};

/// The file that is compiled in.
pub fn source(model: &Model) -> String {
    let part = if model.learned_all {
        "//! Learned from all development pages of WCXB (Foley 2026, CC-BY-4.0); no text of a page is in\n\
         //! here.\n"
    } else {
        "//! Learned from the development pages of WCXB (Foley 2026, CC-BY-4.0), except those of the test\n\
         //! part; no text of a page is in here.\n"
    };
    let mut out = format!(
        "//! The model's numbers. Written by `learn write` of benches/core-text; not to be edited.\n\
         //!\n\
         {part}\n\
         use std::borrow::Cow;\n\n\
         use super::class_words::{{BUCKETS, PROSE_BUCKETS}};\n\
         use super::model::{{Model, ObliviousTree}};\n\n\
         /// The model.\n\
         pub(crate) static MODEL: Model = Model {{\n    \
         class_words: CLASS_WORDS,\n    text_words: TEXT_WORDS,\n    \
         heading_words: HEADING_WORDS,\n    prose_words: PROSE_WORDS,\n    \
         learned_all: {},\n    trees: Cow::Borrowed(TREES),\n}};\n",
        model.learned_all,
    );
    let tables: [(&str, &str, &[i8]); 4] = [
        ("CLASS_WORDS", "BUCKETS", &model.class_words),
        ("TEXT_WORDS", "BUCKETS", &model.text_words),
        ("HEADING_WORDS", "BUCKETS", &model.heading_words),
        ("PROSE_WORDS", "PROSE_BUCKETS", &model.prose_words),
    ];
    for (name, size, table) in tables {
        out += &format!("\n#[rustfmt::skip]\nconst {name}: [i8; {size}] = [\n");
        numbers(&mut out, "    ", table.iter().map(|&n| i64::from(n)));
        out += "];\n";
    }
    out += "\n#[rustfmt::skip]\nconst TREES: &[ObliviousTree] = &[\n";
    for tree in model.trees.iter() {
        self::tree(&mut out, tree);
    }
    out += "];\n";
    out
}

fn tree(out: &mut String, tree: &ObliviousTree) {
    let splits: Vec<String> = tree.splits.iter().map(|(f, t)| format!("({f}, {t})")).collect();
    *out += &format!("    ObliviousTree {{ splits: [{}], leaves: [\n", splits.join(", "));
    numbers(out, "        ", tree.leaves.iter().map(|&n| i64::from(n)));
    *out += "    ] },\n";
}

fn numbers(out: &mut String, indent: &str, numbers: impl Iterator<Item = i64>) {
    let mut line = indent.to_owned();
    for number in numbers {
        let word = format!("{number},");
        if line.len() + word.len() > 116 {
            out.push_str(line.trim_end());
            out.push('\n');
            line = indent.to_owned();
        }
        line += &word;
        line.push(' ');
    }
    out.push_str(line.trim_end());
    out.push('\n');
}
