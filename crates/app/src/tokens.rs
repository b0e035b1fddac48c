//! Who may do what: bearer tokens with scopes and an expiry, kept hashed in a file.
//!
//! A token is 256 random bits, so a plain SHA-256 of it can be kept: there is nothing to guess that a
//! slow hash would slow down. The file is JSON, one token a line, readable by its owner only; it is
//! written whole under another name and then renamed. A process that changes it holds a lock on `FILE.lock`
//! from reading to writing ([`Tokens::change`]); otherwise one of two simultaneous changes could restore a
//! token that the other one revoked. The lock needs a file of its own because the file of tokens is replaced.
//!
//! Where the file would be named, the address of a store in PostgreSQL may be: then the instances on that store share their
//! tokens, which are the same lines in a row of it.
//!
//! The service looks at the file's time, length and number at most once a second and reads it again when
//! they changed: a revoked token stops working without a restart.
//!
//! Not here: which route needs which scope (`routes`).

use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wonbon_files::ReplacedFile;
use wonbon_store::{SharedText, Store, StoreError};
use wonbon_time::Timestamp;

/// What begins every token, so that one that leaked is known for what it is.
const PREFIX: &str = "wonbon_";

/// What they are called in a store in PostgreSQL.
const SHARED_NAME: &str = "tokens";

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Asking.
    Read,
    /// Storing, deleting and watching documents.
    Add,
    /// Backups, and everything else.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Scope; 3] = [Scope::Read, Scope::Add, Scope::Admin];

    /// The name in files, flags and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Add => "add",
            Scope::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is no scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a scope is read, add or admin")]
pub struct NotAScope;

impl FromStr for Scope {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == text).ok_or(NotAScope)
    }
}

/// Why a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("cannot {doing} the tokens in {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A line is no token.
    #[error("line {line} of the tokens in {} is none", path.display())]
    NotAToken {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Why not.
        source: serde_json::Error,
    },
    /// The store that keeps them does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no token of this id.
    #[error("there is no token {id} in {}", Store::shown_place(path))]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The id.
        id: String,
    },
}

/// A token as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What it is called in lists and logs; not secret.
    pub id: String,
    /// For what or whom it was made.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created: String,
    /// When it ends, if it does.
    pub expires: Option<String>,
    /// SHA-256 of the token, in hexadecimal.
    hash: String,
}

impl Token {
    /// Whether it allows this. Who may administer may do everything; who may add may read what it
    /// adds.
    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|held| *held >= scope)
    }

    /// Whether its time is over.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.as_deref().is_some_and(|expires| {
            // A time that cannot be read is over.
            !Timestamp::parse_text(expires).is_ok_and(|expires| expires > now)
        })
    }
}

/// Random bytes from the system.
///
/// # Errors
///
/// If the system gives none.
pub fn random_bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

fn hash_of(secret: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(secret.as_bytes()))
}

/// The tokens of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    /// In the order in which they were made.
    pub tokens: Vec<Token>,
}

