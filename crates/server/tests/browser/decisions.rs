//! Making a document the original, and taking it back, as people do it.

use crate::flows::in_both_languages;

#[test]
fn a_copy_is_made_the_original_and_that_is_taken_back() {
    in_both_languages(|browser, served| {
        let page = "/document?key=https://mirror2.example/harbour/letters?page%3D2";
        browser.open(&served.at(page));
        assert_eq!(browser.count(".verdict .kind.copy"), 1);
        browser.find("form.decide input[name=reason]").write("<i>they said</i> \u{AC00}");
        browser.find("form.decide button[value=original]").follow();
        browser.wait_until("return location.search.includes('decided=');");
        assert_eq!(browser.count(".verdict .kind.first"), 1);
        assert!(browser.text("main q").contains("<i>they said</i> \u{AC00}"));
        browser.find(".notice form button").follow();
        browser.wait_until("return document.querySelector('.verdict .kind.copy') !== null;");
        assert_eq!(browser.count(".notice[role=status]"), 1);
        assert_eq!(browser.count(".notice form"), 0, "what was taken back is not offered again");

        // The same on the page of the family.
        browser.open(&served.at("/family?key=https://mirror2.example/harbour/letters?page%3D2"));
        browser.find("table tr:nth-child(3) button[value=not-a-copy]").follow();
        browser.wait_until("return location.search.includes('decided=');");
        assert_eq!(browser.count(".notice[role=status]"), 1);
        browser.find(".notice form button").follow();
        browser.wait_until("return document.querySelector('.notice form') === null;");

        browser.open(&served.at("/decisions"));
        assert!(browser.count("table tr") > 4);
        assert!(browser.text("table").contains("<i>they said</i> \u{AC00}"));
    });
}
