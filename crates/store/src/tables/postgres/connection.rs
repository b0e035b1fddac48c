//! A connection to PostgreSQL that threads without a runtime can use.
//!
//! Why not the synchronous driver: it cannot send several statements at once, and it panics on the threads of a runtime, where the
//! service answers checks. Here one thread of the store drives all sockets; whoever asks parks until the answer is there.
//!
//! A connection whose turn failed is never used again as it is: it is rolled back, or dropped and opened anew.
//!
//! A server that says nothing (it is stopped, or something between swallows bytes) is not waited for: the connection is given
//! up after [`ANSWER_PATIENCE`]. A statement that only reads may take longer, as long as the server still answers others.

use std::collections::HashMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row as SqlRow, SimpleQueryMessage, Statement};

use super::address::{Address, Tls};
use crate::error::StoreError;
use crate::params::random_identity;

/// How long connecting to one host may take, its greeting included, if the address does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer may take: longer than a turn waits for the head.
const ANSWER_PATIENCE: Duration = Duration::from_secs(12);

/// What every session says first. Nobody waits for the head longer than ten seconds. A session that reads may be idle for
/// as long as who asked takes over an answer; only a turn may not.
const SESSION: &str = "SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '10s'; \
    SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; \
    SET statement_timeout = 0; SET synchronous_commit = on; SET client_min_messages = warning";

/// A value of a statement.
pub(super) type Value<'a> = &'a (dyn ToSql + Sync);

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Statements that read, and may take long.
    Reading,
    /// Turns and the head, for which others wait.
    Turns,
}

/// The thread that drives the sockets.
pub(super) struct Driver {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(super) fn start() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread =
            std::thread::Builder::new().name("wonbon-postgres".to_owned()).spawn(move || {
                // An error says that the sender is gone, which is the end as well.
                let _ = runtime.block_on(stopped);
            })?;
        Ok(Driver { handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // A thread that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

type Answer = Result<Vec<SqlRow>, tokio_postgres::Error>;

/// Statements that are sent together, each before the answer to the one before it is there.
#[derive(Default)]
pub(super) struct Flight<'a> {
    statements: Vec<Pin<Box<dyn Future<Output = Answer> + 'a>>>,
}

impl<'a> Flight<'a> {
    /// A statement without values, such as BEGIN.
    pub(super) fn plain(&mut self, connection: &'a Connection, sql: &'a str) {
        self.statements.push(Box::pin(async move {
            connection.client.batch_execute(sql).await.map(|()| Vec::new())
        }));
    }

    /// A prepared statement.
    pub(super) fn prepared(
        &mut self,
        connection: &'a Connection,
        statement: &'a Statement,
        values: &'a [Value<'a>],
    ) {
        self.statements
            .push(Box::pin(async move { connection.client.query(statement, values).await }));
    }

    /// The answers, in order.
    fn answers(mut self) -> impl Future<Output = Vec<Answer>> + 'a {
        let mut answers: Vec<Option<Answer>> = Vec::new();
        answers.resize_with(self.statements.len(), || None);
        std::future::poll_fn(move |context| {
            let mut all = true;
            // The first look at a statement sends it, so they leave in this order.
            for (statement, answer) in self.statements.iter_mut().zip(&mut answers) {
                if answer.is_none() {
                    match statement.as_mut().poll(context) {
                        Poll::Ready(found) => *answer = Some(found),
                        Poll::Pending => all = false,
                    }
                }
            }
            match all {
                true => Poll::Ready(answers.drain(..).flatten().collect()),
                false => Poll::Pending,
            }
        })
    }
}

/// A session.
pub(super) struct Connection {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
    /// Ends the connection.
    driving: AbortHandle,
    /// A setting of the session that no other has.
    mark: String,
    /// For a session that may ask the server whether it still answers: how to connect.
    again: Option<(Handle, Address)>,
}

impl Connection {
    pub(super) fn open(
        driver: &Driver,
        address: &Address,
        purpose: Purpose,
    ) -> Result<Self, StoreError> {
        let handle = driver.handle.clone();
        let (client, driving, mark) = connect(&handle, address)?;
        let again = (purpose == Purpose::Reading).then(|| (handle, address.clone()));
        Ok(Connection { client, statements: Mutex::default(), driving, mark, again })
    }

