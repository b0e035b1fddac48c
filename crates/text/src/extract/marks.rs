//! What a start tag's attributes say about its element: words of `class` and `id`, `role`, and
//! marks of being hidden, as bits.
//!
//! The word lists are general English (and a few Korean front-end habits such as `gnb`), never a
//! site's own names. Beside the bits an element has the sum of the model's weights of its words.
//!
//! Cost: pages repeat their classes, so each distinct value is split once and remembered.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::class_words::{class_bucket, for_each_name, for_each_word, tag_bucket};
use super::model::Model;
use super::tags::Tag;
use super::tokens::Tokenizer;

/// A set of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(u32);

impl Marks {
    pub(crate) const NONE: Marks = Marks(0);
    /// Menus, breadcrumbs, paging.
    pub(crate) const NAVIGATION: Marks = Marks(1);
    /// Page foot, copyright.
    pub(crate) const FOOT: Marks = Marks(1 << 1);
    /// Side columns and widgets.
    pub(crate) const SIDE: Marks = Marks(1 << 2);
    /// Advertisements and promotion.
    pub(crate) const ADVERT: Marks = Marks(1 << 3);
    /// Buttons to share or follow.
    pub(crate) const SHARE: Marks = Marks(1 << 4);
    /// Readers' comments and their form.
    pub(crate) const COMMENT: Marks = Marks(1 << 5);
    /// "Related", "popular", "read next".
    pub(crate) const RELATED: Marks = Marks(1 << 6);
    /// Pop-ups, consent, newsletter, sign-in.
    pub(crate) const POPUP: Marks = Marks(1 << 7);
    /// Author, date, tags, counters.
    pub(crate) const DETAIL: Marks = Marks(1 << 8);
    /// Not shown.
    pub(crate) const HIDDEN: Marks = Marks(1 << 9);
    /// `role=main` or the like.
    pub(crate) const MAIN: Marks = Marks(1 << 10);
    /// `itemprop=articleBody`.
    pub(crate) const ARTICLE_BODY: Marks = Marks(1 << 11);
    /// `template` with a shadow root: shown.
    pub(crate) const SHADOW: Marks = Marks(1 << 12);
    /// The editor's container of a well-known blog platform.
    pub(crate) const BLOG_POST: Marks = Marks(1 << 13);

    /// A page builder's or a side column's part.
    pub(crate) const WIDGET: Marks = Marks(1 << 14);

    /// Words that name the frame on one site and the content on the next.
    pub(crate) const WEAK: Marks = Marks(1 << 15);
    /// Customers' reviews.
    pub(crate) const REVIEW: Marks = Marks(1 << 16);
    /// A card about a user.
    pub(crate) const PERSON: Marks = Marks(1 << 17);
    /// Quoted text.
    pub(crate) const QUOTE: Marks = Marks(1 << 18);

    /// A dialogue of the tools that ask for consent to cookies.
    pub(crate) const CONSENT: Marks = Marks(1 << 19);

    pub(crate) const fn or(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }

    pub(crate) fn any(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }

    fn add(&mut self, other: Marks) {
        self.0 |= other.0;
    }
}

/// What the attributes of a start tag say.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Said {
    pub marks: Marks,
    /// The model's weights of the tag and of the words of `class` and `id`, added.
    pub score: i16,
    /// Equal for elements of the same tag and the same class.
    pub signature: u32,
}

/// Reads marks, remembering the classes it has seen.
#[derive(Debug)]
pub(crate) struct MarkReader<'model> {
    model: &'model Model,
    seen: HashMap<u64, (Marks, i16), Hashed>,
}

impl<'model> MarkReader<'model> {
    pub(crate) fn new(model: &'model Model) -> Self {
        MarkReader { model, seen: HashMap::default() }
    }

    /// What the start tag that `tokenizer` has just returned says.
    pub(crate) fn read(&mut self, tag: Tag, tokenizer: &Tokenizer<'_>) -> Said {
        let page = tokenizer.page();
        let mut marks = Marks::NONE;
        let mut score = i16::from(self.model.class_words[tag_bucket(tag)]);
        let mut signature = tag as u32;
        for attribute in tokenizer.attributes() {
            let name = attribute.name.of(page);
            let value = attribute.value.of(page);
            match name.as_bytes() {
                n if n.eq_ignore_ascii_case(b"class") => {
                    let hash = hash(value.as_bytes());
                    signature ^= (hash >> 32) as u32;
                    let (named, words) = self.words(value, hash);
                    marks.add(named);
                    score = score.saturating_add(words);
                }
                n if n.eq_ignore_ascii_case(b"id") => {
                    let (named, words) = self.words(value, hash(value.as_bytes()));
                    marks.add(named);
                    score = score.saturating_add(words);
                }
                n if n.eq_ignore_ascii_case(b"role") => marks.add(role(value)),
                n if n.eq_ignore_ascii_case(b"hidden")
                    && !value.eq_ignore_ascii_case("until-found") =>
                {
                    marks.add(Marks::HIDDEN);
                }
                n if n.eq_ignore_ascii_case(b"aria-hidden")
                    && value.eq_ignore_ascii_case("true") =>
                {
                    marks.add(Marks::HIDDEN);
                }
                n if n.eq_ignore_ascii_case(b"style") && hides(value) => marks.add(Marks::HIDDEN),
                n if n.eq_ignore_ascii_case(b"itemprop")
                    && value.split_ascii_whitespace().any(|v| v == "articleBody") =>
                {
                    marks.add(Marks::ARTICLE_BODY);
                }
                n if tag == Tag::Template
                    && n.len() > 14
                    && n[..14].eq_ignore_ascii_case(b"shadowrootmode") =>
                {
                    marks.add(Marks::SHADOW);
                }
                _ => {}
            }
        }
        Said { marks, score, signature }
    }

