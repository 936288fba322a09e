//! A document, rendered.

use askama::Template;
use axum::http::{StatusCode, Uri as RequestUri};
use axum::response::Response;
use chrono::{DateTime, Utc};
use rutter_base::failure::{Kind, Report};
use rutter_library::{DocumentEntry, Encoded, Library, Part, Scheme, Uri};

use super::frame::{Frame, answer, number};
use super::markdown::{self, Heading, Rendered};
use super::visit::{Visit, admits};
use super::{failure, sources};
use crate::scope::Scope;

const PATH: &str = "/documents/";

/// What stands before the folder of an architecture document. The name of a source cannot have a
/// colon, so the two kinds of addresses never meet.
const ARCHITECTURE: &str = "architecture:";

/// With more headings than these, a page begins with a list of them.
const FEW_HEADINGS: usize = 3;
/// The most headings that such a list has.
const MANY_HEADINGS: usize = 200;

/// The address of a document's page.
pub(super) fn href(uri: &Uri) -> String {
    let kind = match uri.scheme {
        Scheme::Acdc => "",
        Scheme::Architecture => ARCHITECTURE,
    };
    let (source, path) = (Encoded(&uri.source), Encoded(uri.path.as_str()));
    let anchor = match &uri.anchor {
        Some(anchor) => format!("#{}", Encoded(anchor)),
        None => String::new(),
    };
    format!("{PATH}{kind}{source}/{path}{anchor}")
}

/// The document whose page has this address. There is one parser of addresses, and it is the
/// library's.
fn uri_at(path: &str) -> Option<Uri> {
    let rest = path.strip_prefix(PATH)?;
    let uri = match rest.strip_prefix(ARCHITECTURE) {
        Some(rest) => format!("{}://{rest}", Scheme::Architecture.as_str()),
        None => format!("{}://{rest}", Scheme::Acdc.as_str()),
    };
    Uri::parse(&uri).ok()
}

#[derive(Template)]
#[template(path = "page/document.html")]
struct Page {
    frame: Frame,
    name: String,
    description: String,
    source: String,
    source_href: String,
    uri: String,
    modified: Option<Modified>,
    text: Rendered,
    contents: Vec<Heading>,
    /// How many bytes are not shown, if any.
    left: Option<String>,
}

struct Modified {
    machine: String,
    people: String,
}

/// A document as the library gave it.
struct Read {
    entry: DocumentEntry,
    text: Rendered,
    left: usize,
}

pub(super) async fn show(visit: Visit, address: RequestUri) -> Response {
    let Some(uri) = uri_at(address.path()) else { return failure::not_found(&visit) };
    let scope = visit.scope().clone();
    let limit = visit.app.limits().payload;
    let read = visit.app.with_library(move |library| read(library, &uri, &scope, limit)).await;
    match read {
        Ok(Ok(read)) => answer(StatusCode::OK, &page(&visit, read)),
        // A module that is off has no documents.
        Err(report) if report.kind() == Kind::Refused => failure::not_found(&visit),
        Ok(Err(report)) | Err(report) => failure::failed(&visit, &report),
    }
}

fn read(library: &Library, uri: &Uri, scope: &Scope, limit: usize) -> Result<Read, Report> {
    let missing = || Report::new(Kind::NotFound, "there is no such document");
    let catalog = library.catalog();
    let entry = catalog.document(&uri.to_string()).ok_or_else(missing)?;
    let known = entry.uri.to_string();
    if !admits(scope, &known) {
        return Err(missing());
    }
    let body = catalog.read(&known)?;
    let excerpt = body.excerpt(Part { max_bytes: Some(limit), ..Part::default() }, limit)?;
    let text = markdown::render(&excerpt.text, &entry.name);
    Ok(Read { entry: entry.clone(), text, left: excerpt.left })
}

fn page(visit: &Visit, Read { entry, text, left }: Read) -> Page {
    let contents = if text.headings.len() > FEW_HEADINGS {
        let listed = text.headings.iter().filter(|heading| {
            heading.level <= 3 && !heading.anchor.is_empty() && !heading.title.trim().is_empty()
        });
        listed.take(MANY_HEADINGS).cloned().collect()
    } else {
        Vec::new()
    };
    let modified = entry.stamp.modified().map(|time| {
        let time = DateTime::<Utc>::from(time);
        Modified {
            machine: time.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
            people: time.format("%-d %B %Y").to_string(),
        }
    });
    Page {
        frame: visit.frame(&entry.name),
        uri: entry.uri.to_string(),
        source_href: sources::href(&entry.source),
        name: entry.name,
        description: entry.description,
        source: entry.source,
        modified,
        text,
        contents,
        left: (left > 0).then(|| number(left)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_document() {
        for uri in [
            "acdc://docs/guides/start",
            "acdc://docs/%C3%A4%20b%3F%23%25",
            "acdc://adr/001",
            "architecture://adr/001-rust",
        ] {
            let uri = Uri::parse(uri).unwrap();
            assert_eq!(uri_at(&href(&uri)), Some(uri));
        }
    }

    #[test]
    fn what_leads_elsewhere_is_no_address() {
        for path in [
            "/documents/",
            "/documents/docs",
            "/documents/docs/",
            "/documents//a",
            "/documents/docs/../a",
            "/documents/docs/%2e%2e/a",
            "/documents/docs/%2E%2E%2Fa",
            "/documents/docs/a%00",
            "/documents/docs/%ff",
            "/documents/docs/a%5C..%5Cb",
            "/documents/docs//etc/passwd",
            "/documents/a%2Fb/c",
            "/other/docs/a",
        ] {
            assert_eq!(uri_at(path), None, "{path}");
        }
    }
}
