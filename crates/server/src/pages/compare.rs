//! `/compare`: two documents side by side.

use maud::html;
use wonbon_app::compare::{CompareQuestion, ComparedTexts, NamedText, Relation};
use wonbon_pages::Compared;
use wonbon_text::difference::Difference;

use super::frame::{page, reply};
use super::pieces::{Field, asking_form, document_link, time};
use crate::messages::Say;
use crate::view::{Reader, Reply};

fn relation_word(reader: &Reader, relation: Relation) -> &'static str {
    reader.say(match relation {
        Relation::IdenticalBytes | Relation::SameText => Say::RelationSameText,
        Relation::SameShingles => Say::RelationSameShingles,
        Relation::Copy => Say::RelationCopy,
        Relation::PartlyContained => Say::RelationPartly,
        Relation::Different => Say::RelationDifferent,
    })
}

/// `/compare`.
pub(crate) fn compare_page(
    reader: &Reader,
    asked: &CompareQuestion,
    found: Option<(&[NamedText; 2], &ComparedTexts<'_>, &Difference)>,
) -> Reply {
    let title = match &found {
        Some((_, compared, _)) => relation_word(reader, compared.comparison.verdict),
        None => reader.say(Say::Compare),
    };
    let mut page = page(reader, title);
    page.heading(title);
    if let Some((texts, compared, found)) = found {
        for (letter, text) in ["A", "B"].iter().zip(texts) {
            let when = text.document.as_ref().map(|document| time(document.created));
            let name = text.document.as_ref().and_then(|document| document.title.as_deref());
            page.markup(html! {
                p.side {
                    b { (letter) } " " (document_link(&text.name, name.unwrap_or_default()))
                    " " small { (text.name) " " span.d { (when.unwrap_or_default()) } }
                }
            });
        }
        let overlap = &compared.comparison.overlap;
        page.shares(&[
            (reader.say(Say::Resemblance), overlap.resemblance()),
            (reader.say(Say::AInsideB), overlap.left_in_right()),
            (reader.say(Say::BInsideA), overlap.right_in_left()),
        ]);
        let agree = reader.tell(
            Say::FeaturesOf,
            &[
                &compared.comparison.features_equal.to_string(),
                &compared.comparison.features.to_string(),
            ],
        );
        page.paragraph(&agree);
        page.markup(html! { p.keys data-keys { (reader.say(Say::CompareKeys)) } });
        let [a, b] = &compared.sides;
        page.side_by_side(&Compared {
            left_name: a.name,
            left: a.text,
            right_name: b.name,
            right: b.text,
            found,
        });
    } else {
        page.lead(reader.say(Say::CompareLead));
    }
    let fields = [("a", Say::FirstDocument, &asked.a), ("b", Say::SecondDocument, &asked.b)].map(
        |(name, label, value)| Field {
            name,
            label: reader.say(label),
            value: value.as_deref().unwrap_or_default(),
            kind: "text",
        },
    );
    asking_form(&mut page, "/compare", &fields, reader.say(Say::Compare));
    reply(reader, "/compare", page)
}
