//! Pictures of pages: for whoever wants to look at all of them, and those of the README.

use std::path::Path;

use serde_json::json;

use crate::driver::Browser;
use crate::table::PAGES;
use crate::{LANGUAGES, Servers};

/// The bytes that a text in base64 stands for.
fn from_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}

#[test]
fn base64_is_read() {
    assert_eq!(from_base64("d29uYm9u"), b"wonbon");
    assert_eq!(from_base64("+/8="), [0xFB, 0xFF]);
}

/// Writes a picture of every page to the directory in `WONBON_PICTURES`: for looking at.
#[test]
#[ignore = "for people"]
fn pictures_of_every_page() {
    let directory = std::env::var("WONBON_PICTURES").unwrap();
    let wanted = std::env::var("WONBON_PAGES").unwrap_or_default();
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory).unwrap();
    let browser = Browser::start().unwrap();
    let servers = Servers::start();
    for page in PAGES.iter().filter(|page| page.name.contains(&wanted)) {
        for language in LANGUAGES {
            browser.speak(language);
            for scheme in ["light", "dark"] {
                browser.prefer(scheme);
                for (name, width) in [("wide", 1280), ("phone", 390)] {
                    browser.resize(width, 900);
                    browser.open(&servers.at(page));
                    let file = format!("{}-{language}-{scheme}-{name}.png", page.name);
                    std::fs::write(directory.join(file), from_base64(&browser.picture(true)))
                        .unwrap();
                }
            }
        }
    }
}

/// What is seen of a page at this size after a script, as an address that a picture can have.
fn seen(browser: &Browser, (width, height): (u32, u32), address: &str, script: &str) -> String {
    browser.resize(width, height);
    browser.open(address);
    browser.run(script);
    format!("data:image/png;base64,{}", browser.picture(false))
}

/// Writes the README's picture to the directory in `WONBON_PICTURES`, of the demo at `WONBON_DEMO`: two
/// documents beside each other, and next to them a search on a phone, in the dark. Then the pages that the
/// documentation shows.
#[test]
#[ignore = "scripts/pictures.sh runs it"]
fn pictures_of_the_readme() {
    let directory = std::env::var("WONBON_PICTURES").unwrap();
    let demo = std::env::var("WONBON_DEMO").unwrap();
    let demo = demo.trim_end_matches('/');
    let browser = Browser::start().unwrap();
    browser.speak("en");
    browser.prefer("light");
    let compared = format!("{demo}/compare?a=travel/2&b=repost/2");
    let wide = seen(&browser, (1000, 760), &compared, "document.querySelector('.only').click();");
    browser.prefer("dark");
    let opened = "document.querySelector('details').open = true;
        scrollTo(0, document.querySelector('h1').offsetTop - 20);";
    let phone = seen(&browser, (390, 760), &format!("{demo}/search?q=town"), opened);
    browser.prefer("light");
    browser.resize(1454, 800);
    browser.open("about:blank");
    let style = "margin:20px 0 0 20px;border-radius:10px;box-shadow:0 2px 10px #0004;float:left";
    browser.run(&format!(
        "document.body.style.cssText = 'margin:0;background:#e9e6df';
         return Promise.all({}.map((source) => {{
           const picture = new Image();
           picture.src = source;
           picture.style.cssText = '{style}';
           document.body.append(picture);
           return picture.decode();
         }})).then(() => true);",
        json!([wide, phone])
    ));
    let directory = Path::new(&directory);
    write_seen(&browser, &directory.join("pages.webp"));
    // The main pages, for the documentation.
    browser.prefer("light");
    browser.resize(1100, 800);
    for (name, address) in [
        ("home", "/"),
        ("families", "/family?key=travel/2"),
        ("ask", "/ask?key=letters/1"),
        ("api", "/docs"),
    ] {
        browser.open(&format!("{demo}{address}"));
        write_seen(&browser, &directory.join(format!("{name}.webp")));
    }
}

/// Writes what the window shows.
fn write_seen(browser: &Browser, path: &Path) {
    let parameters = json!({"format": "webp", "quality": 82});
    let taken = browser.chromium("Page.captureScreenshot", parameters);
    std::fs::write(path, from_base64(taken["data"].as_str().unwrap())).unwrap();
}
