//! Pages of lists.
//!
//! A cursor holds the key of the last entry that was shown, not a position: entries that come
//! or go between two pages neither repeat nor hide others.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Marks a cursor as ours.
const MARK: &str = "after:";

/// The page that was asked for, in order of `key`, and the cursor of the next one.
pub(super) fn cut<T>(
    mut items: Vec<T>,
    key: impl Fn(&T) -> &str,
    request: Option<PaginatedRequestParams>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let after =
        request.and_then(|request| request.cursor).map(|cursor| decode(&cursor)).transpose()?;
    items.sort_by(|a, b| key(a).cmp(key(b)));
    if let Some(after) = after {
        items.retain(|item| key(item) > after.as_str());
    }
    let more = items.len() > size;
    items.truncate(size);
    let next = items
        .last()
        .filter(|_| more)
        .map(|item| URL_SAFE_NO_PAD.encode(format!("{MARK}{}", key(item))));
    Ok((items, next))
}

fn decode(cursor: &str) -> Result<String, ErrorData> {
    URL_SAFE_NO_PAD
        .decode(cursor)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix(MARK).map(str::to_owned))
        .ok_or_else(|| {
            ErrorData::invalid_params(
                "/cursor: not a cursor of this server; list from the beginning",
                None,
            )
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(cursor: Option<String>) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(cursor)
    }

    proptest! {
        #[test]
        fn pages_show_everything_once(names in prop::collection::btree_set("\\PC{1,6}", 0..20), size in 1usize..6) {
            let all: Vec<String> = names.into_iter().collect();
            let mut shown = Vec::new();
            let mut cursor = None;
            loop {
                let (page, next) = cut(all.clone(), String::as_str, Some(ask(cursor)), size).unwrap();
                prop_assert!(page.len() <= size);
                shown.extend(page);
                cursor = next;
                if cursor.is_none() { break }
            }
            prop_assert_eq!(shown, all);
        }
    }

    #[test]
    fn cursors_of_others_are_refused() {
        for cursor in ["bogus", "", "YWJj", "äöü"] {
            let error =
                cut(vec!["a".to_owned()], String::as_str, Some(ask(Some(cursor.into()))), 1)
                    .unwrap_err();
            assert_eq!(error.code.0, -32602, "{cursor}");
        }
    }
}
