//! The tags of HTML and what the tree and the rules need to know of each.
//!
//! A tag is a small number, its properties bits in one table, so that the tree holds a byte per
//! element and a question is one lookup.

macro_rules! tags {
    ($($variant:ident $name:literal $properties:expr;)*) => {
        /// An element's tag; names HTML does not know are all `Other`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Tag { Other, $($variant),* }

        const PROPERTIES: &[u16] = &[0, $($properties),*];

        fn by_lower_name(name: &[u8]) -> Tag {
            match name {
                $($name => Tag::$variant,)*
                _ => Tag::Other,
            }
        }
    };
}

/// Starts and ends a line of text.
const BLOCK: u16 = 1;
/// Has no end tag and no content.
const VOID: u16 = 1 << 1;
/// Its content is text up to its own end tag.
const RAW: u16 = 1 << 2;
/// "Special" in the HTML standard: an end tag of an inline element does not close it.
const SPECIAL: u16 = 1 << 3;
/// Ends an open paragraph when it starts.
const ENDS_P: u16 = 1 << 4;
/// Never shown as text.
const UNSEEN: u16 = 1 << 5;
/// Only changes the look of letters: neither start nor end matters to text.
const LOOK: u16 = 1 << 6;
/// End tags inside do not reach elements outside.
const SCOPE: u16 = 1 << 7;
/// Ends `svg` or `math` when it starts inside.
const BREAKS_OUT: u16 = 1 << 8;
/// A heading, `h1` to `h6`.
const HEADING: u16 = 1 << 9;

const DIVISION: u16 = BLOCK | SPECIAL | ENDS_P;

tags! {
    A b"a" 0;
    Abbr b"abbr" LOOK;
    Acronym b"acronym" LOOK;
    Address b"address" DIVISION;
    Applet b"applet" SPECIAL | SCOPE | UNSEEN;
    Area b"area" VOID;
    Article b"article" DIVISION;
    Aside b"aside" DIVISION;
    Audio b"audio" UNSEEN;
    B b"b" LOOK | BREAKS_OUT;
    Base b"base" VOID;
    Bdi b"bdi" LOOK;
    Bdo b"bdo" LOOK;
    Big b"big" LOOK | BREAKS_OUT;
    Blockquote b"blockquote" DIVISION | BREAKS_OUT;
    Body b"body" BREAKS_OUT;
    Br b"br" VOID | BREAKS_OUT;
    Button b"button" SPECIAL;
    Canvas b"canvas" UNSEEN;
    Caption b"caption" BLOCK | SPECIAL | SCOPE;
    Center b"center" DIVISION | BREAKS_OUT;
    Cite b"cite" LOOK;
    Code b"code" BREAKS_OUT;
    Col b"col" VOID;
    Colgroup b"colgroup" SPECIAL;
    Data b"data" LOOK;
    Datalist b"datalist" UNSEEN;
    Dd b"dd" BLOCK | SPECIAL | BREAKS_OUT;
    Del b"del" LOOK;
    Details b"details" DIVISION;
    Dfn b"dfn" LOOK;
    Dialog b"dialog" DIVISION;
    Dir b"dir" DIVISION;
    Div b"div" DIVISION | BREAKS_OUT;
    Dl b"dl" DIVISION | BREAKS_OUT;
    Dt b"dt" BLOCK | SPECIAL | BREAKS_OUT;
    Em b"em" LOOK | BREAKS_OUT;
    Embed b"embed" VOID | BREAKS_OUT;
    Fieldset b"fieldset" DIVISION;
    Figcaption b"figcaption" DIVISION;
    Figure b"figure" DIVISION;
    Font b"font" LOOK;
    Footer b"footer" DIVISION;
    ForeignObject b"foreignobject" SPECIAL | SCOPE;
    Form b"form" DIVISION;
    Frame b"frame" VOID;
    Frameset b"frameset" LOOK;
    H1 b"h1" DIVISION | HEADING | BREAKS_OUT;
    H2 b"h2" DIVISION | HEADING | BREAKS_OUT;
    H3 b"h3" DIVISION | HEADING | BREAKS_OUT;
    H4 b"h4" DIVISION | HEADING | BREAKS_OUT;
    H5 b"h5" DIVISION | HEADING | BREAKS_OUT;
    H6 b"h6" DIVISION | HEADING | BREAKS_OUT;
    Head b"head" LOOK | BREAKS_OUT;
    Header b"header" DIVISION;
    Hgroup b"hgroup" DIVISION;
    Hr b"hr" VOID | ENDS_P | BLOCK | BREAKS_OUT;
    Html b"html" 0;
    I b"i" LOOK | BREAKS_OUT;
    Iframe b"iframe" RAW | UNSEEN;
    Img b"img" VOID | BREAKS_OUT;
    Input b"input" VOID;
    Ins b"ins" LOOK;
    Kbd b"kbd" LOOK;
    Label b"label" 0;
    Legend b"legend" BLOCK;
    Li b"li" BLOCK | SPECIAL | BREAKS_OUT;
    Link b"link" VOID;
    Listing b"listing" DIVISION | BREAKS_OUT;
    Main b"main" DIVISION;
    Map b"map" 0;
    Mark b"mark" LOOK;
    Marquee b"marquee" BLOCK | SPECIAL | SCOPE;
    Math b"math" SCOPE;
    Menu b"menu" DIVISION | BREAKS_OUT;
    Meta b"meta" VOID | BREAKS_OUT;
    Meter b"meter" UNSEEN;
    Nav b"nav" DIVISION;
    Nobr b"nobr" LOOK | BREAKS_OUT;
    Noembed b"noembed" RAW | UNSEEN;
    Noframes b"noframes" RAW | UNSEEN;
    Noscript b"noscript" SCOPE | SPECIAL | BLOCK;
    Object b"object" SPECIAL | SCOPE;
    Ol b"ol" DIVISION | BREAKS_OUT;
    Optgroup b"optgroup" 0;
    Option b"option" BLOCK;
    Output b"output" 0;
    P b"p" DIVISION | BREAKS_OUT;
    Param b"param" VOID;
    Picture b"picture" 0;
    Plaintext b"plaintext" DIVISION;
    Pre b"pre" DIVISION | BREAKS_OUT;
    Progress b"progress" UNSEEN;
    Q b"q" LOOK;
    Rb b"rb" 0;
    Rp b"rp" UNSEEN;
    Rt b"rt" UNSEEN;
    Rtc b"rtc" UNSEEN;
    Ruby b"ruby" BREAKS_OUT;
    S b"s" LOOK | BREAKS_OUT;
    Samp b"samp" LOOK;
    Script b"script" RAW | UNSEEN;
    Search b"search" DIVISION;
    Section b"section" DIVISION;
    Select b"select" SPECIAL | UNSEEN;
    Slot b"slot" 0;
    Small b"small" LOOK | BREAKS_OUT;
    Source b"source" VOID;
    Span b"span" BREAKS_OUT;
    Strike b"strike" LOOK | BREAKS_OUT;
    Strong b"strong" LOOK | BREAKS_OUT;
    Style b"style" RAW | UNSEEN;
    Sub b"sub" LOOK | BREAKS_OUT;
    Summary b"summary" DIVISION;
    Sup b"sup" BREAKS_OUT;
    Svg b"svg" SCOPE | UNSEEN;
    Table b"table" DIVISION | SCOPE | BREAKS_OUT;
    Tbody b"tbody" BLOCK | SPECIAL;
    Td b"td" SPECIAL | SCOPE | BLOCK;
    Template b"template" SPECIAL | SCOPE;
    Textarea b"textarea" RAW | UNSEEN;
    Tfoot b"tfoot" BLOCK | SPECIAL;
    Th b"th" SPECIAL | SCOPE | BLOCK;
    Thead b"thead" BLOCK | SPECIAL;
    Time b"time" 0;
    Title b"title" RAW | UNSEEN;
    Tr b"tr" BLOCK | SPECIAL;
    Track b"track" VOID;
    Tt b"tt" LOOK | BREAKS_OUT;
    U b"u" LOOK | BREAKS_OUT;
    Ul b"ul" DIVISION | BREAKS_OUT;
    Var b"var" LOOK | BREAKS_OUT;
    Video b"video" UNSEEN;
    Wbr b"wbr" VOID;
    Xmp b"xmp" RAW | DIVISION;
}

