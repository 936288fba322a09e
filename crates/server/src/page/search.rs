//! Documents are found.

use askama::Template;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use axum::response::Response;
use rutter_base::failure::{Kind, Report};
use rutter_base::text;
use rutter_library::search::{Answer, Boosts, Found};
use rutter_library::{Encoded, Library, Uri};

use super::frame::{Frame, answer, counted, far, number};
use super::sources::{self, Source};
use super::visit::{Visit, admits};
use super::{documents, failure};
use crate::scope::Scope;

/// The most documents on a page.
const MAX_RESULTS: usize = 20;
/// The longest query, in characters. Nobody types more; the search would look at no more words.
const MAX_QUERY: usize = 500;

#[derive(Template)]
#[template(path = "page/search.html")]
struct Page {
    frame: Frame,
    /// What was asked, unless it was nothing or too much.
    asked: Option<String>,
    refusal: Option<String>,
    summary: String,
    results: Vec<Hit>,
    sources: Vec<Source>,
    /// The only source that is searched.
    source: Option<String>,
    indexing: Option<String>,
}

impl Page {
    fn is_chosen(&self, source: &Source) -> bool {
        self.source.as_ref() == Some(&source.name)
    }

    /// The address of the same search in all sources.
    fn everywhere(&self) -> String {
        format!("/search?q={}", Encoded(&self.frame.query))
    }
}

struct Hit {
    href: String,
    name: String,
    source: String,
    uri: String,
    /// The line around the match: what matched, and what stands between.
    snippet: Vec<Piece>,
}

#[derive(Debug, PartialEq, Eq)]
struct Piece {
    text: String,
    matched: bool,
}

/// What was asked for.
struct Asked {
    query: String,
    source: Option<String>,
}

impl Asked {
    /// Reads the form. Of a field that is there twice the first counts; others are ignored.
    fn of(fields: Vec<(String, String)>) -> Self {
        let (mut query, mut source) = (None, None);
        for (name, value) in fields {
            match name.as_str() {
                "q" => query = query.or(Some(value)),
                "source" => source = source.or(Some(value)),
                _ => {}
            }
        }
        Self {
            query: query.unwrap_or_default().trim().to_owned(),
            source: source.filter(|source| !source.is_empty()),
        }
    }
}

type Fields = Result<Query<Vec<(String, String)>>, QueryRejection>;

pub(super) async fn show(visit: Visit, fields: Fields) -> Response {
    if !visit.frame("").searches {
        return failure::not_found(&visit);
    }
    let Ok(Query(fields)) = fields else {
        let what = "the address is not one that the search form makes";
        return failure::failed(&visit, &Report::new(Kind::Invalid, what));
    };
    let asked = Asked::of(fields);
    match page(&visit, asked).await {
        Ok((status, page)) => answer(status, &page),
        Err(report) => failure::failed(&visit, &report),
    }
}

