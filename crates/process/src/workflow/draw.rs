//! The graph with its state, as text that other programs draw.

use std::fmt::Write;

use super::graph::Graph;
use super::planner::{Progress, Standing};

/// A Mermaid flowchart.
pub fn mermaid(graph: &Graph, progress: &Progress) -> String {
    let mut chart = "flowchart LR\n".to_owned();
    for node in graph.nodes() {
        let class = name(graph.standing(node, progress));
        let label = label(&node.title);
        let _ = writeln!(chart, "  {}[\"{label}\"]:::{class}", vertex(graph, &node.id));
    }
    for node in graph.nodes() {
        for before in graph.before(node) {
            let _ = writeln!(chart, "  {} --> {}", vertex(graph, before), vertex(graph, &node.id));
        }
    }
    for standing in [Standing::Done, Standing::Ready, Standing::Blocked] {
        let Colours { fill, line, text } = Colours::of(standing);
        let _ =
            writeln!(chart, "  classDef {} fill:{fill},stroke:{line},color:{text}", name(standing));
    }
    chart
}

/// A graph for Graphviz.
pub fn dot(graph: &Graph, progress: &Progress) -> String {
    let mut drawing = "digraph workflow {\n  rankdir=LR;\n  \
        node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n"
        .to_owned();
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    for node in graph.nodes() {
        let Colours { fill, line, text } = Colours::of(graph.standing(node, progress));
        let label = quoted(&node.title.replace(['\n', '\r'], " "));
        let _ = writeln!(
            drawing,
            "  {} [label={label}, fillcolor=\"{fill}\", color=\"{line}\", fontcolor=\"{text}\"];",
            quoted(&node.id)
        );
    }
    for node in graph.nodes() {
        for before in graph.before(node) {
            let _ = writeln!(drawing, "  {} -> {};", quoted(before), quoted(&node.id));
        }
    }
    drawing + "}\n"
}

/// The word for where a step stands.
fn name(standing: Standing) -> &'static str {
    match standing {
        Standing::Done => "done",
        Standing::Ready => "ready",
        Standing::Blocked => "blocked",
    }
}

/// How a step is drawn: light enough to print, dark enough to read.
struct Colours {
    fill: &'static str,
    line: &'static str,
    text: &'static str,
}

impl Colours {
    fn of(standing: Standing) -> Self {
        match standing {
            Standing::Done => Self { fill: "#d8f0dc", line: "#2e7d3a", text: "#14401b" },
            Standing::Ready => Self { fill: "#dbe9ff", line: "#1f5fbf", text: "#0c2f66" },
            Standing::Blocked => Self { fill: "#f1f1f1", line: "#9a9a9a", text: "#555555" },
        }
    }
}

/// An id that is no word of Mermaid, such as `end`, and no arrow, such as `a--b`.
fn vertex(graph: &Graph, id: &str) -> String {
    if id.contains('-') {
        format!("n{}", graph.number(id).unwrap_or_default())
    } else {
        format!("s_{id}")
    }
}

/// A title that ends no quotes and is no markup.
fn label(title: &str) -> String {
    let mut label = String::with_capacity(title.len());
    for c in title.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' => {
                let _ = write!(label, "#{};", u32::from(c));
            }
            c if c.is_control() => label.push(' '),
            c => label.push(c),
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::graph::GraphFile;
    use super::super::state::State;
    use super::*;

    fn graph() -> (Graph, Progress) {
        let file: GraphFile = serde_json::from_value(json!({"nodes": [
            {"id": "end", "title": "The \"end\"\n<b>", "phase": 1},
            {"id": "a--b", "phase": 2, "dependsOn": ["end"]},
            {"id": "last", "phase": 3, "dependsOn": ["a--b"]},
        ]}))
        .unwrap();
        let graph = Graph::new(Some(file), &[]).unwrap();
        let state: State =
            serde_json::from_value(json!({"completed": {"end": {"at": "t"}}})).unwrap();
        let progress = graph.progress(&state);
        (graph, progress)
    }

    #[test]
    fn mermaid_shows_steps_arrows_and_standing() {
        let (graph, progress) = graph();
        let chart = mermaid(&graph, &progress);
        let lines: Vec<&str> = chart.lines().collect();
        assert_eq!(
            lines[..6],
            [
                "flowchart LR",
                "  s_end[\"The #34;end#34; #60;b#62;\"]:::done",
                "  n2[\"a--b\"]:::ready",
                "  s_last[\"last\"]:::blocked",
                "  s_end --> n2",
                "  n2 --> s_last",
            ]
        );
    }

    #[test]
    fn dot_shows_the_same() {
        let (graph, progress) = graph();
        let drawing = dot(&graph, &progress);
        assert!(
            drawing.contains("\"end\" [label=\"The \\\"end\\\" <b>\", fillcolor=\"#d8f0dc\""),
            "{drawing}"
        );
        assert!(drawing.contains("\"end\" -> \"a--b\";") && drawing.ends_with("}\n"), "{drawing}");
    }
}