    /// Whether the session behind it is still the one that was opened. A pooler that is not in session mode hands it to
    /// others in between.
    pub(super) fn is_same_session(&self) -> Result<bool, tokio_postgres::Error> {
        let answers = self.wait(self.client.simple_query("SHOW wonbon.session"))?;
        Ok(answers.iter().any(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0) == Some(&self.mark),
            _ => false,
        }))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Waits in this thread for an answer. The connection is ended if the server says nothing for too long; then the answer
    /// is an error.
    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut deadline = Some(Instant::now() + ANSWER_PATIENCE);
        loop {
            if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
                return answer;
            }
            let Some(end) = deadline else {
                std::thread::park();
                continue;
            };
            let left = end.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                std::thread::park_timeout(left);
                continue;
            }
            deadline = match &self.again {
                Some((handle, address)) if connect(handle, address).is_ok() => {
                    Some(Instant::now() + ANSWER_PATIENCE)
                }
                _ => {
                    self.driving.abort();
                    None
                }
            };
        }
    }

    /// A statement, prepared once.
    pub(super) fn statement(&self, sql: &str) -> Result<Statement, tokio_postgres::Error> {
        let known = self.statements.lock().expect("no one panics with it").get(sql).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let statement = self.wait(self.client.prepare(sql))?;
        let mut statements = self.statements.lock().expect("no one panics with it");
        statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Runs one statement.
    pub(super) fn query(&self, sql: &str, values: &[Value<'_>]) -> Answer {
        let statement = self.statement(sql)?;
        self.wait(self.client.query(&statement, values))
    }

    /// Sends statements together and waits for all answers. The first error counts: what follows it was refused.
    pub(super) fn fly(
        &self,
        flight: Flight<'_>,
    ) -> Result<Vec<Vec<SqlRow>>, tokio_postgres::Error> {
        self.wait(flight.answers()).into_iter().collect()
    }

    /// Runs statements without values, one after another.
    pub(super) fn run(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        self.wait(self.client.batch_execute(sql))
    }

    /// Sends a statement without values and does not wait for its answer.
    pub(super) fn send(&self, sql: &str) {
        let mut future = pin!(self.client.batch_execute(sql));
        // The first look sends it. The driver reads the answer and drops it; an error shows at the next statement.
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
}

/// Connects to the first host that takes it; the connection is driven on the driver's thread until it is aborted.
fn connect(
    handle: &Handle,
    address: &Address,
) -> Result<(Client, AbortHandle, String), StoreError> {
    let unreachable = |what: String| StoreError::Unreachable { place: address.to_string(), what };
    let mut why = "no host is named".to_owned();
    for mut config in address.hosts() {
        let patience = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        config
            .tcp_user_timeout(Duration::from_secs(5))
            .keepalives_idle(Duration::from_secs(5))
            .keepalives_interval(Duration::from_secs(1))
            .keepalives_retries(3);
        let tls = address.tls.clone();
        let mark = random_identity();
        let session = format!(
            "{SESSION}; SET search_path TO \"{}\"; SET wonbon.session = '{mark}'",
            address.schema
        );
        let (answer, answered) = mpsc::channel();
        let spawner = handle.clone();
        handle.spawn(async move {
            let connecting = connect_to_host(config, tls, session, spawner);
            // Nobody waits any more: nothing to tell.
            let _ = answer.send(tokio::time::timeout(patience, connecting).await);
        });
        match answered.recv() {
            Ok(Ok(Ok((client, driving)))) => return Ok((client, driving, mark)),
            Ok(Ok(Err(error))) => why = in_words(&error),
            Ok(Err(_)) => why = "it does not answer".to_owned(),
            Err(_) => why = "the store is closing".to_owned(),
        }
    }
    Err(unreachable(why))
}

async fn connect_to_host(
    config: tokio_postgres::Config,
    tls: Tls,
    session: String,
    spawner: Handle,
) -> Result<(Client, AbortHandle), tokio_postgres::Error> {
    // Whoever waits for an answer is told why the connection ended.
    let (client, driving) = match tls {
        Tls::Off => {
            let (client, connection) = config.connect(tokio_postgres::NoTls).await?;
            let driving = spawner.spawn(async move { drop(connection.await) });
            (client, driving.abort_handle())
        }
        Tls::On(tls) => {
            let tls = tokio_postgres_rustls::MakeRustlsConnect::new((*tls).clone());
            let (client, connection) = config.connect(tls).await?;
            let driving = spawner.spawn(async move { drop(connection.await) });
            (client, driving.abort_handle())
        }
    };
    client.batch_execute(&session).await?;
    Ok((client, driving))
}

/// The sentence of an error.
pub(super) fn in_words(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(told) => told.message().to_owned(),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

/// Whether an error says that the connection is gone.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || error.as_db_error().is_none() || {
        error.code().is_some_and(|code| {
            [
                &SqlState::ADMIN_SHUTDOWN,
                &SqlState::CRASH_SHUTDOWN,
                &SqlState::CANNOT_CONNECT_NOW,
                &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            ]
            .contains(&code)
        })
    }
}

/// The store's error.
pub(super) fn failed(error: &tokio_postgres::Error, place: &Address) -> StoreError {
    let what = in_words(error);
    let code = error.code();
    let is = |states: &[&SqlState]| code.is_some_and(|code| states.contains(&code));
    if is(&[&SqlState::DISK_FULL]) {
        StoreError::DiskFull
    } else if is(&[
        &SqlState::T_R_SERIALIZATION_FAILURE,
        &SqlState::T_R_DEADLOCK_DETECTED,
        &SqlState::LOCK_NOT_AVAILABLE,
        &SqlState::TOO_MANY_CONNECTIONS,
    ]) {
        StoreError::Busy { what }
    } else if is_lost(error) {
        StoreError::Unreachable { place: place.to_string(), what }
    } else {
        StoreError::Refused { place: place.to_string(), what }
    }
}
