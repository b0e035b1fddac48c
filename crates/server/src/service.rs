//! The state that all handlers share: the store, tokens, limits, metrics, jobs.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use wonbon_app::jobs::{Jobs, JobsConfig, SharedJobs};
use wonbon_app::tokens::{Scope, TokenError, TokenFile, random_bytes};
use wonbon_progress::Cancellation;
use wonbon_store::Store;

use crate::adding::Adding;
use crate::answer_threads::AnswerThreads;
use crate::body_budget::BodyBudget;
use crate::inquiry::Inquiry;
use crate::metrics::{Counted, Metrics};
use crate::problem::{Code, Problem};
use crate::rate::{Buckets, Rate};

/// How much a client may send, how long it may take, how many may come at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The longest body, and the longest line of a stream. A page of 32 MB is no page any more.
    pub body_bytes: usize,
    /// The longest head of a request. Keys have up to 4 kB and stand in addresses, three bytes for each.
    pub head_bytes: usize,
    /// How long a connection may be idle, or take to send the head of a request.
    pub head_time: Duration,
    /// How long a body may take, and how long a stream may send nothing.
    pub body_time: Duration,
    /// How long an answer may take.
    pub answer_time: Duration,
    /// How long a client may leave an answer unread while more of it waits to be sent.
    pub write_time: Duration,
    /// Bytes of bodies and lines that all requests together may hold. Raised to `body_bytes` if it is less.
    pub body_memory_bytes: usize,
    /// The part of it that one client address may have. Behind a proxy all clients have one address.
    pub body_share_bytes: usize,
    /// Bytes of answers that may wait for their clients, all together. Raised to `answer_share_bytes` if it is less.
    pub answer_memory_bytes: usize,
    /// The part of it that one client address may have. A larger answer counts as this much.
    pub answer_share_bytes: usize,
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address.
    pub connections_per_address: usize,
    /// Requests at once.
    pub requests: usize,
    /// Questions that are answered at once, each by a thread. Of short ones no more than there are cores.
    pub questions: usize,
    /// How often one client may ask; no limit if not said.
    pub rate: Option<Rate>,
    /// How long requests may go on when the service ends.
    pub grace: Duration,
}

/// The cores that the service may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes: 32 << 20,
            head_bytes: 32 << 10,
            head_time: Duration::from_secs(60),
            body_time: Duration::from_secs(60),
            answer_time: Duration::from_secs(30),
            write_time: Duration::from_secs(60),
            body_memory_bytes: 256 << 20,
            body_share_bytes: 128 << 20,
            answer_memory_bytes: 256 << 20,
            answer_share_bytes: 128 << 20,
            connections: 16_384,
            connections_per_address: 4096,
            requests: 4096,
            questions: 4 * cores(),
            rate: None,
            grace: Duration::from_secs(20),
        }
    }
}

/// How the service is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The file of tokens; without one everybody on this machine may do everything.
    pub tokens: Option<PathBuf>,
    /// Names by which it is called, beside `localhost` and addresses in numbers.
    pub hosts: Vec<String>,
    /// The directory in which backups are made; without one there are none.
    pub backups: Option<PathBuf>,
    /// Where jobs are; without it there are none.
    pub jobs: Option<JobsConfig>,
    /// Limits.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 7600)),
            tokens: None,
            hosts: Vec::new(),
            backups: None,
            jobs: None,
            limits: Limits::default(),
        }
    }
}

impl Config {
    /// Refuses what would let everybody do everything.
    ///
    /// # Errors
    ///
    /// [`ServerError::TokensNeeded`].
    pub fn check(&self) -> Result<(), ServerError> {
        if self.tokens.is_none() && !self.listen.ip().is_loopback() {
            return Err(ServerError::TokensNeeded { listen: self.listen });
        }
        Ok(())
    }
}

