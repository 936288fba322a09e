//! The sources of documents, and what is in one of them.

use askama::Template;
use axum::extract::RawQuery;
use axum::http::{StatusCode, Uri as RequestUri};
use axum::response::Response;
use rutter_base::failure::{Kind, Report};
use rutter_library::{Encoded, Library};

use super::frame::{Frame, answer, counted};
use super::visit::{Visit, admits};
use super::{documents, failure};
use crate::scope::Scope;

const PATH: &str = "/sources/";

/// A source as it is listed.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) href: String,
    /// How many of its documents the caller may see.
    pub(super) documents: usize,
}

impl Source {
    pub(super) fn size(&self) -> String {
        counted(self.documents, "document")
    }
}

/// The address of a source's page.
pub(super) fn href(name: &str) -> String {
    format!("{PATH}{}", Encoded(name))
}

/// The sources of which the caller may see something.
pub(super) fn visible(library: &Library, scope: &Scope) -> Vec<Source> {
    let catalog = library.catalog();
    let listed = library.sources().iter().filter_map(|source| {
        let name = source.name.as_str();
        let of_it = catalog.documents().filter(|entry| entry.source == name);
        let documents = of_it.filter(|entry| admits(scope, &entry.uri.to_string())).count();
        (documents > 0).then(|| Source {
            name: name.to_owned(),
            description: rutter_base::text::one_line(&source.description),
            href: href(name),
            documents,
        })
    });
    listed.collect()
}

#[derive(Template)]
#[template(path = "page/source.html")]
struct Page {
    frame: Frame,
    source: Source,
    documents: Vec<Document>,
    before: Option<String>,
    after: Option<String>,
}

struct Document {
    href: String,
    name: String,
    description: String,
    uri: String,
}

pub(super) async fn show(visit: Visit, address: RequestUri, RawQuery(query): RawQuery) -> Response {
    let wanted = address.path().strip_prefix(PATH).unwrap_or_default().to_owned();
    let scope = visit.scope().clone();
    let size = visit.app.limits().page;
    let number = query.as_deref().and_then(|query| query.strip_prefix("page="));
    let number = number.and_then(|number| number.parse().ok()).unwrap_or(1_usize).max(1);
    let found = visit.app.with_library(move |library| {
        // Names have no characters that could be written in two ways.
        let source = visible(library, &scope).into_iter().find(|source| source.name == wanted)?;
        let catalog = library.catalog();
        let of_it = catalog
            .documents()
            .filter(|entry| entry.source == source.name && admits(&scope, &entry.uri.to_string()));
        let listed =
            of_it.skip((number - 1).saturating_mul(size)).take(size).map(|entry| Document {
                href: documents::href(&entry.uri),
                name: entry.name.clone(),
                description: entry.description.clone(),
                uri: entry.uri.to_string(),
            });
        Some((listed.collect::<Vec<_>>(), source))
    });
    let missing = || Report::new(Kind::NotFound, "there is no such source");
    match found.await {
        Ok(Some((documents, source))) if !documents.is_empty() => {
            let page_of = |number: usize| format!("{}?page={number}", source.href);
            let follows = number.saturating_mul(size) < source.documents;
            let page = Page {
                frame: visit.frame(&source.name),
                before: (number > 1).then(|| page_of(number - 1)),
                after: follows.then(|| page_of(number + 1)),
                documents,
                source,
            };
            answer(StatusCode::OK, &page)
        }
        Ok(_) => failure::failed(&visit, &missing()),
        Err(report) if report.kind() == Kind::Refused => failure::not_found(&visit),
        Err(report) => failure::failed(&visit, &report),
    }
}
