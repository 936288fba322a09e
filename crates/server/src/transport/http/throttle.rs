//! How often callers may ask, and how often strangers may guess.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rutter_base::bucket::TokenBucket;

use crate::caller::Identity;

/// How many callers or addresses are remembered. The least of them is forgotten for a new one
/// only when it has all its tokens back, so that forgetting gives nothing away.
const REMEMBERED: usize = 10_000;

/// One bucket for each caller.
#[derive(Debug)]
pub(super) struct Buckets<K> {
    capacity: f64,
    per_second: f64,
    by_key: Mutex<HashMap<K, TokenBucket>>,
}

impl<K: Hash + Eq> Buckets<K> {
    pub(super) fn new(capacity: f64, per_second: f64) -> Self {
        Self { capacity, per_second, by_key: Mutex::default() }
    }

    /// Takes one token, or says how long it takes until there is one.
    pub(super) fn take(&self, key: K) -> Result<(), Duration> {
        let now = Instant::now();
        let mut buckets = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&key) {
            let capacity = self.capacity;
            buckets.retain(|_, bucket| bucket.tokens(now) < capacity);
        }
        if buckets.len() >= REMEMBERED && !buckets.contains_key(&key) {
            // So many at once are one crowd.
            return Err(Duration::from_secs_f64(1.0 / self.per_second));
        }
        let Ok(fresh) = TokenBucket::new(self.capacity, self.per_second, now) else {
            return Ok(());
        };
        let bucket = buckets.entry(key).or_insert(fresh);
        let tokens = bucket.tokens(now);
        if tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - tokens) / self.per_second));
        }
        // There is one, so nobody waits.
        let _ = bucket.take(1, now);
        Ok(())
    }

    /// Whether there is no token for it now.
    pub(super) fn is_empty(&self, key: &K) -> bool {
        let buckets = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.get(key).is_some_and(|bucket| bucket.tokens(Instant::now()) < 1.0)
    }
}

/// Where someone is. Whoever has one address of IPv6 has the 2^64 of its network.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// What bounds those who come in, and those who do not.
#[derive(Debug)]
pub(super) struct Throttle {
    requests: Option<Buckets<Identity>>,
    failures: Buckets<IpAddr>,
    /// Who has come in from where: they are not taken for someone who guesses.
    seen: Mutex<HashSet<(IpAddr, Identity)>>,
}

impl Throttle {
    pub(super) fn new(
        requests_per_second: Option<NonZeroU32>,
        failed_logins_per_minute: NonZeroU32,
    ) -> Self {
        // Two seconds' worth may come at once, and ten failures: people mistype.
        let requests = requests_per_second.map(|rate| f64::from(rate.get()));
        let failures = f64::from(failed_logins_per_minute.get());
        Self {
            requests: requests.map(|rate| Buckets::new(2.0 * rate, rate)),
            failures: Buckets::new(failures.min(10.0), failures / 60.0),
            seen: Mutex::default(),
        }
    }

    /// Counts a request of a caller, or says how long to wait.
    pub(super) fn request(&self, caller: &Identity) -> Result<(), Duration> {
        self.requests.as_ref().map_or(Ok(()), |buckets| buckets.take(caller.clone()))
    }

    /// Counts someone who was not let in, or says how long to wait.
    pub(super) fn failure(&self, from: IpAddr) -> Result<(), Duration> {
        self.failures.take(place(from))
    }

    /// Whether a right guess counts for nothing, because it follows too many wrong ones.
    pub(super) fn is_guessing(&self, from: IpAddr, caller: &Identity) -> bool {
        let from = place(from);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let who = (from, caller.clone());
        if seen.contains(&who) {
            return false;
        }
        if self.failures.is_empty(&from) {
            return true;
        }
        if seen.len() < REMEMBERED {
            seen.insert(who);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::Caller;

    const SOMEWHERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const ELSEWHERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn caller(name: &str) -> Identity {
        Caller::with_key(name).identity().clone()
    }

    fn throttle() -> Throttle {
        Throttle::new(NonZeroU32::new(5), NonZeroU32::new(60).unwrap())
    }

    #[test]
    fn a_caller_that_asks_too_often_waits_and_others_do_not() {
        let throttle = throttle();
        let taken = (0..30).filter(|_| throttle.request(&caller("ada")).is_ok()).count();
        assert_eq!(taken, 10);
        let wait = throttle.request(&caller("ada")).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_millis(200), "{wait:?}");
        assert_eq!(throttle.request(&caller("bob")), Ok(()));
    }

    #[test]
    fn guessing_is_slowed_where_it_happens() {
        let throttle = throttle();
        assert!(!throttle.is_guessing(SOMEWHERE, &caller("bob")));
        let failed = (0..100).filter(|_| throttle.failure(SOMEWHERE).is_ok()).count();
        assert_eq!(failed, 10);
        // A first right password after a hundred wrong ones is a guess; one that was right before
        // is not, nor is one from another place.
        assert!(throttle.is_guessing(SOMEWHERE, &caller("ada")));
        assert!(!throttle.is_guessing(SOMEWHERE, &caller("bob")));
        assert!(!throttle.is_guessing(ELSEWHERE, &caller("ada")));
        assert_eq!(throttle.failure(ELSEWHERE), Ok(()));
    }

    #[test]
    fn a_network_of_addresses_is_one_place() {
        let throttle = throttle();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let from = |number: u32| address(&format!("2001:db8:1:2::{number:x}"));
        let failed = (0..100).filter(|number| throttle.failure(from(*number)).is_ok()).count();
        assert_eq!(failed, 10);
        assert!(throttle.is_guessing(address("2001:db8:1:2:ffff::"), &caller("ada")));
        assert!(!throttle.is_guessing(address("2001:db8:1:3::"), &caller("ada")));
    }

    #[test]
    fn strangers_from_everywhere_take_no_more_memory() {
        let buckets = Buckets::new(1.0, 0.001);
        for stranger in 0..REMEMBERED + 500 {
            let _ = buckets.take(stranger);
        }
        assert!(buckets.by_key.lock().unwrap().len() <= REMEMBERED);
        assert!(buckets.take(usize::MAX).is_err());
    }
}
