//! What tools cost an agent: every definition is in its context from the first word on.

use rmcp::model::Tool as Definition;
use serde::Serialize;

/// How many bytes of a definition make a token: measured tokenizers give 3.5 to 4.5 for JSON.
const BYTES_PER_TOKEN: usize = 4;

/// What definitions cost an agent in every session.
#[derive(Debug, Serialize, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Their size as JSON.
    pub bytes: usize,
    /// About how many tokens that is.
    pub tokens: usize,
}

impl Cost {
    /// The cost of so many bytes.
    pub fn of(bytes: usize) -> Self {
        Self { bytes, tokens: bytes.div_ceil(BYTES_PER_TOKEN) }
    }

    /// The cost of one definition as it is listed.
    pub fn of_definition(definition: &Definition) -> Self {
        Self::of(serde_json::to_vec(definition).unwrap_or_default().len())
    }
}

/// The cost of several is that of their bytes: tokens that were rounded up do not add up.
impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        Self::of(costs.map(|cost| cost.bytes).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_rounds_once() {
        let costs = [Cost::of(5), Cost::of(5), Cost::of(5)];
        assert_eq!(costs.iter().map(|cost| cost.tokens).sum::<usize>(), 6);
        assert_eq!(costs.into_iter().sum::<Cost>(), Cost { bytes: 15, tokens: 4 });
    }
}
