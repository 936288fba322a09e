//! Graphs for people: as text that other programs draw, and as a picture.
//!
//! What a node is does not matter here: whoever has a graph names its nodes, says where each stands,
//! and which comes before which.

mod svg;

use std::fmt::Write;

use rutter_base::text::one_line;

pub use svg::TooManyNodes;

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Done.
    Done,
    /// Somebody is at it.
    Active,
    /// It can be begun.
    Ready,
    /// It waits for others.
    Waiting,
    /// It cannot go on.
    Blocked,
    /// It is left out.
    Aside,
}

impl State {
    /// All of them, in the order of a legend.
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Active, Self::Ready, Self::Waiting, Self::Blocked, Self::Aside];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Active => "active",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Aside => "aside",
        }
    }

    /// How it is drawn: light enough to print, dark enough to read.
    fn colours(self) -> Colours {
        let (fill, line, text) = match self {
            Self::Done => ("#d8f0dc", "#2e7d3a", "#14401b"),
            Self::Active => ("#fff0c2", "#a87400", "#4d3500"),
            Self::Ready => ("#dbe9ff", "#1f5fbf", "#0c2f66"),
            Self::Waiting => ("#f1f1f1", "#8a8a8a", "#444444"),
            Self::Blocked => ("#fbdcdc", "#b3261e", "#601410"),
            Self::Aside => ("#ffffff", "#bbbbbb", "#777777"),
        };
        Colours { fill, line, text }
    }
}

struct Colours {
    fill: &'static str,
    line: &'static str,
    text: &'static str,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What people call it.
    pub label: String,
    /// What else there is to say, in a few words.
    pub caption: String,
    /// Where it stands.
    pub state: State,
}

/// Nodes, and which comes before which.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// What the picture shows.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Pairs of places in `nodes`: the first comes before the second.
    pub edges: Vec<(usize, usize)>,
}

impl Graph {
    /// A Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let mut chart = "flowchart TB\n".to_owned();
        for (number, node) in self.nodes.iter().enumerate() {
            let (label, caption) = (mermaid_text(&node.label), mermaid_text(&node.caption));
            let state = node.state.name();
            let _ = writeln!(chart, "  n{number}[\"{label}<br/>{caption}\"]:::{state}");
        }
        for (before, after) in &self.edges {
            let _ = writeln!(chart, "  n{before} --> n{after}");
        }
        for state in self.states() {
            let Colours { fill, line, text } = state.colours();
            let name = state.name();
            let _ = writeln!(chart, "  classDef {name} fill:{fill},stroke:{line},color:{text}");
        }
        chart
    }

    /// A graph for Graphviz.
    pub fn dot(&self) -> String {
        let mut drawing = "digraph {\n  node [shape=box, style=\"rounded,filled\", \
            fontname=\"sans-serif\"];\n"
            .to_owned();
        for (number, node) in self.nodes.iter().enumerate() {
            let Colours { fill, line, text } = node.state.colours();
            let quoted = |text: &str| one_line(text).replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(
                drawing,
                "  n{number} [label=\"{}\\n{}\", fillcolor=\"{fill}\", color=\"{line}\", \
                 fontcolor=\"{text}\"];",
                quoted(&node.label),
                quoted(&node.caption)
            );
        }
        for (before, after) in &self.edges {
            let _ = writeln!(drawing, "  n{before} -> n{after};");
        }
        drawing + "}\n"
    }

    /// A picture.
    pub fn svg(&self) -> Result<String, TooManyNodes> {
        svg::svg(self)
    }

    /// The states that occur.
    fn states(&self) -> impl Iterator<Item = State> {
        let occurs = |state: &State| self.nodes.iter().any(|node| node.state == *state);
        State::ALL.into_iter().filter(occurs)
    }
}

/// A text that ends no quotes and is no markup.
fn mermaid_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if matches!(c, '"' | '#' | '<' | '>' | '&' | '`' | ';' | '\\') {
            let _ = write!(safe, "#{};", u32::from(c));
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let node =
            |label: &str, state| Node { label: label.into(), caption: "1 · a".into(), state };
        Graph {
            title: "Tasks & <more>".into(),
            nodes: vec![
                node("The \"end\"\n<b>\u{1b}[2J", State::Done),
                node("next", State::Ready),
                node("last", State::Waiting),
            ],
            edges: vec![(0, 1), (1, 2)],
        }
    }

    #[test]
    fn mermaid_shows_nodes_arrows_and_states() {
        let chart = graph().mermaid();
        let lines: Vec<&str> = chart.lines().collect();
        assert_eq!(
            lines[..6],
            [
                "flowchart TB",
                "  n0[\"The #34;end#34;\u{fffd}#60;b#62;\u{fffd}[2J<br/>1 · a\"]:::done",
                "  n1[\"next<br/>1 · a\"]:::ready",
                "  n2[\"last<br/>1 · a\"]:::waiting",
                "  n0 --> n1",
                "  n1 --> n2",
            ]
        );
        assert_eq!(lines.len(), 9);
    }

    #[test]
    fn dot_shows_the_same() {
        let drawing = graph().dot();
        assert!(drawing.contains("n0 [label=\"The \\\"end\\\"\u{fffd}<b>"), "{drawing}");
        assert!(drawing.contains("n1 -> n2;") && drawing.ends_with("}\n"), "{drawing}");
    }

    #[test]
    fn a_picture_shows_every_node_and_is_safe_to_open() {
        let picture = graph().svg().unwrap();
        assert!(picture.contains("✓ The &quot;end&quot;\u{fffd}&lt;b&gt;"), "{picture}");
        assert!(picture.contains("Tasks &amp; &lt;more&gt;"), "{picture}");
        assert_eq!(picture.matches("marker-end").count(), 2, "{picture}");
        assert!(!picture.contains("NaN") && !picture.contains("<b>"), "{picture}");
        assert!(Graph::default().svg().unwrap().ends_with("</svg>\n"));
    }

    #[test]
    fn too_many_nodes_make_no_picture() {
        let node = Node { label: "x".into(), caption: String::new(), state: State::Ready };
        let graph = Graph { nodes: vec![node; 501], ..Graph::default() };
        assert!(graph.svg().unwrap_err().to_string().contains("501"));
    }
}
