//! Every page there is, in one table: what is added here is walked in both languages, audited, measured
//! at two widths, asked for its JSON twin and looked at without script.

/// Which server a page is asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// The one that everybody on this machine may ask, over the filled store.
    Open,
    /// The one that wants a token.
    Closed,
    /// One over an empty store.
    Empty,
    /// One with jobs: `Served::work` says which.
    Busy,
}

/// A page.
pub(crate) struct Page {
    /// Its name, as a file of a picture is called.
    pub(crate) name: &'static str,
    pub(crate) of: Of,
    pub(crate) address: &'static str,
    /// What has to be on it: selectors.
    pub(crate) shows: &'static [&'static str],
    /// Whether its JSON twin is linked.
    pub(crate) twin: bool,
}

const fn page(
    name: &'static str,
    address: &'static str,
    twin: bool,
    shows: &'static [&'static str],
) -> Page {
    Page { name, of: Of::Open, address, shows, twin }
}

/// A page of another server: of a closed one only pages without a twin are looked at, of others only pages
/// that have one.
const fn elsewhere(
    name: &'static str,
    of: Of,
    address: &'static str,
    shows: &'static [&'static str],
) -> Page {
    Page { name, of, address, shows, twin: !matches!(of, Of::Closed) }
}

pub(crate) const PAGES: &[Page] = &[
    page("home", "/", true, &["form.box textarea", ".cards .card", "table .kind"]),
    page("search-form", "/search", false, &["form.ask input[type=search]"]),
    page(
        "search",
        "/search?q=harbour",
        true,
        &[".results li h2 a", ".results details .copies li a", ".snippet mark"],
    ),
    page(
        "search-filtered",
        "/search?q=%EB%B0%94%EB%8B%A4&language=ko&after=2025-01-01",
        true,
        &[".results li"],
    ),
    page("search-nothing", "/search?q=zyzzyva", true, &["p[role=status]"]),
    page(
        "document",
        "/document?key=https://mirror5.example/harbour/letters?page%3D5",
        true,
        &[".verdict .kind.copy", ".links a", "svg.timeline", ".body"],
    ),
    page("document-original", "/document?key=travel/2", true, &[".verdict .kind.first", ".body"]),
    page("document-empty", "/document?key=without words", true, &[".verdict .kind"]),
    page(
        "document-versions",
        "/document?key=https://town.example/changes",
        true,
        &[".two section table", ".body"],
    ),
    page("compare-form", "/compare", false, &["form.ask input[name=b]"]),
    page(
        "compare",
        "/compare?a=travel/2&b=repost/2",
        true,
        &[".shares svg", ".beside .row", ".only"],
    ),
    page(
        "compare-different",
        "/compare?a=https://town.example/stays&b=travel/2",
        true,
        &[".beside del", ".beside ins"],
    ),
    page("ask-form", "/ask", false, &["form.box textarea[name=text]"]),
    page("ask", "/ask?key=letters/1", true, &["ol.sources li", ".marked mark", "table"]),
    page("moved-form", "/moved", false, &["form.ask input[name=key]"]),
    page("moved", "/moved?key=https://town.example/old", true, &["h2[role=status]", "table"]),
    page("moved-gone", "/moved?key=https://town.example/gone", true, &["h2[role=status]"]),
    page("copies-form", "/copies", false, &["form.ask input[name=key]"]),
    page(
        "copies",
        "/copies?key=https://mirror0.example/harbour/letters?page%3D0",
        true,
        &["section h2", "table"],
    ),
    page("changes", "/changes", true, &[".cards", ".plot svg", "svg.bars"]),
    page(
        "changes-page",
        "/changes?key=https://town.example/changes",
        true,
        &["table", ".plot svg"],
    ),
    page("watch", "/watch", true, &["form.ask", "section details", "button.quiet"]),
    page("families", "/families", true, &["svg.bars", "table", "a[rel=next], table"]),
    page(
        "family",
        "/family?key=https://mirror0.example/harbour/letters?page%3D0",
        true,
        &["svg.timeline", "table", ".matrix", "a[rel=next]"],
    ),
    page("decisions", "/decisions", true, &["table td a", ".keep"]),
    page(
        "document-decided",
        "/document?key=travel/2&decided=1",
        true,
        &[".notice[role=status] form button", ".kind.decided", "form.decide input[name=reason]"],
    ),
    page("status", "/status", true, &[".cards", "table"]),
    page("jobs", "/jobs", true, &["main h1"]),
    page("crawl", "/crawl", false, &["main h1"]),
    page("docs", "/docs", false, &[".route h2 code", "table"]),
    page("problem-unknown", "/document?key=nobody", false, &["p.lead", "p:not(.lead) code"]),
    page("problem-address", "/nothing-here", false, &["p.lead", "p:not(.lead) code"]),
    page("problem-parameter", "/changes?since=soon", false, &["p.lead", "p:not(.lead) code"]),
    page("login-not-needed", "/login", false, &["main p"]),
    elsewhere("login", Of::Closed, "/login", &["input[type=password]", "form.ask button"]),
    elsewhere("problem-token", Of::Closed, "/status", &["a.button[href=\"/login\"]"]),
    elsewhere("empty-home", Of::Empty, "/", &["form.box", ".cards", "main p code"]),
    elsewhere("empty-families", Of::Empty, "/families", &["main p"]),
    elsewhere("empty-decisions", Of::Empty, "/decisions", &["main p"]),
    elsewhere("empty-changes", Of::Empty, "/changes", &["main p code"]),
    elsewhere("empty-watch", Of::Empty, "/watch", &["form.ask"]),
    elsewhere("empty-status", Of::Empty, "/status", &[".cards"]),
    elsewhere("jobs-busy", Of::Busy, "/jobs", &["#job-list .state.failed", "form.start select"]),
    elsewhere("job-import", Of::Busy, "/job?number=1", &[".state.done", ".skipped li"]),
    elsewhere("job-dedup", Of::Busy, "/job?number=2", &[".state.done", "#job-progress table"]),
    elsewhere("crawl-done", Of::Busy, "/crawl?number=3", &[".cards", ".plot svg", "form.start"]),
    elsewhere("job-failed", Of::Busy, "/job?number=4", &[".state.failed", ".error", "form.change"]),
    elsewhere("crawl-paused", Of::Busy, "/crawl?number=5", &[".state.paused", ".plot svg"]),
    elsewhere("crawl-waiting", Of::Busy, "/crawl?number=6", &[".state.waiting", "form.change"]),
];