/// How many tags there are, `Other` included.
pub(crate) const TAG_COUNT: usize = PROPERTIES.len();

const LONGEST: usize = 13;

impl Tag {
    /// The tag of this name, in any case of letters.
    pub(crate) fn of(name: &str) -> Tag {
        let name = name.as_bytes();
        if name.len() > LONGEST {
            return Tag::Other;
        }
        let mut lower = [0u8; LONGEST];
        for (to, from) in lower.iter_mut().zip(name) {
            *to = from.to_ascii_lowercase();
        }
        match &lower[..name.len()] {
            b"image" => Tag::Img,
            lower => by_lower_name(lower),
        }
    }

    fn has(self, property: u16) -> bool {
        PROPERTIES[self as usize] & property != 0
    }

    pub(crate) fn is_block(self) -> bool {
        self.has(BLOCK)
    }

    pub(crate) fn is_void(self) -> bool {
        self.has(VOID)
    }

    pub(crate) fn is_raw(self) -> bool {
        self.has(RAW)
    }

    pub(crate) fn is_special(self) -> bool {
        self.has(SPECIAL)
    }

    pub(crate) fn ends_paragraph(self) -> bool {
        self.has(ENDS_P)
    }

    pub(crate) fn is_unseen(self) -> bool {
        self.has(UNSEEN)
    }

    pub(crate) fn is_look(self) -> bool {
        self.has(LOOK)
    }

    pub(crate) fn is_scope(self) -> bool {
        self.has(SCOPE)
    }

    pub(crate) fn breaks_out(self) -> bool {
        self.has(BREAKS_OUT)
    }

    pub(crate) fn is_heading(self) -> bool {
        self.has(HEADING)
    }
}

/// Whether HTML has an element of this name.
pub(crate) fn is_html_tag(name: &str) -> bool {
    Tag::of(name) != Tag::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_unknown_ones_are_other() {
        assert_eq!(Tag::of("TEXTAREA"), Tag::Textarea);
        assert_eq!(Tag::of("foreignObject"), Tag::ForeignObject);
        assert_eq!(Tag::of("my-element"), Tag::Other);
        assert_eq!(Tag::of("a-name-longer-than-any"), Tag::Other);
    }

    #[test]
    fn properties_belong_to_the_tag_they_are_written_beside() {
        assert!(Tag::Br.is_void() && !Tag::B.is_void());
        assert!(Tag::Xmp.is_raw() && Tag::Xmp.is_block());
        assert!(Tag::H6.is_heading() && !Tag::Hgroup.is_heading());
    }
}
