//! What {{name}} does, apart from how it is called: replace this with the first part of the plan.

/// Answers a request. A stub: it gives the same answer to everyone.
pub fn answer(name: &str) -> String {
    format!("Hello, {name}!")
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn the_answer_names_who_asked() {
        assert_eq!(answer("world"), "Hello, world!");
    }
}
