//! A token bucket: so much at once, so much a second.

use std::time::{Duration, Instant};

/// Gives out tokens no faster than they flow in.
///
/// It knows no clock and no runtime: whoever takes says what time it is, and waits as long as it is
/// told. What was taken is taken, so those who wait are served in the order in which they asked.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    capacity: f64,
    refill_per_second: f64,
    /// Below zero, when some who took still wait.
    tokens: f64,
    updated: Instant,
}

/// Why there is no bucket, or why it gives nothing. Each would be an endless wait.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BucketError {
    /// A bucket must hold something.
    #[error("a capacity of {0}: expected a number above 0")]
    Capacity(f64),
    /// Something must flow in.
    #[error("a refill of {0} a second: expected a number above 0")]
    Refill(f64),
    /// Only a positive number can be taken.
    #[error("{0} tokens: expected at least 1")]
    Count(i64),
    /// So many are never there at once.
    #[error("{count} tokens: the bucket holds at most {capacity}")]
    Beyond {
        /// What was asked for.
        count: i64,
        /// What the bucket holds.
        capacity: f64,
    },
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(capacity: f64, refill_per_second: f64, now: Instant) -> Result<Self, BucketError> {
        let usable = |number: f64| number.is_finite() && number > 0.0;
        if !usable(capacity) {
            return Err(BucketError::Capacity(capacity));
        }
        if !usable(refill_per_second) {
            return Err(BucketError::Refill(refill_per_second));
        }
        Ok(Self { capacity, refill_per_second, tokens: capacity, updated: now })
    }

    /// Takes tokens, and says how long to wait until they are there.
    pub fn take(&mut self, count: i64, now: Instant) -> Result<Duration, BucketError> {
        if count < 1 {
            return Err(BucketError::Count(count));
        }
        #[expect(clippy::cast_precision_loss, reason = "a capacity is no such number")]
        let wanted = count as f64;
        if wanted > self.capacity {
            return Err(BucketError::Beyond { count, capacity: self.capacity });
        }
        self.tokens = self.tokens(now) - wanted;
        self.updated = self.updated.max(now);
        let short = (-self.tokens).max(0.0);
        // A queue that is centuries long is told as the longest wait there is.
        Ok(Duration::try_from_secs_f64(short / self.refill_per_second).unwrap_or(Duration::MAX))
    }

    /// How many there are; below zero, how many those who wait have taken in advance.
    pub fn tokens(&self, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(self.updated).as_secs_f64();
        (self.tokens + seconds * self.refill_per_second).min(self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[track_caller]
    fn about(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn given_zero_tokens_when_taking_one_then_it_waits_one_refill() {
        let now = Instant::now();
        let mut bucket = TokenBucket::new(5.0, 2.0, now).unwrap();
        assert_eq!(bucket.take(5, now), Ok(Duration::ZERO));
        about(bucket.take(1, now).unwrap().as_secs_f64(), 0.5);
        about(bucket.take(1, now).unwrap().as_secs_f64(), 1.0);
    }

    #[test]
    fn given_capacity_when_taking_all_then_tokens_are_zero_and_recover() {
        let now = Instant::now();
        let mut bucket = TokenBucket::new(4.0, 2.0, now).unwrap();
        assert_eq!(bucket.take(4, now), Ok(Duration::ZERO));
        about(bucket.tokens(now), 0.0);
        about(bucket.tokens(now + SECOND), 2.0);
        about(bucket.tokens(now + 10 * SECOND), 4.0);
        assert_eq!(bucket.take(2, now + SECOND), Ok(Duration::ZERO));
    }

    #[test]
    fn what_would_wait_for_ever_is_an_error() {
        let now = Instant::now();
        for capacity in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(TokenBucket::new(capacity, 1.0, now).is_err(), "{capacity}");
            assert!(TokenBucket::new(1.0, capacity, now).is_err(), "{capacity}");
        }
        let mut bucket = TokenBucket::new(3.0, 1.0, now).unwrap();
        assert_eq!(bucket.take(-1, now), Err(BucketError::Count(-1)));
        assert_eq!(bucket.take(0, now), Err(BucketError::Count(0)));
        assert_eq!(bucket.take(4, now), Err(BucketError::Beyond { count: 4, capacity: 3.0 }));
        assert_eq!(bucket.take(i64::MAX, now).map_err(|_| ()), Err(()));
        about(bucket.tokens(now), 3.0);
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let now = Instant::now() + SECOND;
        let mut bucket = TokenBucket::new(1.0, 1.0, now).unwrap();
        bucket.take(1, now).unwrap();
        about(bucket.tokens(now.checked_sub(SECOND).unwrap()), 0.0);
    }
}