/// Why the service cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Everybody who reaches the address could do everything.
    #[error(
        "{listen} can be reached by other machines, and there are no tokens: name a file of tokens, \
         or listen on 127.0.0.1"
    )]
    TokensNeeded {
        /// The address.
        listen: SocketAddr,
    },
    /// The tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// The address cannot be listened on, or the system gives no threads or random bytes.
    #[error("could not {doing}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The directory of jobs cannot be used.
    #[error(transparent)]
    Jobs(#[from] wonbon_app::JobsError),
    /// The store could not end cleanly.
    #[error(transparent)]
    Store(#[from] wonbon_store::StoreError),
}

/// What all handlers share.
pub(crate) struct Service {
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) adding: Adding,
    pub(crate) tokens: Option<TokenFile>,
    pub(crate) buckets: Option<Buckets>,
    pub(crate) bodies: Arc<BodyBudget>,
    pub(crate) answers: Arc<BodyBudget>,
    jobs: Option<Arc<Jobs>>,
    /// Those of another instance on the same store, where this one has none.
    pub(crate) jobs_elsewhere: Option<SharedJobs>,
    /// Which scope a route needs; none for those that are open to all.
    pub(crate) scopes: HashMap<(&'static str, &'static str), Option<Scope>>,
    pub(crate) requests: Arc<Semaphore>,
    threads: AnswerThreads,
    /// How long opening the store took.
    pub(crate) open_seconds: f64,
    /// With which forms are marked.
    pub(crate) form_secret: [u8; 32],
    /// True when the service is ending.
    pub(crate) ending: watch::Receiver<bool>,
}

impl Service {
    pub(crate) fn new(
        store: Store,
        open_seconds: f64,
        config: Config,
        routes: &[(&'static str, &'static str, Option<Scope>)],
        ending: watch::Receiver<bool>,
    ) -> Result<Self, ServerError> {
        config.check()?;
        let io = |doing: &str| {
            let doing = doing.to_owned();
            move |source| ServerError::Io { doing, source }
        };
        let metrics =
            Arc::new(Metrics::new(routes.iter().map(|(method, path, _)| (*method, *path))));
        let adding = Adding::start(store.clone(), metrics.clone()).map_err(io("start a thread"))?;
        Ok(Service {
            adding,
            tokens: config.tokens.as_deref().map(TokenFile::open).transpose()?,
            buckets: config.limits.rate.map(Buckets::new),
            bodies: BodyBudget::new(
                config.limits.body_memory_bytes.max(config.limits.body_bytes),
                config.limits.body_share_bytes.max(config.limits.body_bytes),
            ),
            answers: BodyBudget::new(
                config.limits.answer_memory_bytes.max(config.limits.answer_share_bytes),
                config.limits.answer_share_bytes,
            ),
            jobs_elsewhere: match config.jobs {
                Some(_) => None,
                None => SharedJobs::of(&store)?,
            },
            jobs: config.jobs.clone().map(|jobs| Jobs::open(jobs, store.clone())).transpose()?,
            scopes: routes.iter().map(|(method, path, scope)| ((*method, *path), *scope)).collect(),
            requests: Arc::new(Semaphore::new(config.limits.requests)),
            threads: AnswerThreads::start(cores(), config.limits.questions)
                .map_err(io("start a thread"))?,
            // Instances on one store take the forms that others gave out.
            form_secret: match store.shared_secret("forms")? {
                Some(secret) => secret,
                None => random_bytes().map_err(io("draw random bytes"))?,
            },
            store,
            open_seconds,
            config,
            metrics,
            ending,
        })
    }

    /// The jobs, or the problem that there are none.
    pub(crate) fn jobs(&self) -> Result<&Arc<Jobs>, Problem> {
        let detail = "start it with `--jobs DIR`";
        self.jobs.as_ref().ok_or_else(|| Problem::new(Code::NoJobs, detail))
    }

    /// Whether the service is ending.
    pub(crate) fn is_ending(&self) -> bool {
        *self.ending.borrow()
    }

    /// Waits until the service is ending.
    pub(crate) async fn ended(&self) {
        // The sender is gone only when the service is.
        drop(self.ending.clone().wait_for(|ending| *ending).await);
    }

    /// Answers something that reads or computes for longer, on a thread for such things; as many at once
    /// as [`Limits::questions`] says. It is cancelled when its time is up, and when this future is dropped
    /// because its client disconnected.
    pub(crate) async fn answer<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Inquiry) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _counted = Counted::begin(&self.metrics.questions);
        let cancellation = Cancellation::after(self.config.limits.answer_time);
        let asked = Inquiry::new(self.clone(), cancellation.clone());
        let _cancels = CancelOnDrop(cancellation);
        let answered = async {
            let answer = self.threads.run(move || question(&asked)).await;
            answer.unwrap_or_else(|error| Err(Problem::inside(Code::Failed, &error)))
        };
        let answer = tokio::time::timeout(self.config.limits.answer_time, answered).await;
        answer.unwrap_or_else(|_| {
            let seconds = self.config.limits.answer_time.as_secs_f64();
            let detail = format!("there was no answer within {seconds} seconds");
            Err(Problem::new(Code::TookTooLong, detail))
        })
    }

    /// Does something that must not be told as failed once it has begun: starts a job, makes a backup,
    /// removes a document. It is given up only while it waits for a thread; then it is never begun.
    pub(crate) async fn act<T: Send + 'static>(
        self: &Arc<Self>,
        action: impl FnOnce(&Inquiry) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _counted = Counted::begin(&self.metrics.questions);
        let asked = Inquiry::new(self.clone(), Cancellation::default());
        // Set by whoever is first: the thread that begins, or the one that gives up.
        let settled = Arc::new(AtomicBool::new(false));
        let begins = settled.clone();
        let mut answer = self.threads.run(move || {
            let begun = !begins.swap(true, Ordering::AcqRel);
            begun.then(|| action(&asked))
        });
        let in_time = tokio::time::timeout(self.config.limits.answer_time, &mut answer).await;
        let answer = match in_time {
            Ok(answer) => answer,
            Err(_) if settled.swap(true, Ordering::AcqRel) => answer.await,
            Err(_) => Ok(None),
        };
        match answer {
            Ok(Some(answer)) => answer,
            Ok(None) => Err(Problem::new(Code::TookTooLong, "it was not begun and will not be")),
            Err(error) => Err(Problem::inside(Code::Failed, &error)),
        }
    }
}

