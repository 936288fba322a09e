//! THE TABLE: every tool that is always there, one line each.
//!
//! To add one, write a struct with its arguments that implements [`Tool`](crate::tool::Tool) in
//! the file of its module, and name it here. Tools that content makes come from
//! [`Module::tools`](crate::module::Module::tools).

mod board;
mod knowledge;
mod process;
mod search;
mod workflow;

use crate::tool::Entry;

/// All tools that are always there.
pub fn table() -> Vec<Entry> {
    let mut table = vec![
        // knowledge
        Entry::of::<knowledge::Read>(),
        Entry::of::<search::Search>(),
        // process
        Entry::of::<process::orchestration::GetStage>(),
        Entry::of::<process::orchestration::GetReviewPrompt>(),
        Entry::of::<process::orchestration::GetTransitionPrompt>(),
        Entry::of::<process::artifacts::GetArtifactSpec>(),
        Entry::of::<process::artifacts::GetArtifactStub>(),
        Entry::of::<process::project::GetProjectTypeGuidance>(),
        Entry::of::<process::project::CheckProjectStructure>(),
        Entry::of::<process::project::CheckProjectHealth>(),
        Entry::of::<process::governance::GetRulesSpec>(),
        Entry::of::<process::governance::GetContextSpec>(),
        Entry::of::<process::capabilities::QueryCapabilities>(),
        Entry::of::<process::capabilities::GetCapabilityDetail>(),
        Entry::of::<process::knowledge::QueryKnowledge>(),
        // workflow
        Entry::of::<workflow::AdvanceState>(),
        Entry::of::<workflow::ExportTaskList>(),
        Entry::of::<workflow::SuggestNextCalls>(),
    ];
    table.extend(board::table());
    table
}
