//! The graph as a picture: laid out in layers by `dagre`, drawn here.

use std::fmt::Write;

use dagre::graph::Graph as Layout;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, Point, RankDir};

use super::{Colours, name};
use crate::workflow::graph::{Graph, Node};
use crate::workflow::planner::{Progress, Standing};

/// More steps make no readable picture.
const MAX_STEPS: usize = 500;
const HEIGHT: f64 = 46.0;
/// What a character takes: of the title, which is bold, and of the line below it.
const TITLE_CHARACTER: f64 = 8.4;
const CAPTION_CHARACTER: f64 = 6.6;
const MARGIN: f64 = 24.0;
const LEGEND: f64 = 44.0;
/// The longest line in a box, in characters.
const MAX_LINE: usize = 40;

/// Why there is no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a picture of {0} steps cannot be read: draw it with `--graph dot` and a tool of your own")]
pub struct TooManySteps(usize);

/// A picture of the graph and its state.
pub fn svg(graph: &Graph, progress: &Progress) -> Result<String, TooManySteps> {
    if graph.nodes().len() > MAX_STEPS {
        return Err(TooManySteps(graph.nodes().len()));
    }
    let layout = lay_out(graph);
    let boxes: Vec<(&Node, &NodeLabel)> =
        graph.nodes().iter().filter_map(|node| Some((node, layout.node(&node.id)?))).collect();
    let far =
        |edge: fn(&NodeLabel) -> f64| boxes.iter().map(|(_, at)| edge(at)).fold(360.0, f64::max);
    let width = far(|at| at.x.unwrap_or_default() + at.width / 2.0) + MARGIN;
    let height = far(|at| at.y.unwrap_or_default() + at.height / 2.0).max(0.0) + LEGEND + MARGIN;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"Helvetica, Arial, sans-serif\" role=\"img\" \
         aria-label=\"The workflow and its state\">\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#777\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    legend(&mut picture);
    let _ = writeln!(picture, "<g transform=\"translate(0 {LEGEND})\">");
    for node in graph.nodes() {
        for before in graph.before(node) {
            if let Some(edge) = layout.edge(before, &node.id, None) {
                arrow(&mut picture, &edge.points);
            }
        }
    }
    for (node, at) in boxes {
        step(&mut picture, node, at, graph.standing(node, progress));
    }
    picture.push_str("</g>\n</svg>\n");
    Ok(picture)
}

fn lay_out(graph: &Graph) -> Layout<NodeLabel, EdgeLabel> {
    let mut layout = Layout::new();
    for node in graph.nodes() {
        #[expect(clippy::cast_precision_loss, reason = "a line has at most 40 characters")]
        let length = |line: &str, character: f64| line.chars().count() as f64 * character;
        let title = length(&shown(&node.title), TITLE_CHARACTER);
        let width = title.max(length(&caption(node), CAPTION_CHARACTER)) + 36.0;
        layout.set_node(
            node.id.as_str(),
            Some(NodeLabel { width, height: HEIGHT, ..NodeLabel::default() }),
        );
    }
    for node in graph.nodes() {
        for before in graph.before(node) {
            layout.set_edge(before, node.id.as_str(), Some(EdgeLabel::default()), None);
        }
    }
    let options = LayoutOptions {
        rankdir: RankDir::TB,
        nodesep: 36.0,
        ranksep: 52.0,
        marginx: MARGIN,
        marginy: 8.0,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut layout, Some(options));
    layout
}

fn legend(picture: &mut String) {
    let mut x = MARGIN;
    for standing in [Standing::Done, Standing::Ready, Standing::Blocked] {
        let Colours { fill, line, text } = Colours::of(standing);
        let word = name(standing);
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"14\" width=\"18\" height=\"14\" rx=\"3\" fill=\"{fill}\" stroke=\"{line}\"/>\
             <text x=\"{}\" y=\"26\" font-size=\"13\" fill=\"{text}\">{word}</text>",
            x + 25.0
        );
        x += 110.0;
    }
}

/// A smooth line through the points of an edge.
fn arrow(picture: &mut String, points: &[Point]) {
    let [first, inner @ .., last] = points else { return };
    let mut path = format!("M{:.1} {:.1}", first.x, first.y);
    let mut bends = inner.iter().peekable();
    while let Some(bend) = bends.next() {
        let (x, y) = match bends.peek() {
            Some(next) => (f64::midpoint(bend.x, next.x), f64::midpoint(bend.y, next.y)),
            None => (last.x, last.y),
        };
        let _ = write!(path, " Q{:.1} {:.1} {x:.1} {y:.1}", bend.x, bend.y);
    }
    if inner.is_empty() {
        let _ = write!(path, " L{:.1} {:.1}", last.x, last.y);
    }
    let _ = writeln!(
        picture,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#777\" stroke-width=\"1.3\" marker-end=\"url(#arrow)\"/>"
    );
}

fn step(picture: &mut String, node: &Node, at: &NodeLabel, standing: Standing) {
    let (Some(x), Some(y)) = (at.x, at.y) else { return };
    let Colours { fill, line, text } = Colours::of(standing);
    let (left, top) = (x - at.width / 2.0, y - at.height / 2.0);
    // Whoever sees no colours sees the outline.
    let dashes = if standing == Standing::Blocked { " stroke-dasharray=\"4 3\"" } else { "" };
    let mark = if standing == Standing::Done { "✓ " } else { "" };
    let _ = writeln!(
        picture,
        "<g><title>{id}: {word}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
         height=\"{HEIGHT}\" rx=\"7\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"1.5\"{dashes}/>\
         <text x=\"{x:.1}\" y=\"{title_y:.1}\" font-size=\"13\" font-weight=\"600\" text-anchor=\"middle\" \
         fill=\"{text}\">{mark}{title}</text>\
         <text x=\"{x:.1}\" y=\"{caption_y:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"{text}\">{caption}</text></g>",
        id = escape(&node.id),
        word = name(standing),
        width = at.width,
        title_y = y - 3.0,
        caption_y = y + 13.0,
        title = escape(&shown(&node.title)),
        caption = escape(&caption(node)),
    );
}

/// The second line of a box.
fn caption(node: &Node) -> String {
    match &node.phase {
        Some(phase) => shown(&format!("{} · {phase}", node.id)),
        None => shown(&node.id),
    }
}

/// A line that fits in a box.
fn shown(text: &str) -> String {
    let line = rutter_base::text::one_line(text);
    if line.chars().count() <= MAX_LINE {
        return line;
    }
    line.chars().take(MAX_LINE - 1).chain(['…']).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
