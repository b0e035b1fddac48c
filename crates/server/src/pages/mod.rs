//! Pages for people: made on the server, readable without script, in Korean and English.
//!
//! Each page is made of the pieces of `wonbon-pages`; what comes from documents or from whoever asks is
//! escaped by them. The style sheet and the one small script are files of their own, because nothing
//! inline may run ([`crate::guard`]). The script only improves: keys to go from difference to
//! difference, a key to get to the search box, and jobs that are kept up to date.

mod ask;
mod changes;
mod compare;
mod crawl;
mod decisions;
mod document;
mod families;
pub(crate) mod frame;
mod home;
mod jobs;
mod pieces;
mod places;
mod search;
mod sign_in;
mod status;
mod watch;

pub(crate) use ask::ask_page;
pub(crate) use changes::{changes_page, history_page};
pub(crate) use compare::compare_page;
pub(crate) use crawl::crawl_page;
pub(crate) use decisions::{back_from_decision, decisions_page};
pub(crate) use document::{document, raw};
pub(crate) use families::{families_page, family_page};
pub(crate) use frame::{choose, mark, problem_page, script, style};
pub(crate) use home::{go, home};
pub(crate) use jobs::{job_page, jobs_page, no_jobs_page};
pub(crate) use pieces::coded_paragraph;
pub(crate) use places::{copies_page, moved_page};
pub(crate) use search::search_page;
pub(crate) use sign_in::{login, login_page};
pub(crate) use status::status_page;
pub(crate) use watch::watch_page;