async fn page(visit: &Visit, asked: Asked) -> Result<(StatusCode, Page), Report> {
    let Asked { query, source } = asked;
    let scope = visit.scope().clone();
    let boosts = visit.app.search_settings().boosts;
    let length = query.chars().count();
    let question = Some(query.clone()).filter(|_| (1..=MAX_QUERY).contains(&length));
    let wanted = source.clone();
    let (sources, outcome) = visit
        .app
        .with_library(move |library| {
            let sources = sources::visible(library, &scope);
            let known = |name: &str| sources.iter().any(|source| source.name == name);
            let outcome = match (question, wanted) {
                (None, _) => Outcome::Unasked,
                // One that is hidden is not told from one that is not there.
                (Some(_), Some(name)) if !known(&name) => Outcome::NoSource(name),
                (Some(query), source) => {
                    let question = Question { query: &query, source: source.as_deref(), boosts };
                    Outcome::Found(search(library, &scope, &question)?)
                }
            };
            Ok::<_, Report>((sources, outcome))
        })
        .await??;
    let indexing = visit.app.library()?.indexing().map(far);
    let shown = text::one_line(&query);
    let title = if length == 0 { "Search".to_owned() } else { format!("Search: {shown}") };
    let mut page = Page {
        frame: visit.frame(&title),
        asked: None,
        refusal: None,
        summary: String::new(),
        results: Vec::new(),
        sources,
        source: None,
        indexing,
    };
    let status = match outcome {
        Outcome::Unasked if length > MAX_QUERY => {
            "Search".clone_into(&mut page.frame.title);
            page.refusal = Some(format!(
                "That is {} characters; a search takes at most {}. A few words find more.",
                number(length),
                number(MAX_QUERY)
            ));
            return Ok((StatusCode::BAD_REQUEST, page));
        }
        Outcome::Unasked => StatusCode::OK,
        Outcome::NoSource(name) => {
            let name = text::cap(text::one_line(&name), 100);
            page.refusal = Some(format!("There is no source “{name}” to search in."));
            StatusCode::NOT_FOUND
        }
        Outcome::Found(Answer { hits, partial }) => {
            page.source = source;
            page.summary = counted(hits.len(), "document");
            page.results = hits.into_iter().filter_map(hit).collect();
            page.asked = Some(shown.clone());
            if partial && page.indexing.is_none() {
                page.indexing = Some("some".to_owned());
            }
            StatusCode::OK
        }
    };
    page.frame.query = shown;
    Ok((status, page))
}

enum Outcome {
    Unasked,
    NoSource(String),
    Found(Answer),
}

struct Question<'a> {
    query: &'a str,
    source: Option<&'a str>,
    boosts: Boosts,
}

/// The best documents that the caller may see. The index knows no scopes, so more are asked for
/// until enough of them are left, or there are no more.
fn search(library: &Library, scope: &Scope, question: &Question<'_>) -> Result<Answer, Report> {
    let mut limit = MAX_RESULTS;
    loop {
        let Question { query, source, boosts } = *question;
        let mut answer = library.search(query, source, limit, boosts)?;
        let exhausted = answer.hits.len() < limit;
        answer.hits.retain(|hit| admits(scope, &hit.uri));
        if exhausted || answer.hits.len() >= MAX_RESULTS {
            answer.hits.truncate(MAX_RESULTS);
            return Ok(answer);
        }
        limit *= 4;
    }
}

fn hit(found: Found) -> Option<Hit> {
    let uri = Uri::parse(&found.uri).ok()?;
    let uri = Uri { anchor: found.anchor, ..uri };
    Some(Hit {
        href: documents::href(&uri),
        uri: uri.to_string(),
        name: found.name,
        source: found.source,
        snippet: pieces(&found.snippet),
    })
}

/// The line as pieces; the search puts what matched between `**`.
fn pieces(snippet: &str) -> Vec<Piece> {
    let parts: Vec<&str> = snippet.split("**").collect();
    // A `**` that the document itself has leaves one without its other half.
    let paired = parts.len() - usize::from(parts.len().is_multiple_of(2));
    let pieces = parts.iter().enumerate().map(|(index, part)| Piece {
        text: (*part).to_owned(),
        matched: index % 2 == 1 && index < paired,
    });
    pieces.filter(|piece| !piece.text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matched_is_told_from_what_stands_between() {
        let shown = |snippet: &str| {
            let pieces = pieces(snippet)
                .into_iter()
                .map(|piece| if piece.matched { format!("<{}>", piece.text) } else { piece.text });
            pieces.collect::<Vec<_>>().join("|")
        };
        assert_eq!(shown("a **b** **c** d"), "a |<b>| |<c>| d");
        assert_eq!(shown("**a****b**"), "<a>|<b>");
        assert_eq!(shown("plain"), "plain");
        assert_eq!(shown("one ** only"), "one | only");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn the_first_of_each_field_counts() {
        let fields = [("q", " a "), ("q", "b"), ("x", "y"), ("source", "")];
        let asked = Asked::of(fields.map(|(name, value)| (name.into(), value.into())).to_vec());
        assert_eq!((asked.query.as_str(), asked.source), ("a", None));
    }
}
