//! Statements that are said together.
//!
//! The engine works on a thread of its own, and every statement wakes it and waits for it. What
//! can be said at once is; an engine that takes one statement at a time can be told them in turn.

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe};

/// A value in a statement.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// A text, or nothing.
    Text(Option<String>),
    /// A number, or nothing.
    Number(Option<i64>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        Self::Text(text.clone())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Some(number))
    }
}

/// A statement, or several, with their values as `$1`, `$2` and so on.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    text: String,
    values: Vec<Value>,
}

impl Statement {
    /// A statement whose text is made of constants alone: what callers say is in the values.
    pub(crate) fn new(text: impl Into<String>, values: Vec<Value>) -> Self {
        Self { text: text.into(), values }
    }

    /// An insert of values; `into` is a table with its columns.
    pub(crate) fn insert(into: &str, values: Vec<Value>) -> Self {
        Self { text: format!("insert into {into} values ({})", numbers(values.len())), values }
    }

    /// The same if `condition` holds of the row `ground`.
    pub(crate) fn insert_if(into: &str, values: Vec<Value>, ground: Self, condition: Self) -> Self {
        Self { text: format!("insert into {into} select {}", numbers(values.len())), values }
            .join(" from (", ground)
            .join(") as ground where ", condition)
    }

    /// This one, then the next.
    #[must_use]
    pub(crate) fn then(self, next: Self) -> Self {
        self.join("; ", next)
    }

    fn join(mut self, between: &str, next: Self) -> Self {
        self.text.push_str(between);
        let mut parts = next.text.split('$');
        self.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = part.split_at(digits);
            let number = number.parse::<usize>().unwrap_or_default() + self.values.len();
            self.text.push('$');
            self.text.push_str(&number.to_string());
            self.text.push_str(rest);
        }
        self.values.extend(next.values);
        self
    }

    /// The same as a query.
    pub(crate) fn query(self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.text));
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Number(number) => query.bind(number),
        })
    }
}

/// `$1, $2` and so on.
fn numbers(count: usize) -> String {
    let numbers: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
    numbers.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_the_next_are_numbered_on() {
        let first = Statement::new("insert into a values ($1, $2)", vec!["x".into(), 1.into()]);
        let next = Statement::new("insert into b values ($2, $1, $10)", vec!["y".into()]);
        let both = first.then(next).then(Statement::new("commit", Vec::new()));
        assert_eq!(
            both.text,
            "insert into a values ($1, $2); insert into b values ($4, $3, $12); commit"
        );
        assert_eq!(both.values.len(), 3);
    }

    #[test]
    fn an_insert_may_depend_on_what_is_found() {
        let ground =
            Statement::new("select max(id) as highest from a where b = $1", vec!["y".into()]);
        let condition = Statement::new("ground.highest < $1", vec![7.into()]);
        let insert =
            Statement::insert_if("a (b, c)", vec!["x".into(), 1.into()], ground, condition);
        assert_eq!(
            insert.text,
            "insert into a (b, c) select $1, $2 from (select max(id) as highest from a where b = $3) \
             as ground where ground.highest < $4"
        );
        assert_eq!(insert.values.len(), 4);
        let insert = Statement::insert("a (b, c)", vec!["x".into(), 1.into()]);
        assert_eq!(insert.text, "insert into a (b, c) values ($1, $2)");
    }
}
