//! The figures as Markdown.

use std::fmt::Write;
use std::time::Duration;

use crate::measure::{Calls, Case, Participant, Run};
use crate::session::{Server, Wire};

const BEGIN: &str = "<!-- figures: begin (written by scripts/bench --write) -->";
const END: &str = "<!-- figures: end -->";

/// The targets of the project.
const MAX_START_RATIO: f64 = 2.0;
const MIN_TYPESCRIPT_RATIO: f64 = 50.0;
const MAX_RESIDENT_MIB: f64 = 12.0;
const MAX_CALL_RATIO: f64 = 1.5;

/// Replaces what is between the markers of a page.
pub(crate) fn splice(page: &str, figures: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", figures.trim()))
}

/// All tables.
pub(crate) fn render(run: &Run, machine: &str, participants: &[Participant]) -> String {
    let versions: Vec<String> = participants
        .iter()
        .map(|participant| format!("{} {}", participant.server, participant.version))
        .collect();
    let parts = [
        format!("Machine: {machine}.\nVersions: {}.", versions.join(", ")),
        targets(run),
        starts(run),
        memory(run),
        calls(run),
    ];
    parts.join("\n\n")
}

/// Appends a row; writing to a string does not fail.
macro_rules! row {
    ($table:expr, $($cell:tt)*) => {{ let _ = write!($table, "\n| {} |", format_args!($($cell)*)); }};
}

fn targets(run: &Run) -> String {
    let mut table = "| target | limit | measured | met |\n|---|--:|--:|---|".to_owned();
    let median = |server| run.start(server, Wire::Pipes).map(|start| start.times.median());
    let rutter = median(Server::Rutter).unwrap_or_default();
    if let Some(bare) = median(Server::Bare) {
        let ratio = ratio(rutter, bare);
        let met = yes(ratio <= MAX_START_RATIO);
        row!(table, "start, against bare rmcp | ≤ {MAX_START_RATIO:.1}× | {ratio:.2}× | {met}");
    }
    if let Some(typescript) = median(Server::TypeScript) {
        let ratio = ratio(typescript, rutter);
        let met = yes(ratio >= MIN_TYPESCRIPT_RATIO);
        row!(
            table,
            "start, faster than the TypeScript SDK | ≥ {MIN_TYPESCRIPT_RATIO:.0}× | {ratio:.1}× | {met}"
        );
    }
    if let Some((_, memory)) = run.memory.iter().find(|(server, _)| *server == Server::Rutter) {
        let resident = mib(memory.resident_kib);
        let met = yes(resident <= MAX_RESIDENT_MIB);
        row!(table, "resident memory | ≤ {MAX_RESIDENT_MIB:.0} MiB | {resident:.1} MiB | {met}");
    }
    for case in Case::ALL.into_iter().filter(|case| *case != Case::Ping) {
        let median = |server| run.call(case, server, Wire::Pipes).map(|calls| calls.times.median());
        let (Some(rutter), Some(bare)) = (median(Server::Rutter), median(Server::Bare)) else {
            continue;
        };
        let ratio = ratio(rutter, bare);
        let met = yes(ratio <= MAX_CALL_RATIO);
        row!(
            table,
            "round trip of {}, against bare rmcp | ≤ {MAX_CALL_RATIO:.1}× | {ratio:.2}× | {met}",
            case.name()
        );
    }
    table
}

fn starts(run: &Run) -> String {
    let mut table = "Start, from the spawn to the answer to `initialize`:\n\n\
        | server | streams | median | p95 | against bare | starts |\n|---|---|--:|--:|--:|--:|"
        .to_owned();
    for start in &run.starts {
        let bare = run.start(Server::Bare, start.wire).map(|bare| bare.times.median());
        row!(
            table,
            "{} | {} | {:.2} ms | {:.2} ms | {:.2}× | {}",
            start.server,
            start.wire,
            milliseconds(start.times.median()),
            milliseconds(start.times.p95()),
            ratio(start.times.median(), bare.unwrap_or_default()),
            start.times.count()
        );
    }
    table
}

fn memory(run: &Run) -> String {
    let mut table = "Memory after `initialize` and `tools/list`:\n\n\
        | server | resident | of it private |\n|---|--:|--:|"
        .to_owned();
    for (server, memory) in &run.memory {
        row!(
            table,
            "{server} | {:.1} MiB | {:.1} MiB",
            mib(memory.resident_kib),
            mib(memory.private_kib)
        );
    }
    table
}

fn calls(run: &Run) -> String {
    let core = if run.on_one_core { "on one core" } else { "on any core" };
    let mut table = format!(
        "Round trips, one after the other, client and server {core}:\n\n\
        | request | streams | server | answer | median | p95 | against bare | computing | against bare |\n\
        |---|---|---|--:|--:|--:|--:|--:|--:|"
    );
    for case in Case::ALL {
        for wire in Wire::ALL {
            let bare = run.call(case, Server::Bare, wire);
            for calls in run.calls.iter().filter(|calls| calls.case == case && calls.wire == wire) {
                call(&mut table, calls, bare);
            }
        }
    }
    table
}

fn call(table: &mut String, calls: &Calls, bare: Option<&Calls>) {
    let (bare_time, bare_computed) =
        bare.map(|bare| (bare.times.median(), bare.computed)).unwrap_or_default();
    row!(
        table,
        "{} | {} | {} | {} B | {:.1} µs | {:.1} µs | {:.2}× | {:.1} µs | {:.2}×",
        calls.case.name(),
        calls.wire,
        calls.server,
        calls.bytes,
        microseconds(calls.times.median()),
        microseconds(calls.times.p95()),
        ratio(calls.times.median(), bare_time),
        microseconds(calls.computed),
        ratio(calls.computed, bare_computed)
    );
}

fn yes(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

fn ratio(time: Duration, against: Duration) -> f64 {
    if against.is_zero() { f64::NAN } else { time.as_secs_f64() / against.as_secs_f64() }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn mib(kib: u32) -> f64 {
    f64::from(kib) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_replace_only_what_is_between_the_markers() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let spliced = splice(&page, "new\n").unwrap();
        assert_eq!(spliced, format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(splice(&spliced, "new"), Some(spliced.clone()));
        assert_eq!(splice("no markers", "new"), None);
    }
}
