//! The state at rest, unreadable without the key.
//!
//! A sealed file is a line that says so, how the key is made, a nonce, and the text enciphered
//! with `XChaCha20-Poly1305`. Everything before the text is authenticated with it, so that no bit
//! of the file can be changed unnoticed.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use argon2::Argon2;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

/// The first bytes of every sealed file: what it is, and the version of its layout.
const HEADER: &[u8] = b"rutter-sealed-1\n";
const SALT: usize = 16;
const NONCE: usize = 24;
const KEY: usize = 32;
/// The shortest passphrase.
const LEAST: usize = 8;

/// Seals and opens with one key.
pub struct Key {
    secret: Secret,
    /// What the last salt makes of a passphrase: to find out is slow on purpose.
    derived: Mutex<Option<([u8; SALT], [u8; KEY])>>,
}

enum Secret {
    /// Random bytes, used as they are.
    Bytes([u8; KEY]),
    /// Words of a person, stretched with Argon2id and a salt of the file.
    Passphrase(String),
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([redacted])")
    }
}

/// Why something was not sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The key cannot be one.
    #[error(
        "a key is 64 hexadecimal digits, 32 bytes in base64, or a passphrase of at least {LEAST} characters"
    )]
    NotAKey,
    /// It is not what this key sealed, or not any more.
    #[error("the key is wrong, or the file was changed")]
    Refused,
    /// The system gave no random bytes.
    #[error("the system gives no random bytes")]
    NoRandom,
}

/// Whether these bytes claim to be sealed.
pub(super) fn is_sealed(bytes: &[u8]) -> bool {
    bytes.starts_with(HEADER)
}

impl Key {
    /// Reads a key: 64 hexadecimal digits, 32 bytes in base64, else a passphrase.
    pub fn new(text: &str) -> Result<Self, SealError> {
        let text = text.trim();
        let secret = match hex(text).or_else(|| STANDARD.decode(text).ok()?.try_into().ok()) {
            Some(bytes) => Secret::Bytes(bytes),
            None if text.chars().count() < LEAST => return Err(SealError::NotAKey),
            None => Secret::Passphrase(text.to_owned()),
        };
        Ok(Self { secret, derived: Mutex::default() })
    }

    /// Makes a text unreadable.
    pub fn seal(&self, text: &[u8]) -> Result<Vec<u8>, SealError> {
        let salt = match *self.derived.lock().unwrap_or_else(PoisonError::into_inner) {
            // One salt for as long as the process lives: a new one would cost a derivation.
            Some((salt, _)) => salt,
            None => random()?,
        };
        let nonce: [u8; NONCE] = random()?;
        let mut sealed = [HEADER, &salt, &nonce].concat();
        let payload = Payload { msg: text, aad: &sealed };
        let body = self.cipher(salt)?.encrypt(&XNonce::from(nonce), payload);
        sealed.extend(body.map_err(|_| SealError::Refused)?);
        Ok(sealed)
    }

    /// Makes it readable again.
    pub fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (aad, body) =
            sealed.split_at_checked(HEADER.len() + SALT + NONCE).ok_or(SealError::Refused)?;
        let rest = aad.strip_prefix(HEADER).ok_or(SealError::Refused)?;
        let (salt, nonce) = rest.split_first_chunk::<SALT>().ok_or(SealError::Refused)?;
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| SealError::Refused)?;
        let opened = self.cipher(*salt)?.decrypt(&XNonce::from(nonce), Payload { msg: body, aad });
        opened.map_err(|_| SealError::Refused)
    }

    fn cipher(&self, salt: [u8; SALT]) -> Result<XChaCha20Poly1305, SealError> {
        let key = match &self.secret {
            Secret::Bytes(bytes) => *bytes,
            Secret::Passphrase(words) => self.stretch(words, salt)?,
        };
        Ok(XChaCha20Poly1305::new(&key.into()))
    }

    fn stretch(&self, words: &str, salt: [u8; SALT]) -> Result<[u8; KEY], SealError> {
        let mut derived = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = derived.filter(|(known, _)| *known == salt) {
            return Ok(key);
        }
        let mut key = [0; KEY];
        let stretched = Argon2::default().hash_password_into(words.as_bytes(), &salt, &mut key);
        stretched.map_err(|_| SealError::NotAKey)?;
        *derived = Some((salt, key));
        Ok(key)
    }
}

fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], SealError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|_| SealError::NoRandom)?;
    Ok(bytes)
}

fn hex(text: &str) -> Option<[u8; KEY]> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect();
    if digits.len() == 2 * KEY { bytes.try_into().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    #[test]
    fn what_is_sealed_opens_with_the_same_key_alone() {
        for words in [HEX, "correct horse battery"] {
            let key = Key::new(words).unwrap();
            let sealed = key.seal(b"the plan").unwrap();
            assert!(is_sealed(&sealed) && !sealed.windows(4).any(|part| part == b"plan"));
            assert_eq!(Key::new(words).unwrap().open(&sealed).unwrap(), b"the plan");
            let other = Key::new("another horse").unwrap();
            assert_eq!(other.open(&sealed), Err(SealError::Refused));
            assert_ne!(key.seal(b"the plan").unwrap(), sealed, "a nonce is used once");
        }
    }

    #[test]
    fn hexadecimal_and_base64_are_the_same_key() {
        let bytes: Vec<u8> = (0..32).collect();
        let sealed = Key::new(HEX).unwrap().seal(b"x").unwrap();
        assert_eq!(Key::new(&STANDARD.encode(bytes)).unwrap().open(&sealed).unwrap(), b"x");
        assert_eq!(Key::new(&HEX.to_uppercase()).unwrap().open(&sealed).unwrap(), b"x");
    }

    #[test]
    fn no_bit_can_be_changed_and_no_byte_left_out() {
        let key = Key::new(HEX).unwrap();
        let sealed = key.seal(b"{}").unwrap();
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert_eq!(key.open(&changed), Err(SealError::Refused), "byte {index}");
            assert_eq!(key.open(&sealed[..index]), Err(SealError::Refused), "cut at {index}");
        }
    }

    #[test]
    fn a_key_is_never_shown_and_a_short_one_is_none() {
        assert_eq!(format!("{:?}", Key::new(HEX).unwrap()), "Key([redacted])");
        assert_eq!(Key::new(" short ").unwrap_err(), SealError::NotAKey);
    }
}
