//! The phases of the work, and their order.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

/// A phase: a number or a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Phase(String);

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Phase {
    /// The phase as it was written; `None` for what is neither a number nor a name.
    pub(super) fn new(value: &Value) -> Option<Self> {
        match value {
            Value::String(name) if name.trim().is_empty() => None,
            Value::String(name) => Some(Self(name.trim().to_owned())),
            Value::Number(number) => Some(Self(number.to_string())),
            _ => None,
        }
    }

    /// The number that it begins with: `2`, `01-plan`, `P1 Plan`, `Phase 3`.
    fn number(&self) -> Option<f64> {
        let digits = self.0.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let word = self.0.strip_suffix(digits)?.to_ascii_lowercase();
        let leads = word.len() <= 1 || matches!(word.as_str(), "phase" | "stage" | "step");
        let digits = if word.is_empty() { digits } else { digits.trim_start() };
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
        let number = digits.get(..end)?.trim_end_matches('.').parse().ok()?;
        leads.then_some(number)
    }
}

/// The ranks of all phases: those that are listed, then those with a number, then the others as
/// they first appear, then none.
pub(super) struct Phases(HashMap<Phase, usize>);

impl Phases {
    pub(super) fn new<'a>(
        listed: &[Value],
        appearing: impl Iterator<Item = &'a Option<Phase>>,
    ) -> Self {
        let mut ranks: HashMap<Phase, usize> = HashMap::new();
        for phase in listed.iter().filter_map(Phase::new) {
            let next = ranks.len();
            ranks.entry(phase).or_insert(next);
        }
        let mut others: Vec<Phase> = Vec::new();
        let mut met = std::collections::HashSet::new();
        for phase in appearing.flatten() {
            if !ranks.contains_key(phase) && met.insert(phase) {
                others.push(phase.clone());
            }
        }
        // The sort is stable: what has no number stays as it appeared.
        others.sort_by(|a, b| match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        });
        for phase in others {
            let next = ranks.len();
            ranks.insert(phase, next);
        }
        Self(ranks)
    }

    pub(super) fn rank(&self, phase: Option<&Phase>) -> usize {
        phase.and_then(|phase| self.0.get(phase)).copied().unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn order(listed: &Value, appearing: &Value, expected: &[&str]) {
        let appearing: Vec<Option<Phase>> =
            appearing.as_array().unwrap().iter().map(Phase::new).collect();
        let phases = Phases::new(listed.as_array().unwrap(), appearing.iter());
        let mut sorted = appearing.clone();
        sorted.sort_by_key(|phase| phases.rank(phase.as_ref()));
        let names: Vec<String> = sorted
            .iter()
            .map(|phase| phase.as_ref().map_or("-".into(), ToString::to_string))
            .collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn the_list_then_the_number_then_the_first_appearance() {
        order(&json!(["b", "a"]), &json!(["a", "b", "c"]), &["b", "a", "c"]);
        order(
            &json!([]),
            &json!([10, 9, "P1 Plan", "2.5", "Phase 3"]),
            &["P1 Plan", "2.5", "Phase 3", "9", "10"],
        );
        order(&json!([]), &json!(["zeta", "alpha", 1]), &["1", "zeta", "alpha"]);
        order(&json!([3, "x"]), &json!(["x", null, 1, 3]), &["3", "x", "1", "-"]);
        order(&json!([]), &json!(["design v2", "utf8"]), &["design v2", "utf8"]);
    }
}