impl Tokens {
    /// Reads a file; one that is not there has no tokens.
    ///
    /// # Errors
    ///
    /// [`TokenError::Io`], [`TokenError::NotAToken`].
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        if Store::is_in_postgres(path) {
            return Tokens::parse(path, &SharedText::open(path, SHARED_NAME)?.read()?);
        }
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(TokenError::Io { doing: "read", path: path.into(), source }),
        };
        Tokens::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, TokenError> {
        let mut tokens = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim().is_empty() {
                continue;
            }
            let token = serde_json::from_str(text).map_err(|source| TokenError::NotAToken {
                path: Store::shown_place(path).into(),
                line,
                source,
            })?;
            tokens.push(token);
        }
        Ok(Tokens { tokens })
    }

    /// Changes a file: nobody else changes it between reading and writing. Nothing is written if `change`
    /// fails or leaves the tokens as they are.
    ///
    /// # Errors
    ///
    /// [`TokenError::Io`], [`TokenError::NotAToken`].
    pub fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Tokens) -> std::io::Result<T>,
    ) -> Result<T, TokenError> {
        if Store::is_in_postgres(path) {
            let shared = SharedText::open(path, SHARED_NAME)?;
            return Ok(shared.change(|text| {
                let before = Tokens::parse(path, text).map_err(std::io::Error::other)?;
                let mut tokens = before.clone();
                let changed = change(&mut tokens)?;
                let after = (tokens != before)
                    .then(|| String::from_utf8(tokens.lines()).expect("JSON is UTF-8"));
                Ok((changed, after))
            })?);
        }
        let io = |doing| move |source| TokenError::Io { doing, path: path.into(), source };
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let _lock = wonbon_files::lock::wait(Path::new(&lock)).map_err(io("lock"))?;
        let before = Tokens::read(path)?;
        let mut tokens = before.clone();
        let changed = change(&mut tokens).map_err(io("change"))?;
        if tokens != before {
            tokens.write(path)?;
        }
        Ok(changed)
    }

    /// Writes the file: there whole or not at all, for its owner only. For whoever makes a new file; one
    /// that others may change at the same time is changed by [`Tokens::change`].
    ///
    /// # Errors
    ///
    /// [`TokenError::Io`].
    pub fn write(&self, path: &Path) -> Result<(), TokenError> {
        let io = |source| TokenError::Io { doing: "write", path: path.into(), source };
        let lines = self.lines();
        let mut file = ReplacedFile::create_private(path).map_err(|error| io(error.source))?;
        file.write_all(&lines).map_err(io)?;
        file.commit().map_err(|error| io(error.source))
    }

    /// A line for each.
    fn lines(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for token in &self.tokens {
            serde_json::to_writer(&mut lines, token).expect("it is made of text");
            lines.push(b'\n');
        }
        lines
    }

    /// Makes a token and tells it: it is told this once.
    ///
    /// # Errors
    ///
    /// If the system gives no random bytes.
    pub fn create(
        &mut self,
        name: &str,
        scopes: &[Scope],
        expires: Option<Timestamp>,
    ) -> std::io::Result<String> {
        let secret = format!("{PREFIX}{}", HEXLOWER.encode(&random_bytes::<32>()?));
        let mut scopes = scopes.to_vec();
        scopes.sort_unstable();
        scopes.dedup();
        self.tokens.push(Token {
            id: HEXLOWER.encode(&random_bytes::<4>()?),
            name: name.to_owned(),
            scopes,
            created: Timestamp::now().to_string(),
            expires: expires.map(|time| time.to_string()),
            hash: hash_of(&secret),
        });
        Ok(secret)
    }

    /// Takes a token out; tells whether it was there.
    pub fn revoke(&mut self, id: &str) -> bool {
        let before = self.tokens.len();
        self.tokens.retain(|token| token.id != id);
        self.tokens.len() < before
    }

    /// The token with this secret.
    #[must_use]
    pub fn find(&self, secret: &str) -> Option<&Token> {
        let hash = hash_of(secret);
        // What can be learned from how long this takes is about hashes of random bits.
        self.tokens.iter().find(|token| token.hash == hash)
    }
}

/// Tokens that are read again when their file changes.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    /// Where they are, if not in a file.
    shared: Option<SharedText>,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    by_hash: Arc<HashMap<String, Token>>,
    state: Option<FileState>,
    looked: Instant,
}

impl TokenFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// As [`Tokens::read`].
    pub fn open(path: &Path) -> Result<Self, TokenError> {
        let shared = match Store::is_in_postgres(path) {
            true => Some(SharedText::open(path, SHARED_NAME)?),
            false => None,
        };
        let state = state_of(path);
        let by_hash = by_hash(Tokens::read(path)?);
        let known = Mutex::new(Known { by_hash, state, looked: Instant::now() });
        Ok(TokenFile { path: path.into(), shared, known })
    }

    /// The token with this secret, as the file has it now.
    pub fn find(&self, secret: &str) -> Option<Token> {
        let mut known = self.known.lock().expect("no one panics with it");
        if known.looked.elapsed() >= LOOK_EVERY {
            known.looked = Instant::now();
            let state = state_of(&self.path);
            if state != known.state || self.shared.is_some() {
                let tokens = match &self.shared {
                    Some(shared) => shared
                        .read()
                        .map_err(TokenError::from)
                        .and_then(|text| Tokens::parse(&self.path, &text)),
                    None => Tokens::read(&self.path),
                };
                match tokens {
                    Ok(tokens) => {
                        known.by_hash = by_hash(tokens);
                        known.state = state;
                    }
                    // The tokens that were read last stay: a file half edited locks nobody out.
                    Err(error) => tracing::error!(%error, "the tokens were not read again"),
                }
            }
        }
        let by_hash = known.by_hash.clone();
        drop(known);
        by_hash.get(&hash_of(secret)).cloned()
    }
}

fn by_hash(tokens: Tokens) -> Arc<HashMap<String, Token>> {
    Arc::new(tokens.tokens.into_iter().map(|token| (token.hash.clone(), token)).collect())
}

/// What changes when a file is replaced: its time, its length, and its number in the file system. Two
/// changes within one tick of the file system's clock have the same time.
type FileState = (SystemTime, u64, u64);

