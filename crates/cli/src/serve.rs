//! `wonbon serve`: the service and its pages over a store.

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use wonbon_app::jobs::JobsConfig;
use wonbon_crawl::guard::Guard;
use wonbon_server::{Config, Limits, LogFormat, Rate, Server, start_logging};
use wonbon_store::{Follow, Store};

use crate::Outcome;
use crate::store::explained;

/// Serve a store over HTTP: an API under /v1 for programs, pages for people.
///
/// The store is made if there is none. Pages are at the address that is printed; /docs describes the
/// API. Without tokens only this machine can be served: another address than 127.0.0.1 is refused at
/// start unless a file of tokens is named (`wonbon token create` makes one).
///
/// With --jobs it imports files, deduplicates and clusters corpora, and crawls, when asked over HTTP. Running
/// jobs continue after a restart. Crawls never connect to addresses of this machine, of private networks or of
/// cloud metadata services unless --allow-private names them.
///
/// Ctrl-C or SIGTERM stops it: requests in progress have up to --grace seconds, and everything that was
/// acknowledged is stored. Exit codes: 0 stopped as asked, 2 it could not run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7600")]
    listen: SocketAddr,
    /// The file of accepted tokens.
    #[arg(long, value_name = "FILE", env = "WONBON_TOKENS")]
    tokens: Option<PathBuf>,
    /// A host name that the service answers to, besides `localhost` and IP addresses; may be given again.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// The directory in which `POST /v1/backup` makes copies of the store.
    #[arg(long, value_name = "DIR")]
    backups: Option<PathBuf>,
    /// The directory of jobs: imports, corpora, crawls. Files to read are put into its folder `in`.
    /// Without it the service has no jobs.
    #[arg(long, value_name = "DIR")]
    jobs: Option<PathBuf>,
    /// Jobs that run at a time, from 1 to 4.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    jobs_at_once: u8,
    /// A network such as 192.168.1.0/24, an address or a host that crawls may ask although it is not
    /// public; may be given again. Cannot be said over HTTP.
    #[arg(long, value_name = "NETWORK|HOST", requires = "jobs")]
    allow_private: Vec<String>,
    /// What this instance keeps beside what decides: `all`, or `none` for an instance on a PostgreSQL that adds, checks and
    /// reads, and leaves searches and questions to others.
    #[arg(long, value_enum, default_value_t = Followed::All)]
    follow: Followed,
    /// Requests a second that one client may make; no limit if not said.
    #[arg(long, value_name = "N", value_parser = positive)]
    rate: Option<f64>,
    /// The largest body, and the longest line of a stream, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = 32)]
    most_body: usize,
    /// Megabytes of bodies and lines that all requests together may hold.
    #[arg(long, value_name = "MB", default_value_t = 256)]
    body_memory: usize,
    /// The part of --body-memory that one client address may have. Behind a proxy all clients have its
    /// address.
    #[arg(long, value_name = "MB", default_value_t = 128)]
    body_share: usize,
    /// Megabytes of answers that may wait to be read by their clients, all together.
    #[arg(long, value_name = "MB", default_value_t = 256)]
    answer_memory: usize,
    /// The part of --answer-memory that one client address may have. A larger answer counts as this much.
    #[arg(long, value_name = "MB", default_value_t = 128)]
    answer_share: usize,
    /// Connections at once. Fewer if the system allows fewer open files; the log says so.
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    connections: usize,
    /// Connections at once from one address.
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections_per_address)]
    connections_per_address: usize,
    /// Seconds after which a client that does not read its answer is disconnected.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    write_timeout: u64,
    /// Seconds that requests in progress have when the service stops.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    grace: u64,
    /// How the log on standard error looks.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    log_format: Format,
    /// The log filter: a level, or a level for each part, as in `wonbon_server=debug`.
    #[arg(long, value_name = "FILTER", env = "WONBON_LOG", default_value = "info")]
    log: String,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Followed {
    /// Search, and the index of shingles for questions.
    All,
    /// Neither.
    None,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|rate: &f64| *rate > 0.0 && rate.is_finite())
        .ok_or_else(|| "write a number above 0".to_owned())
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let format = match args.log_format {
        Format::Text => LogFormat::Text,
        Format::Json => LogFormat::Json,
    };
    start_logging(format, &args.log).context("the filter of --log cannot be read")?;
    let jobs = match &args.jobs {
        None => None,
        Some(directory) => Some(JobsConfig {
            at_once: args.jobs_at_once.into(),
            guard: Guard::allowing(&args.allow_private, &HashMap::new())
                .context("--allow-private is wrong")?,
            ..JobsConfig::new(directory.clone())
        }),
    };
    let config = Config {
        jobs,
        listen: args.listen,
        tokens: args.tokens.clone(),
        hosts: args.host.clone(),
        backups: args.backups.clone(),
        limits: Limits {
            body_bytes: args.most_body.saturating_mul(1 << 20),
            body_memory_bytes: args.body_memory.saturating_mul(1 << 20),
            body_share_bytes: args.body_share.saturating_mul(1 << 20),
            answer_memory_bytes: args.answer_memory.saturating_mul(1 << 20),
            answer_share_bytes: args.answer_share.saturating_mul(1 << 20),
            connections: args.connections,
            connections_per_address: args.connections_per_address,
            write_time: Duration::from_secs(args.write_timeout),
            grace: Duration::from_secs(args.grace),
            rate: args.rate.map(|per_second| Rate { per_second, at_once: per_second.max(10.0) }),
            ..Limits::default()
        },
    };
    config.check()?;
    let started = Instant::now();
    let follows = match args.follow {
        Followed::All => Follow::All,
        Followed::None => Follow::Nothing,
    };
    let store = Store::open_or_create_following(directory, None, follows).map_err(explained)?;
    run_until_interrupted(store, started.elapsed(), config)?;
    Ok(Outcome::Done)
}

/// Serves a store that took so long to open, at the address that it prints, until it is told to end.
pub(crate) fn run_until_interrupted(
    store: Store,
    opening: Duration,
    config: Config,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("could not start threads")?;
    runtime.block_on(async {
        let server = Server::bind(store, opening.as_secs_f64(), config).await?;
        let address = server.address().context("could not tell the address")?;
        // From here on whoever reads the address may also end it.
        let told = told_to_end();
        // A closed standard output takes nothing from the service.
        let _ = writeln!(std::io::stdout(), "http://{address}/");
        let _ = std::io::stdout().flush();
        server.run(told).await?;
        Ok(())
    })
}

/// Listens for Ctrl-C and for the system asking it to end, from now on; ends when one of them comes.
#[cfg(unix)]
fn told_to_end() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [interrupt, terminate] = signals;
        // Without them only the system can end the process.
        match (interrupt, terminate) {
            (Ok(mut interrupt), Ok(mut terminate)) => tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            },
            _ => std::future::pending().await,
        }
    }
}

/// Ends when Ctrl-C comes.
#[cfg(not(unix))]
async fn told_to_end() {
    // Without it only the system can end the process.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
