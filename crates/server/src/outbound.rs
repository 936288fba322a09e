//! Requests to other servers: forbidden unless they are allowed, and then a few a second.

pub(crate) mod fetch;

use std::sync::{Mutex, PoisonError};

use rutter_base::bucket::TokenBucket;
use rutter_base::failure::{Kind, Report};
use tokio::time::Instant;

/// How many requests may go out at once.
const AT_ONCE: f64 = 10.0;
/// How many follow each second.
const PER_SECOND: f64 = 5.0;

/// Permission to ask other servers.
#[derive(Debug, Default)]
pub struct Outbound {
    bucket: Option<Mutex<TokenBucket>>,
}

impl Outbound {
    /// No requests, or requests at a bounded rate.
    pub fn new(allowed: bool) -> Self {
        let bucket = || TokenBucket::new(AT_ONCE, PER_SECOND, Instant::now().into_std());
        Self { bucket: allowed.then(bucket).and_then(Result::ok).map(Mutex::new) }
    }

    /// Waits until one request may go out.
    pub async fn permit(&self) -> Result<(), Report> {
        let Some(bucket) = &self.bucket else {
            return Err(Report::new(Kind::Refused, "requests to other servers are off")
                .hint("start the server with `ALLOW_HTTP=1`"));
        };
        let wait = {
            let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
            bucket.take(1, Instant::now().into_std())
        };
        let wait = wait.map_err(|error| Report::new(Kind::Internal, error.to_string()))?;
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Asks another server for a text of at most `limit` bytes.
    pub async fn get(&self, address: &str, limit: usize) -> Result<String, Report> {
        self.permit().await?;
        fetch::get(address, limit).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_out_at_once_and_the_rest_at_the_rate() {
        let outbound = Outbound::new(true);
        let began = Instant::now();
        for _ in 0..10 {
            outbound.permit().await.unwrap();
        }
        assert_eq!(began.elapsed().as_millis(), 0);
        for _ in 0..5 {
            outbound.permit().await.unwrap();
        }
        // Paused time goes on in whole milliseconds.
        assert!((1_000..1_010).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn nothing_goes_out_unless_it_is_allowed() {
        let refused = Outbound::new(false).permit().await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "requests to other servers are off; start the server with `ALLOW_HTTP=1`"
        );
    }
}
