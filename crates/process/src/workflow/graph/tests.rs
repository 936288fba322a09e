use super::*;

fn graph(nodes: &str) -> Result<Graph, String> {
    let file: GraphFile = serde_json::from_str(nodes).unwrap();
    Graph::new(Some(file), &[]).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(nodes: &str, expected: &str) {
    assert_eq!(graph(nodes).unwrap_err(), expected);
}

#[test]
fn what_is_no_graph_is_refused_by_name() {
    refused(r#"{"nodes": [{"id": "a", "dependsOn": ["a"]}]}"#, "`a` depends on itself");
    refused(r#"{"nodes": [{"id": "a"}, {"id": "a"}]}"#, "two nodes have the id `a`");
    refused(
        r#"{"nodes": [{"id": "a", "dependsOn": ["b"]}]}"#,
        "`a` depends on `b`, which is no node",
    );
    refused(
        r#"{"nodes": [{"id": "start"}, {"id": "a", "dependsOn": ["start", "c"]}, {"id": "b", "dependsOn": ["a"]},
            {"id": "c", "dependsOn": ["b"]}, {"id": "end", "dependsOn": ["c"]}]}"#,
        "a cycle: `b` → `c` → `a` → `b`",
    );
    refused(
        "{\"nodes\": [{\"id\": \"a\\u001b[2J\"}]}",
        "`a\u{FFFD}[2J` cannot be the id of a node: use 1 to 64 letters, digits, `_` and `-`",
    );
}

#[test]
fn a_chain_of_100_000_nodes_overflows_nothing() {
    let mut nodes: Vec<Value> = (1..100_000)
        .map(|n| serde_json::json!({"id": format!("n{n}"), "dependsOn": [format!("n{}", n - 1)]}))
        .collect();
    nodes.push(serde_json::json!({"id": "n0"}));
    let file = |nodes: &[Value]| {
        serde_json::from_value::<GraphFile>(serde_json::json!({"nodes": nodes})).unwrap()
    };
    let graph = Graph::new(Some(file(&nodes)), &[]).unwrap();
    assert_eq!(graph.nodes().len(), 100_000);
    // The same as a ring.
    nodes.pop();
    nodes.push(serde_json::json!({"id": "n0", "dependsOn": ["n99999"]}));
    let error = Graph::new(Some(file(&nodes)), &[]).unwrap_err().to_string();
    assert!(error.starts_with("a cycle: ") && error.len() < 500, "{error}");
}

#[test]
fn steps_are_in_order_of_phase_then_id() {
    let graph = graph(
        r#"{"phases": ["think", "act"], "nodes": [{"id": "z", "phase": "think"}, {"id": "b", "phase": "act"},
            {"id": "a", "phase": "act"}, {"id": "odd", "phase": "rest"}, {"id": "none"}]}"#,
    )
    .unwrap();
    let ids: Vec<&str> = graph.nodes().iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["z", "a", "b", "odd", "none"]);
}
