//! A graph as a picture: laid out in layers by `dagre`, drawn here.

use std::fmt::Write;

use dagre::graph::Graph as Layout;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, Point, RankDir};
use rutter_base::text::one_line;

use super::{Colours, Graph, Node, State};

/// More nodes make no readable picture.
const MAX_NODES: usize = 500;
const HEIGHT: f64 = 46.0;
/// What a character of a label takes, at most, in the font that is used.
const CHARACTER: f64 = 7.4;
const MARGIN: f64 = 24.0;
const LEGEND: f64 = 44.0;
/// The longest line in a box, in characters.
const MAX_LINE: usize = 40;

/// Why there is no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyNodes(usize);

impl std::fmt::Display for TooManyNodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a picture of {} boxes cannot be read", self.0)
    }
}

impl std::error::Error for TooManyNodes {}

pub(super) fn svg(graph: &Graph) -> Result<String, TooManyNodes> {
    if graph.nodes.len() > MAX_NODES {
        return Err(TooManyNodes(graph.nodes.len()));
    }
    let layout = lay_out(graph);
    let boxes: Vec<(&Node, &NodeLabel)> = graph
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(number, node)| Some((node, layout.node(&number.to_string())?)))
        .collect();
    let far = |least: f64, edge: fn(&NodeLabel) -> f64| {
        boxes.iter().map(|(_, at)| edge(at)).fold(least, f64::max)
    };
    let width = far(620.0, |at| at.x.unwrap_or_default() + at.width / 2.0) + MARGIN;
    let height = far(0.0, |at| at.y.unwrap_or_default() + at.height / 2.0) + LEGEND + MARGIN;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"Helvetica, Arial, sans-serif\" role=\"img\">\n\
         <title>{}</title>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#777\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escape(&one_line(&graph.title))
    );
    legend(&mut picture, graph);
    let _ = writeln!(picture, "<g transform=\"translate(0 {LEGEND})\">");
    for (before, after) in &graph.edges {
        if let Some(edge) = layout.edge(&before.to_string(), &after.to_string(), None) {
            arrow(&mut picture, &edge.points);
        }
    }
    for (node, at) in boxes {
        draw_box(&mut picture, node, at);
    }
    picture.push_str("</g>\n</svg>\n");
    Ok(picture)
}

fn lay_out(graph: &Graph) -> Layout<NodeLabel, EdgeLabel> {
    let mut layout = Layout::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let longest = shown(&node.label).chars().count() + 2;
        let longest = longest.max(shown(&node.caption).chars().count());
        #[expect(clippy::cast_precision_loss, reason = "a line has at most 40 characters")]
        let width = longest as f64 * CHARACTER + 28.0;
        let label = NodeLabel { width, height: HEIGHT, ..NodeLabel::default() };
        layout.set_node(number.to_string().as_str(), Some(label));
    }
    for (before, after) in &graph.edges {
        let (before, after) = (before.to_string(), after.to_string());
        layout.set_edge(before.as_str(), after.as_str(), Some(EdgeLabel::default()), None);
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

fn legend(picture: &mut String, graph: &Graph) {
    let mut x = MARGIN;
    for state in graph.states() {
        let Colours { fill, line, text } = state.colours();
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"14\" width=\"18\" height=\"14\" rx=\"3\" fill=\"{fill}\" stroke=\"{line}\"/>\
             <text x=\"{}\" y=\"26\" font-size=\"13\" fill=\"{text}\">{}</text>",
            x + 25.0,
            state.name()
        );
        x += 100.0;
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

fn draw_box(picture: &mut String, node: &Node, at: &NodeLabel) {
    let (Some(x), Some(y)) = (at.x, at.y) else { return };
    let Colours { fill, line, text } = node.state.colours();
    let (left, top) = (x - at.width / 2.0, y - at.height / 2.0);
    // Whoever sees no colours sees the outline and the mark.
    let dashed = matches!(node.state, State::Waiting | State::Blocked | State::Aside);
    let dashes = if dashed { " stroke-dasharray=\"4 3\"" } else { "" };
    let mark = match node.state {
        State::Done => "✓ ",
        State::Active => "▶ ",
        State::Blocked => "✗ ",
        State::Ready | State::Waiting | State::Aside => "",
    };
    let _ = writeln!(
        picture,
        "<g><title>{full}: {state}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
         height=\"{HEIGHT}\" rx=\"7\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"1.5\"{dashes}/>\
         <text x=\"{x:.1}\" y=\"{label_y:.1}\" font-size=\"13\" font-weight=\"600\" text-anchor=\"middle\" \
         fill=\"{text}\">{mark}{label}</text>\
         <text x=\"{x:.1}\" y=\"{caption_y:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"{text}\">{caption}</text></g>",
        full = escape(&one_line(&node.label)),
        state = node.state.name(),
        width = at.width,
        label_y = y - 3.0,
        caption_y = y + 13.0,
        label = escape(&shown(&node.label)),
        caption = escape(&shown(&node.caption)),
    );
}

/// A line that fits in a box.
fn shown(text: &str) -> String {
    let line = one_line(text);
    if line.chars().count() <= MAX_LINE {
        return line;
    }
    line.chars().take(MAX_LINE - 1).chain(['…']).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