fn state_of(path: &Path) -> Option<FileState> {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0;
    Some((metadata.modified().ok()?, metadata.len(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_secret_and_the_file_does_not_hold_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let mut tokens = Tokens::read(&path).unwrap();
        let secret = tokens.create("crawler", &[Scope::Add, Scope::Read], None).unwrap();
        let other =
            tokens.create("reader", &[Scope::Read], Some(Timestamp::from_microseconds(5))).unwrap();
        assert_eq!(secret.len(), PREFIX.len() + 64);
        tokens.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&secret[PREFIX.len()..]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }

        let mut tokens = Tokens::read(&path).unwrap();
        let token = tokens.find(&secret).unwrap();
        assert_eq!(token.name, "crawler");
        assert!(token.allows(Scope::Read) && token.allows(Scope::Add));
        assert!(!token.allows(Scope::Admin) && !token.is_expired(Timestamp::now()));
        assert!(tokens.find(&other).unwrap().is_expired(Timestamp::now()));
        assert!(tokens.find("wonbon_0").is_none());
        let id = token.id.clone();
        assert!(tokens.revoke(&id) && !tokens.revoke(&id));
        assert!(tokens.find(&secret).is_none());
    }

    #[test]
    fn changes_at_the_same_time_are_all_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let (threads, rounds) = (8, 30);
        let kept: Vec<String> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|thread| {
                    let path = &path;
                    scope.spawn(move || {
                        let mut kept = Vec::new();
                        for round in 0..rounds {
                            let name = format!("{thread} {round}");
                            let create = |name: &str| {
                                Tokens::change(path, |tokens| {
                                    let secret = tokens.create(name, &[Scope::Read], None)?;
                                    Ok((secret, tokens.tokens.last().unwrap().id.clone()))
                                })
                            };
                            let (secret, _) = create(&name).unwrap();
                            kept.push(secret);
                            let (_, id) = create("to be revoked").unwrap();
                            let revoked = Tokens::change(path, |tokens| Ok(tokens.revoke(&id)));
                            assert!(revoked.unwrap());
                        }
                        kept
                    })
                })
                .collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let tokens = Tokens::read(&path).unwrap();
        assert_eq!(tokens.tokens.len(), threads * rounds);
        assert!(kept.iter().all(|secret| tokens.find(secret).is_some()));
        assert!(tokens.tokens.iter().all(|token| token.name != "to be revoked"));
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["tokens", "tokens.lock"]);
    }

    #[test]
    fn a_file_of_the_same_time_and_length_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let (mut one, mut other) = (Tokens::default(), Tokens::default());
        one.create("a", &[Scope::Read], None).unwrap();
        other.create("b", &[Scope::Read], None).unwrap();
        other.tokens[0].created.clone_from(&one.tokens[0].created);
        one.write(&path).unwrap();
        let (before, time) = (state_of(&path), std::fs::metadata(&path).unwrap().modified());
        // The first file is kept, so that its number is not given again.
        std::fs::hard_link(&path, folder.path().join("first")).unwrap();
        other.write(&path).unwrap();
        std::fs::File::open(&path).unwrap().set_modified(time.unwrap()).unwrap();
        assert_ne!(state_of(&path), before);
    }

    #[test]
    fn a_token_ends_at_its_moment_and_not_before() {
        let mut tokens = Tokens::default();
        let moment = Timestamp::from_microseconds(1_000_000);
        tokens.create("a", &[Scope::Read], Some(moment)).unwrap();
        let ends = |now| tokens.tokens[0].is_expired(Timestamp::from_microseconds(now));
        assert!(!ends(999_999) && ends(1_000_000) && ends(1_000_001));
    }

    #[test]
    fn scopes_are_known_by_their_names_and_kept_once_in_order() {
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse::<Scope>(), Ok(scope));
        }
        assert_eq!("Read".parse::<Scope>(), Err(NotAScope));
        let mut tokens = Tokens::default();
        let asked = [Scope::Admin, Scope::Read, Scope::Admin, Scope::Add];
        tokens.create("a", &asked, None).unwrap();
        assert_eq!(tokens.tokens[0].scopes, Scope::ALL);
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_no_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        assert_eq!(Tokens::read(&path).unwrap(), Tokens::default());
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(Tokens::read(&path), Err(TokenError::Io { doing: "read", .. })));
        let changed = Tokens::change(&path, |tokens| tokens.create("a", &[Scope::Read], None));
        assert!(changed.is_err() && path.is_dir());
    }

    #[test]
    fn an_opened_file_follows_what_is_made_and_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let secret = Tokens::change(&path, |tokens| tokens.create("a", &[Scope::Read], None));
        let secret = secret.unwrap();
        let file = TokenFile::open(&path).unwrap();
        assert_eq!(file.find(&secret).unwrap().name, "a");
        let other = Tokens::change(&path, |tokens| {
            tokens.tokens.clear();
            tokens.create("b", &[Scope::Read], None)
        });
        let other = other.unwrap();
        let begun = Instant::now();
        while file.find(&other).is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the file is not read again");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(file.find(&secret).is_none(), "a revoked token is known");
        // A file that is half edited locks nobody out.
        std::fs::write(&path, "{").unwrap();
        std::thread::sleep(LOOK_EVERY);
        assert!(file.find(&other).is_some());
    }

    #[test]
    fn a_line_that_is_no_token_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::fs::write(&path, "\n{\"id\":1}\n").unwrap();
        let error = Tokens::read(&path).unwrap_err();
        assert!(error.to_string().starts_with("line 2 of the tokens in"), "{error}");
    }
}
