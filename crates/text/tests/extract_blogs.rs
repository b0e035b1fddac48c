//! Blog pages: a thin post inside a thick frame. Each page in `pages/` imitates the markup of a
//! platform, with an invented post; its `.expect` file lists sentences that must be in the core
//! text (`+`) and texts of the frame that must not (`-`).

use std::path::Path;

use wonbon_text::extract::{CoreText, core_text};

fn page(name: &str) -> CoreText {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name);
    let bytes = std::fs::read(path.with_extension("html")).expect("the page is in the checkout");
    core_text(&bytes, None, None)
}

fn keeps_post_and_drops_frame(name: &str) {
    let text = page(name).page.text;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name);
    let expected = std::fs::read_to_string(path.with_extension("expect")).expect("so is its text");
    let mut sentences = 0;
    for line in expected.lines() {
        let (sign, what) = line.split_at(2);
        let is_kept = text.contains(what);
        sentences += usize::from(sign == "+ ");
        assert_eq!(is_kept, sign == "+ ", "{name}: {what:?} in\n{text}");
    }
    assert!(sentences >= 3, "{name} expects nothing");
    let words = |text: &str| text.split_whitespace().count();
    let post: usize = expected.lines().filter_map(|l| l.strip_prefix("+ ")).map(words).sum();
    assert!(words(&text) <= 2 * post + 8, "{name}: much besides the post in\n{text}");
}

macro_rules! blogs {
    ($($test:ident $name:literal;)*) => {
        $(#[test]
        fn $test() {
            keeps_post_and_drops_frame($name);
        })*
    };
}

blogs! {
    naver_smart_editor_post_survives "naver-se";
    naver_old_editor_post_survives "naver-old";
    tistory_post_survives "tistory";
    egloos_post_in_euc_kr_survives "egloos-euc-kr";
    daum_post_survives "daum";
    velog_post_survives "velog";
    brunch_post_survives "brunch";
    blogger_post_survives "blogger";
    wordpress_post_survives "wordpress";
    medium_like_post_survives "medium";
    livedoor_post_survives "livedoor";
    hatena_post_in_euc_jp_survives "hatena-euc-jp";
    sina_post_survives "sina";
    csdn_post_in_gb18030_survives "csdn-gb18030";
}

#[test]
fn charsets_of_the_pages_are_recognised() {
    assert_eq!(page("egloos-euc-kr").charset, "EUC-KR");
    assert_eq!(page("hatena-euc-jp").charset, "EUC-JP");
    assert_eq!(page("csdn-gb18030").charset, "gb18030");
    assert_eq!(page("naver-se").charset, "UTF-8");
}
