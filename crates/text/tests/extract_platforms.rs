//! Short posts in the frames of Korean, Japanese and Chinese services: none may be lost.

use wonbon_testkit::platform_pages::platform_pages;
use wonbon_text::extract::extract;

#[test]
fn no_post_is_lost_on_any_of_fifty_platforms() {
    let mut lost = Vec::new();
    for page in platform_pages() {
        let text = extract(&page.html, None).text;
        for sentence in page.post {
            if !text.contains(sentence) {
                lost.push(format!("{}: {sentence}", page.name));
            }
        }
    }
    assert!(lost.is_empty(), "{} sentences are lost: {lost:#?}", lost.len());
}

#[test]
fn lists_of_other_posts_are_mostly_left_out() {
    let (mut kept, mut all) = (0, 0);
    for page in platform_pages() {
        let text = extract(&page.html, None).text;
        kept += page.frame.iter().filter(|title| text.contains(**title)).count();
        all += page.frame.len();
    }
    // Lists below a post without a name of their own stay: titles are long links, which are content.
    assert!(kept * 4 <= all, "{kept} of {all} titles of other posts are in the texts");
}
