//! A proxy before a server's socket that understands the protocol's messages and brings about one fault at a stated place.
//!
//! The place is counted within a *turn*: from the message by which a writer begins its transaction, on the connection on which
//! that is seen first. So the same fault comes at the same place in every run, whatever other connections do beside it.
//!
//! A client's statement that shall fail is replaced by one that the server refuses, and the code of its refusal is replaced
//! too: the server's transaction has really failed then, as after a serialization failure.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

/// By what a turn's begin is known.
const BEGINS_TURN: &[u8] = b"READ COMMITTED READ WRITE";
/// A statement that no server has prepared.
const UNKNOWN_STATEMENT: &[u8] = b"injected fault";

/// What a client sends instead of a startup's version, to ask for TLS.
const ASKS_FOR_TLS: [u8; 4] = 80_877_103_u32.to_be_bytes();

/// Whose bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Those of the client.
    Upwards,
    /// Those of the server.
    Downwards,
}

/// A place in a turn: after so many messages in a direction, and so many bytes of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Whose messages are counted.
    pub direction: Direction,
    /// Whole messages.
    pub messages: usize,
    /// Bytes of the one after them.
    pub bytes: usize,
}

/// What happens in the next turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is cut there; what the other direction still had to say is lost too.
    Cut(Place),
    /// From there on nothing is passed on, in either direction, until [`Proxy::release`].
    Hold(Place),
    /// The statement of this number fails with this code of SQL, which has five characters.
    Fail(usize, &'static str),
}

/// The sizes of the messages of a turn, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnMessages {
    /// Of the client.
    pub upwards: Vec<usize>,
    /// Of the server.
    pub downwards: Vec<usize>,
    /// How many of the client's are statements.
    pub statements: usize,
}

#[derive(Default)]
struct Plan {
    fault: Option<Fault>,
    /// The connection whose turn is recorded.
    turn_of: Option<u32>,
    messages: TurnMessages,
    /// Which connection is held.
    held: Option<u32>,
    /// All connections are held.
    all_held: bool,
    replaced: Vec<(Vec<u8>, Vec<u8>)>,
    /// How often the fault came about.
    faults: u64,
}

#[derive(Default)]
struct State {
    plan: Mutex<Plan>,
    changed: Condvar,
}

impl State {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().expect("no one panics with it")
    }

    /// Waits as long as this connection is held.
    fn wait_while_held(&self, connection: u32) {
        let held = |plan: &mut Plan| plan.all_held || plan.held == Some(connection);
        drop(self.changed.wait_while(self.plan(), held).expect("no one panics with it"));
    }
}

/// A proxy before the socket of a server.
pub struct Proxy {
    folder: PathBuf,
    state: Arc<State>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Listens in a folder of its own and passes on to the socket in a server's folder.
    ///
    /// # Panics
    ///
    /// If it cannot listen.
    #[must_use]
    pub fn start(server: &Path) -> Self {
        Self::start_delayed(server, Duration::ZERO)
    }

