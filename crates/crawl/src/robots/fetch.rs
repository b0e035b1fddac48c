//! Asking a server for its robots.txt.
//!
//! A crawl does this as one of its requests, with delays and an archive; here it is one question of a
//! person. Redirects are followed as in a crawl, each to an address that may be asked.

use url::Url;

use super::{Answer, MAX_BYTES, MAX_REDIRECTS, Robots};
use crate::canonical::Rules;
use crate::crawl::runtime;
use crate::error::CrawlError;
use crate::fetch::unpack::unpack;
use crate::fetch::{Ask, Body, FetchError, Fetcher};

/// Fetches a robots.txt and reads the rules for a product token. An answer without rules is taken as
/// [`Answer`] says.
///
/// # Errors
///
/// [`CrawlError::RobotsUnreachable`] without an answer.
pub fn fetch(fetcher: &dyn Fetcher, url: &Url, product: &str) -> Result<Robots, CrawlError> {
    let runtime = runtime()?;
    let mut url = url.clone();
    for _ in 0..=MAX_REDIRECTS {
        let answer = match runtime.block_on(ask(fetcher, &url)) {
            Ok(answer) => answer,
            Err(source) => {
                return Err(CrawlError::RobotsUnreachable { url: Box::new(url), source });
            }
        };
        // A body over the limit is not kept, and so says nothing.
        if answer.whole != Body::Whole {
            return Ok(Robots::nothing());
        }
        match Answer::of_status(answer.status) {
            Answer::Rules => {
                let body = unpack(&answer.body, &answer.content_coding(), 4 * MAX_BYTES);
                return Ok(Robots::parse(&body.unwrap_or_default(), product));
            }
            Answer::Unavailable => return Ok(Robots::everything()),
            Answer::Unreachable => return Ok(Robots::nothing()),
            Answer::Redirect => {
                let location = answer.field("location").unwrap_or_default();
                let Ok(target) = Rules::keep_parameters().canonical(Some(&url), location) else {
                    return Ok(Robots::everything());
                };
                url = target;
            }
        }
    }
    // More redirects than are followed count as no file.
    Ok(Robots::everything())
}

async fn ask(fetcher: &dyn Fetcher, url: &Url) -> Result<crate::fetch::Answer, FetchError> {
    let host = url.host_str().unwrap_or_default();
    let address = fetcher.resolve(host).await?.first().copied();
    let mut ask = Ask::page(url.clone(), address);
    ask.any_type = true;
    fetcher.fetch(ask).await
}
