//! What was learned about a feature: each thing once, and not too many.

use std::collections::BTreeSet;

use super::{features, tasks};
use crate::check::{self, LEARNING};
use crate::error::BoardError;
use crate::model::{Feature, Learning, LearningSource, NewLearning};
use crate::store::Write;

/// The most learnings of a feature.
const MOST: usize = 50;
/// Two texts whose words agree more than this, as intersection over union, say the same.
const SAME: f64 = 0.7;

/// Records a learning, or that one was made again.
pub(crate) async fn append(
    write: &mut Write,
    feature: &str,
    new: NewLearning,
) -> Result<(Feature, Learning), BoardError> {
    check::required("text", &new.text, LEARNING)?;
    check::optional("reason", new.reason.as_deref(), LEARNING)?;
    let before = features::get(&mut write.connection, feature).await?;
    if let Some(task) = new.task_id {
        tasks::bare(&mut write.connection, task).await?;
    }
    let mut feature = before.clone();
    let source = new.source.unwrap_or(LearningSource::Agent);
    let known = feature.learnings.iter_mut().find(|known| say_the_same(&known.text, &new.text));
    let learning = if let Some(known) = known {
        known.hit_count += 1;
        // What a person or a reviewer says as well is theirs from now on, and never pruned.
        known.source = known.source.max(source);
        known.clone()
    } else {
        let learning = Learning {
            text: new.text,
            reason: new.reason.filter(|reason| !reason.is_empty()),
            source,
            task_id: new.task_id,
            iteration: None,
            created: write.now.clone(),
            hit_count: 1,
            reviewed: false,
            review_count: 0,
        };
        make_room(&mut feature)?;
        feature.learnings.push(learning.clone());
        learning
    };
    let feature = features::finish(write, &before, feature).await?;
    Ok((feature, learning))
}

/// Prunes the least useful of the others, if there are too many.
fn make_room(feature: &mut Feature) -> Result<(), BoardError> {
    while feature.learnings.len() >= MOST {
        let least = feature
            .learnings
            .iter()
            .enumerate()
            .filter(|(_, learning)| !is_kept(learning))
            .min_by_key(|(index, learning)| (learning.hit_count, *index))
            .map(|(index, _)| index);
        let Some(least) = least else {
            return Err(BoardError::refused(
                format!("feature `{}` has {MOST} learnings that are never pruned", feature.name),
                "put this one into its description or a document",
            ));
        };
        feature.learnings.remove(least);
    }
    Ok(())
}

/// Whether a learning is never pruned.
fn is_kept(learning: &Learning) -> bool {
    learning.reviewed
        || matches!(learning.source, LearningSource::Human | LearningSource::OpusReviewed)
}

/// Whether two texts use nearly the same words.
fn say_the_same(one: &str, other: &str) -> bool {
    let (a, b) = (words(one), words(other));
    let union = a.union(&b).count();
    if union == 0 {
        return one.trim().to_lowercase() == other.trim().to_lowercase();
    }
    #[expect(clippy::cast_precision_loss, reason = "a text has a few thousand words at most")]
    let agreement = a.intersection(&b).count() as f64 / union as f64;
    agreement > SAME
}

/// The words of more than two letters.
fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_nearly_the_same_words_say_the_same() {
        let text = "The auth middleware expects a user object on the request";
        for (other, same) in [
            ("the AUTH middleware, expects: a user object on the request!", true),
            ("auth middleware expects user object on request", true),
            ("The auth middleware expects a session token in the cookie", false),
            ("", false),
        ] {
            assert_eq!(say_the_same(text, other), same, "{other}");
        }
        assert!(say_the_same("ok", "OK "));
        assert!(!say_the_same("ok", "no"));
        // Seven of ten words are not more than 0.7.
        let ten = "aaa bbb ccc ddd eee fff ggg hhh iii jjj";
        assert!(!say_the_same(ten, "aaa bbb ccc ddd eee fff ggg"));
        assert!(say_the_same(ten, "aaa bbb ccc ddd eee fff ggg hhh"));
    }
}