    fn words(&mut self, value: &str, hash: u64) -> (Marks, i16) {
        let table = &self.model.class_words;
        *self.seen.entry(hash).or_insert_with(|| marks_and_score(value, table))
    }
}

/// `display:none` or `visibility:hidden`, in any spacing.
fn hides(style: &str) -> bool {
    if style.len() > 4096 || memchr::memchr(b':', style.as_bytes()).is_none() {
        return false;
    }
    style.split(';').any(|declaration| {
        let Some((name, value)) = declaration.split_once(':') else { return false };
        let (name, value) = (name.trim(), value.trim());
        (name.eq_ignore_ascii_case("display")
            && value.get(..4).is_some_and(|v| v.eq_ignore_ascii_case("none")))
            || (name.eq_ignore_ascii_case("visibility")
                && value.get(..6).is_some_and(|v| v.eq_ignore_ascii_case("hidden")))
    })
}

fn role(value: &str) -> Marks {
    match value.trim().to_ascii_lowercase().as_str() {
        "main" => Marks::MAIN,
        "navigation" | "menu" | "menubar" | "tablist" | "toolbar" => Marks::NAVIGATION,
        "contentinfo" => Marks::FOOT,
        "complementary" => Marks::SIDE,
        "search" | "dialog" | "alertdialog" | "alert" => Marks::POPUP,
        _ => Marks::NONE,
    }
}

/// The marks of a `class` or `id`, and the sum of its words' weights.
fn marks_and_score(value: &str, table: &[i8]) -> (Marks, i16) {
    let mut marks = Marks::NONE;
    let mut score = 0i16;
    for_each_name(value, |name| {
        marks.add(whole_name(name));
        for_each_word(name, |part| {
            marks.add(word(part));
            let weight = class_bucket(part).map_or(0, |bucket| table[bucket]);
            score = score.saturating_add(i16::from(weight));
        });
    });
    (marks, score)
}

/// How names of dialogues for consent begin.
const CONSENT_NAMES: &[&[u8]] = &[
    b"onetrust-",
    b"ot-sdk-",
    b"cybotcookiebot",
    b"cookiebot",
    b"cookie-consent",
    b"cookieconsent",
    b"cookie-banner",
    b"cookiebanner",
    b"cookie-notice",
    b"cookie-law-",
    b"cookie-modal",
    b"cookie-popup",
    b"cookie-settings",
    b"cookie-preferences",
    b"consent-banner",
    b"consent-modal",
    b"consent-manager",
    b"gdpr-",
    b"cky-",
    b"cmplz-",
    b"didomi-",
    b"osano-cm",
    b"usercentrics",
    b"truste-",
    b"truste_",
    b"qc-cmp",
    b"iubenda-cs",
    b"klaro",
    b"termly-",
    b"moove-gdpr",
    b"ensmodal",
    b"privacy-preferences",
];

fn whole_name(name: &str) -> Marks {
    let mut lower = [0u8; 32];
    let Some(buffer) = lower.get_mut(..name.len()) else { return Marks::NONE };
    for (to, &from) in buffer.iter_mut().zip(name.as_bytes()) {
        *to = if from == b'_' { b'-' } else { from.to_ascii_lowercase() };
    }
    if CONSENT_NAMES.iter().any(|known| buffer.starts_with(known)) {
        return Marks::CONSENT;
    }
    match &*buffer {
        b"sr-only"
        | b"visually-hidden"
        | b"visuallyhidden"
        | b"screen-reader-text"
        | b"screenreader"
        | b"screen-reader"
        | b"d-none"
        | b"hidden"
        | b"hide"
        | b"is-hidden"
        | b"offscreen"
        | b"blind"
        | b"invisible"
        | b"a11y-hidden"
        | b"element-invisible"
        | b"print-only"
        | b"printonly"
        | b"u-hidden"
        | b"ng-hide"
        | b"uk-hidden" => Marks::HIDDEN,
        // What blog engines and the platforms of Korea, Japan and China call the post's container.
        b"entry-content"
        | b"entry-body"
        | b"post-content"
        | b"post__content"
        | b"post-body"
        | b"article-content"
        | b"article__content"
        | b"article-body"
        | b"article__body"
        | b"article-body-inner"
        | b"articlebody"
        | b"story-body"
        | b"markdown-body"
        | b"se-main-container"
        | b"se-component-wrap"
        | b"postviewarea"
        | b"tt-article-useless-p-margin"
        | b"contents-style"
        | b"wrap-body"
        | b"article-view"
        | b"blogview-content"
        | b"articalcontent"
        | b"content-views" => Marks::BLOG_POST,
        _ => Marks::NONE,
    }
}