/// Cancels a question when whoever waits for its answer goes away.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use wonbon_store::StoreParams;

    use super::*;

    fn service(folder: &std::path::Path, questions: usize) -> Arc<Service> {
        let store = Store::create(&folder.join("store"), &StoreParams::default()).unwrap();
        let answer_time = Duration::from_millis(20);
        let limits = Limits { questions, answer_time, ..Limits::default() };
        let config = Config { limits, ..Config::default() };
        let (_end, ending) = watch::channel(false);
        Arc::new(Service::new(store, 0.0, config, &crate::routes::table(), ending).unwrap())
    }

    #[tokio::test]
    async fn what_has_begun_is_never_told_as_too_late() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path(), 1);
        // On a busy machine the time may be up before a thread begins; then it never does.
        loop {
            let (began, begun) = std::sync::mpsc::channel::<()>();
            let act = service.act(move |service| {
                let _ = began.send(());
                std::thread::sleep(service.config.limits.answer_time * 5);
                Ok("done")
            });
            match act.await {
                Ok(done) => break assert_eq!(done, "done"),
                Err(problem) => assert_eq!(problem.code, Code::TookTooLong),
            }
            service.threads.run(|| ()).await.unwrap();
            assert!(begun.try_recv().is_err());
        }
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let asked = service.answer(move |_| {
            wait.recv().expect("the test lets it go on");
            Ok("answered")
        });
        assert_eq!(asked.await.unwrap_err().code, Code::TookTooLong);
        go.send(()).unwrap();
    }

    #[tokio::test]
    async fn a_question_stops_when_its_time_is_up_or_its_client_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path(), 2);
        // Never ends by itself; its end is told.
        let endless = || {
            let (began, begun) = tokio::sync::oneshot::channel();
            let (told, heard) = std::sync::mpsc::channel();
            let question = move |service: &Inquiry| {
                let _ = began.send(());
                while service.go_on().is_ok() {
                    std::thread::yield_now();
                }
                let asked = service.store.get("a").unwrap_err();
                told.send(matches!(asked, wonbon_store::StoreError::Cancelled)).unwrap();
                // As every question does; it may be heard before the time itself.
                service.go_on()
            };
            (question, begun, heard)
        };
        // On a busy machine the time may be up before a thread begins; then it never does.
        loop {
            let (question, _begun, stopped) = endless();
            assert_eq!(service.answer(question).await.unwrap_err().code, Code::TookTooLong);
            if let Ok(stopped) = stopped.recv() {
                break assert!(stopped);
            }
        }
        loop {
            let (question, begun, stopped) = endless();
            tokio::select! {
                answer = service.answer(question) => assert!(answer.is_err()),
                _ = begun => {}
            }
            if let Ok(stopped) = stopped.recv() {
                break assert!(stopped);
            }
        }
        assert_eq!(service.metrics.questions.get(), 0);
    }

    #[tokio::test]
    async fn what_is_told_as_too_late_never_begins() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path(), 1);
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let busy = service.threads.run(move || wait.recv());
        let (began, begun) = std::sync::mpsc::channel::<()>();
        let act = service.act(move |_| {
            let _ = began.send(());
            Ok(())
        });
        assert_eq!(act.await.unwrap_err().code, Code::TookTooLong);
        go.send(()).unwrap();
        busy.await.unwrap().unwrap();
        // The one thread has passed the action when it answers this.
        service.threads.run(|| ()).await.unwrap();
        assert!(begun.try_recv().is_err());
    }
}
