//! Which part of the data a page belongs to: decided by its site, so that no site is on two sides.

/// The site of a page: the registrable domain of its address, or the page itself without one.
pub fn site(url: Option<&str>, name: &str) -> String {
    let host = url
        .and_then(|url| url.split_once("://"))
        .and_then(|(_, rest)| rest.split(['/', '?', '#', ':']).next())
        .map(str::to_ascii_lowercase);
    match host {
        Some(host) => psl::domain_str(&host).map_or(host.clone(), str::to_owned),
        None => name.to_owned(),
    }
}

/// A number that a site's name is scattered to (FNV-1a, folded).
pub fn scatter(site: &str, salt: u8) -> u64 {
    let hash = site.bytes().chain([salt]).fold(0xcbf2_9ce4_8422_2325u64, |hash, b| {
        (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33
}

/// Whether a site is in the test part.
pub fn is_test(site: &str) -> bool {
    scatter(site, 1) % 5 == 0
}

/// The fold of a site in the development part.
pub fn fold(site: &str, folds: usize) -> usize {
    (scatter(site, 2) % folds as u64) as usize
}
