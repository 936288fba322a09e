//! What others learned: the knowledge base of the process.

use std::fmt::Write;

use rutter_base::failure::Report;
use rutter_base::text;
use rutter_process::guide::{Articles, Guide};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::module::ModuleId;
use crate::pack;
use crate::tool::{Call, Data, Effect, Tool};

/// How many titles are shown to someone whose term is nowhere.
const SUGGESTED: usize = 30;

/// The `query_knowledge` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct QueryKnowledge {
    /// Search term or topic
    query: String,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct Found {
    articles: Vec<Article>,
    /// How many match; those beyond the first 50 are left out
    total: usize,
}

/// An article that says the term.
#[derive(Debug, Serialize, JsonSchema)]
struct Article {
    title: String,
    /// The file in the knowledge base
    path: String,
    /// The line of the first match
    snippet: String,
    /// What the `read` tool takes, where there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
}

impl Tool for QueryKnowledge {
    const NAME: &'static str = "query_knowledge";
    const TITLE: &'static str = "Search the knowledge base";
    const DESCRIPTION: &'static str = "Search ACM knowledge base entries by topic. Simple text match across KB article \
        titles and content. Use for finding process learnings and design patterns. For rich semantic search, use the \
        Knowledge Base MCP server (when available).";
    const MODULE: ModuleId = ModuleId::Process;
    const EFFECT: Effect = Effect::Reads;
    type Output = Data<Found>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let query = self.query.clone();
        let (found, titles) = call
            .app
            .with_guide(move |guide| {
                let found = guide.knowledge(&self.query)?;
                let titles = if found.total == 0 { guide.titles(SUGGESTED) } else { Vec::new() };
                Ok::<_, Report>((found, titles))
            })
            .await??;
        let total = found.total;
        let text = told(&query, &found, &titles);
        let readable = readable(&call.app);
        let articles = found.matches.into_iter().map(|article| Article {
            uri: readable.then(|| {
                let path = article.path.strip_suffix(".md").unwrap_or(&article.path);
                format!("{}{path}", pack::KNOWLEDGE_URI)
            }),
            title: article.title,
            path: article.path,
            snippet: article.snippet,
        });
        Ok(Data { value: Found { articles: articles.collect(), total }, text: Some(text) })
    }
}

/// Whether the articles are documents of the pack that the caller can read as well.
fn readable(app: &App) -> bool {
    let own = app.guide().is_ok_and(|guide| Guide::is_immutable(guide));
    let served = app.library().is_ok_and(|library| {
        library
            .sources()
            .iter()
            .any(|source| source.name.as_str() == pack::SOURCE && source.layout.has_documents())
    });
    own && served && app.tool("read", app.scope()).is_some()
}

fn told(query: &str, found: &Articles, titles: &[String]) -> String {
    let query = text::cap(text::one_line(query.trim()), 200);
    let mut text = match found.total {
        0 => format!("No knowledge base entries match '{query}'."),
        1 => format!("1 knowledge base entry matches '{query}':"),
        total => format!("{total} knowledge base entries match '{query}':"),
    };
    for article in &found.matches {
        let _ = write!(
            text,
            "\n\n- **{}** ({})\n  {}",
            article.title,
            text::one_line(&article.path),
            article.snippet
        );
    }
    let more = found.total - found.matches.len();
    if more > 0 {
        let _ = write!(text, "\n\n{more} more match: use a longer term.");
    }
    if !titles.is_empty() {
        let _ = write!(text, " Try a shorter term. The entries are: {}.", titles.join("; "));
    }
    if found.unreadable > 0 {
        let _ = write!(text, "\n\n{} entries could not be read.", found.unreadable);
    }
    text
}