fn word(word: &str) -> Marks {
    let mut lower = [0u8; 16];
    let Some(buffer) = lower.get_mut(..word.len()) else { return Marks::NONE };
    buffer.copy_from_slice(word.as_bytes());
    buffer.make_ascii_lowercase();
    match &*buffer {
        b"nav" | b"navbar" | b"navigation" | b"menu" | b"submenu" | b"menubar" | b"menus"
        | b"breadcrumb" | b"breadcrumbs" | b"crumb" | b"crumbs" | b"pagination" | b"pager"
        | b"paging" | b"paginator" | b"toolbar" | b"topbar" | b"subnav" | b"topnav"
        | b"sitenav" | b"gnb" | b"lnb" | b"snb" | b"megamenu" | b"sitemap" => Marks::NAVIGATION,
        b"footer" | b"foot" | b"colophon" | b"copyright" | b"copyrights" | b"footnav"
        | b"sitefooter" | b"imprint" => Marks::FOOT,
        b"sidebar" | b"sidebars" | b"aside" | b"rail" | b"sidenav" | b"leftbar" | b"rightbar"
        | b"rightcol" | b"sidecol" | b"blogroll" => Marks::SIDE,
        b"ad" | b"ads" | b"advert" | b"adverts" | b"advertisement" | b"advertising"
        | b"adsbygoogle" | b"adsense" | b"sponsor" | b"sponsored" | b"sponsors" | b"dfp"
        | b"taboola" | b"outbrain" | b"adbox" | b"adslot" | b"adunit" => Marks::ADVERT,
        b"share" | b"sharing" | b"shares" | b"social" | b"socials" | b"sns" | b"addtoany"
        | b"sharethis" | b"addthis" | b"sharebar" | b"sharedaddy" | b"likes" => Marks::SHARE,
        b"comment" | b"comments" | b"disqus" | b"respond" | b"commentlist" | b"reply"
        | b"replies" | b"trackback" | b"trackbacks" | b"pingback" | b"guestbook" => Marks::COMMENT,
        b"related" | b"recommend" | b"recommended" | b"recommendation" | b"recommendations"
        | b"similar" | b"trending" | b"recirculation" | b"recirc" | b"upnext" | b"readnext"
        | b"yarpp" | b"relatedposts" | b"crosssell" | b"morefrom" => Marks::RELATED,
        b"popups" | b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"newsletter" | b"toast"
        | b"optin" | b"offcanvas" | b"popover" | b"searchform" | b"snackbar" | b"onetrust"
        | b"captcha" => Marks::POPUP,
        b"byline" | b"author" | b"authors" | b"meta" | b"metadata" | b"postmeta" | b"tags"
        | b"tag" | b"taglist" | b"categories" | b"timestamp" | b"dateline" | b"posted"
        | b"avatar" | b"caption" | b"info" | b"bio" | b"rating" | b"ratings" | b"permalink"
        | b"credit" | b"credits" => Marks::DETAIL,
        b"widget" | b"widgets" => Marks::WIDGET,
        b"review" | b"reviews" | b"testimonial" | b"testimonials" => Marks::REVIEW,
        b"userinfo" | b"poster" | b"profile" | b"signature" | b"postprofile" | b"userbit"
        | b"memberinfo" | b"usercard" | b"user" | b"member" => Marks::PERSON,
        b"quote" | b"blockquote" | b"quoted" => Marks::QUOTE,
        b"banner" | b"banners" | b"cta" | b"promo" | b"promos" | b"promotion" | b"promotions"
        | b"side" | b"legal" | b"disclaimer" | b"recent" | b"latest" | b"popular" | b"teaser"
        | b"teasers" | b"follow" | b"print" | b"bookmark" | b"register" | b"registration"
        | b"drawer" | b"overlay" | b"upsell" | b"donate" | b"donation" | b"modal" | b"popup"
        | b"jump" | b"skip" | b"suggested" | b"suggestions" | b"dropdown" | b"paywall"
        | b"subscription" | b"flyout" | b"lightbox" | b"tooltip" | b"affiliate" | b"search"
        | b"subscribe" | b"signup" | b"login" | b"signin" => Marks::WEAK,
        _ => Marks::NONE,
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let chunk = u64::from_le_bytes(chunk.try_into().expect("chunks of eight"));
        hash = (hash ^ chunk).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    }
    for &b in chunks.remainder() {
        hash = (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// For maps whose keys are hashes.
pub(crate) type Hashed = BuildHasherDefault<AlreadyHashed>;

/// The keys are hashes already.
#[derive(Debug, Default)]
pub(crate) struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only u64 keys are hashed")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
