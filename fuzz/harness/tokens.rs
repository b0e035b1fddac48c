//! Whatever stands in a file of tokens, it is read or a line of it is named; what was read is written back the same.

use std::path::Path;

use wonbon_app::tokens::{Scope, TokenError, TokenFile, Tokens};
use wonbon_time::Timestamp;

/// The bytes are the file.
///
/// # Panics
///
/// When a promise of `Tokens` does not hold.
pub(crate) fn tokens(data: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("tokens");
    std::fs::write(&path, data).expect("there is room");
    let lines = 1 + data.iter().filter(|&&byte| byte == b'\n').count();
    let mut tokens = match Tokens::read(&path) {
        Ok(tokens) => tokens,
        Err(error) => {
            match &error {
                TokenError::NotAToken { line, .. } => assert!((1..=lines).contains(line)),
                TokenError::Io { .. } => assert!(std::str::from_utf8(data).is_err(), "{error}"),
                other => panic!("{other}"),
            }
            assert!(TokenFile::open(&path).is_err(), "a file that is none opens nothing");
            let unchanged = Tokens::change(&path, |tokens| {
                tokens.tokens.clear();
                Ok(())
            });
            assert!(unchanged.is_err() && std::fs::read(&path).is_ok_and(|now| now == data));
            return;
        }
    };
    assert!(tokens.tokens.len() <= lines);
    for token in &tokens.tokens {
        for scope in Scope::ALL {
            assert_eq!(token.allows(scope), token.scopes.iter().max() >= Some(&scope));
        }
        assert!(token.expires.is_some() || !token.is_expired(Timestamp::now()));
    }
    same_again(&path, &tokens);
    // Nothing in a file makes a guess right.
    let opened = TokenFile::open(&path).expect("it was read");
    for guess in ["", "wonbon_", "wonbon_00"] {
        assert!(tokens.find(guess).is_none() && opened.find(guess).is_none());
    }
    let secret = tokens.create("one more", &[Scope::Add], None).expect("random bytes");
    same_again(&path, &tokens);
    let opened = TokenFile::open(&path).expect("it was written");
    assert!(opened.find(&secret).is_some_and(|token| !token.allows(Scope::Admin)));
}

fn same_again(path: &Path, tokens: &Tokens) {
    tokens.write(path).expect("there is room");
    assert_eq!(&Tokens::read(path).expect("it was written"), tokens);
}