    /// The same; every byte takes so long in either direction.
    ///
    /// # Panics
    ///
    /// If it cannot listen.
    #[must_use]
    pub fn start_delayed(server: &Path, delay: Duration) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wonbon-proxy-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // Left over by a process of the same number.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("the name is new");
        let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).expect("it can listen");
        let state = Arc::new(State::default());
        let target = server.join(".s.PGSQL.5432");
        let shared = state.clone();
        std::thread::spawn(move || {
            for (number, client) in (0..).zip(listener.incoming()) {
                let Ok(client) = client else { return };
                // A server that is down refuses its client.
                let Ok(server) = UnixStream::connect(&target) else { continue };
                pass_both_ways(&client, &server, number, delay, &shared);
            }
        });
        Proxy { folder, state }
    }

    /// The folder of its socket.
    #[must_use]
    pub fn sockets(&self) -> &Path {
        &self.folder
    }

    /// Brings about a fault in the next turn that begins.
    pub fn in_next_turn(&self, fault: Fault) {
        self.record();
        self.state.plan().fault = Some(fault);
    }

    /// Forgets a fault that did not come about; returns whether it did.
    #[must_use]
    pub fn disarm(&self) -> bool {
        self.state.plan().fault.take().is_none()
    }

    /// How many faults came about.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.state.plan().faults
    }

    /// Records the messages of the next turn.
    pub fn record(&self) {
        let mut plan = self.state.plan();
        (plan.turn_of, plan.messages) = (None, TurnMessages::default());
    }

    /// The messages of the turn that began first since [`Proxy::record`], until now.
    #[must_use]
    pub fn messages(&self) -> TurnMessages {
        self.state.plan().messages.clone()
    }

    /// Passes nothing on any more, on any connection.
    pub fn hold(&self) {
        self.state.plan().all_held = true;
    }

    /// Passes on again what was held.
    pub fn release(&self) {
        let mut plan = self.state.plan();
        (plan.all_held, plan.held) = (false, None);
        self.state.changed.notify_all();
    }

    /// From now on these bytes of the server are others, of the same number.
    ///
    /// # Panics
    ///
    /// If the numbers differ.
    pub fn replace(&self, from: &[u8], to: &[u8]) {
        assert_eq!(from.len(), to.len());
        self.state.plan().replaced.push((from.to_vec(), to.to_vec()));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.release();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn pass_both_ways(
    client: &UnixStream,
    server: &UnixStream,
    number: u32,
    delay: Duration,
    state: &Arc<State>,
) {
    for direction in [Direction::Upwards, Direction::Downwards] {
        let (from, to) = match direction {
            Direction::Upwards => (client, server),
            Direction::Downwards => (server, client),
        };
        let copies = from.try_clone().and_then(|from| Ok((from, to.try_clone()?)));
        // Too many open files: the client is refused.
        let Ok((from, to)) = copies else { return };
        let state = state.clone();
        let mut way = Way {
            number,
            direction,
            state,
            has_startup: direction == Direction::Upwards,
            delayed: None,
        };
        if !delay.is_zero()
            && let Ok(later) = to.try_clone()
        {
            way.delayed = Some((delay, send_later(later)));
        }
        std::thread::spawn(move || way.pass(from, to));
    }
}

/// Takes bytes and when they are due.
type Later = mpsc::Sender<(Instant, Vec<u8>)>;

/// A thread that sends what it is given at its time.
fn send_later(mut to: UnixStream) -> Later {
    let (sender, waiting) = mpsc::channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        for (due, bytes) in waiting {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    sender
}

/// One direction of a connection.
struct Way {
    number: u32,
    direction: Direction,
    state: Arc<State>,
    /// Whether the first message, which has no type, is still to come.
    has_startup: bool,
    delayed: Option<(Duration, Later)>,
}

/// What becomes of a message.
enum Passed {
    Whole,
    /// Only so many bytes of it; then the connection is cut.
    Cut(usize),
    /// Only so many bytes of it until the connection is released.
    Held(usize),
}

impl Way {
    fn pass(&mut self, mut from: UnixStream, mut to: UnixStream) {
        let mut waiting = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            waiting.extend_from_slice(&buffer[..read]);
            let (mut done, mut sent) = (0, Vec::new());
            while let Some(length) = self.message_length(&waiting[done..]) {
                let mut message = waiting[done..done + length].to_vec();
                done += length;
                if self.has_startup {
                    // Encryption is refused here, whose answer is no message; the startup comes next.
                    if message.get(4..8) == Some(&ASKS_FOR_TLS) {
                        let _ = from.write_all(b"N");
                        continue;
                    }
                    self.has_startup = false;
                    sent.extend_from_slice(&message);
                    continue;
                }
                match self.look_at(&mut message) {
                    Passed::Whole => sent.extend_from_slice(&message),
                    Passed::Cut(bytes) => {
                        sent.extend_from_slice(&message[..bytes]);
                        self.send(&mut to, sent);
                        let _ = from.shutdown(std::net::Shutdown::Both);
                        let _ = to.shutdown(std::net::Shutdown::Both);
                        return;
                    }
                    Passed::Held(bytes) => {
                        sent.extend_from_slice(&message[..bytes]);
                        self.send(&mut to, std::mem::take(&mut sent));
                        self.state.wait_while_held(self.number);
                        sent.extend_from_slice(&message[bytes..]);
                    }
                }
            }
            waiting.drain(..done);
            self.state.wait_while_held(self.number);
            if !self.send(&mut to, sent) {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
        let _ = from.shutdown(std::net::Shutdown::Both);
    }

    fn send(&self, to: &mut UnixStream, bytes: Vec<u8>) -> bool {
        match &self.delayed {
            Some((delay, later)) => later.send((Instant::now() + *delay, bytes)).is_ok(),
            None => to.write_all(&bytes).is_ok(),
        }
    }

    /// The length of the message at the beginning of these bytes, if it is whole.
    fn message_length(&self, bytes: &[u8]) -> Option<usize> {
        let type_bytes = usize::from(!self.has_startup);
        let length = bytes.get(type_bytes..type_bytes + 4)?;
        let length = u32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
        let length = length + type_bytes;
        (bytes.len() >= length).then_some(length)
    }

    fn look_at(&mut self, message: &mut Vec<u8>) -> Passed {
        let mut plan = self.state.plan();
        let upwards = self.direction == Direction::Upwards;
        if upwards && plan.turn_of.is_none() && message[0] == b'Q' && contains(message, BEGINS_TURN)
        {
            plan.turn_of = Some(self.number);
        }
        if !upwards {
            for (from, to) in &plan.replaced {
                replace_all(message, from, to);
            }
        }
        if plan.turn_of != Some(self.number) {
            return Passed::Whole;
        }
        let messages = match upwards {
            true => &mut plan.messages.upwards,
            false => &mut plan.messages.downwards,
        };
        let number = messages.len();
        messages.push(message.len());
        if upwards && [b'Q', b'B'].contains(&message[0]) {
            let statement = plan.messages.statements;
            plan.messages.statements += 1;
            if let Some(Fault::Fail(wanted, code)) = plan.fault
                && wanted == statement
            {
                *message = refused(message[0]);
                // The server's codes for a statement that it has not prepared, and for a query that is none.
                plan.replaced.retain(|(from, _)| !from.starts_with(b"C"));
                for known in ["C26000", "C42601"] {
                    let code = format!("C{code}").into_bytes();
                    plan.replaced.push((known.as_bytes().to_vec(), code));
                }
                (plan.fault, plan.faults) = (None, plan.faults + 1);
                return Passed::Whole;
            }
        }
        let is_here = |at: Place| at.direction == self.direction && number >= at.messages;
        // At the end of the message before it: this one does not come through.
        let bytes = |at: Place| match number == at.messages {
            true => at.bytes.min(message.len()),
            false => 0,
        };
        let passed = match plan.fault {
            Some(Fault::Cut(at)) if is_here(at) => Passed::Cut(bytes(at)),
            Some(Fault::Hold(at)) if is_here(at) => {
                plan.held = Some(self.number);
                Passed::Held(bytes(at))
            }
            _ => return Passed::Whole,
        };
        (plan.fault, plan.faults) = (None, plan.faults + 1);
        passed
    }
}

/// A message of this type that the server refuses.
fn refused(kind: u8) -> Vec<u8> {
    let mut body = Vec::new();
    if kind == b'B' {
        // No portal; no formats, values, or formats of the answer.
        body.push(0);
        body.extend_from_slice(UNKNOWN_STATEMENT);
        body.extend_from_slice(&[0; 7]);
    } else {
        body.extend_from_slice(UNKNOWN_STATEMENT);
        body.push(0);
    }
    let mut message = vec![kind];
    message.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    message.extend_from_slice(&body);
    message
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn replace_all(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let places: Vec<usize> = (0..bytes.len().saturating_sub(from.len() - 1))
        .filter(|&at| bytes[at..].starts_with(from))
        .collect();
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
}
