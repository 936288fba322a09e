//! Tools over the board's state files.

use rutter_base::failure::Report;
use rutter_board::StateFile;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::module::ModuleId;
use crate::tool::{Call, Effect, Text, Tool};

/// The `append_learning` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendLearning {
    /// What was learned
    text: String,
}

/// The `append_progress` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendProgress {
    /// What was done
    text: String,
}

/// The `read_learnings` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadLearnings {}

/// The `read_progress` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadProgress {}

impl Tool for AppendLearning {
    const NAME: &'static str = "append_learning";
    const TITLE: &'static str = "Record a learning";
    const DESCRIPTION: &'static str = "Append to .ralph/learnings.txt";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        append(call, StateFile::Learnings, self.text).await
    }
}

impl Tool for AppendProgress {
    const NAME: &'static str = "append_progress";
    const TITLE: &'static str = "Record progress";
    const DESCRIPTION: &'static str = "Append to .ralph/progress.txt";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        append(call, StateFile::Progress, self.text).await
    }
}

impl Tool for ReadLearnings {
    const NAME: &'static str = "read_learnings";
    const TITLE: &'static str = "Read the learnings";
    const DESCRIPTION: &'static str = "Read .ralph/learnings.txt";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        read(call, StateFile::Learnings).await
    }
}

impl Tool for ReadProgress {
    const NAME: &'static str = "read_progress";
    const TITLE: &'static str = "Read the progress";
    const DESCRIPTION: &'static str = "Read .ralph/progress.txt";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        read(call, StateFile::Progress).await
    }
}

async fn append(call: Call, file: StateFile, text: String) -> Result<Text, Report> {
    call.app.with_state_files(move |files| files.append(file, &text)).await??;
    Ok(Text("recorded".into()))
}

async fn read(call: Call, file: StateFile) -> Result<Text, Report> {
    let text = call.app.with_state_files(move |files| files.read(file)).await??;
    Ok(Text(if text.is_empty() { "nothing is recorded yet".into() } else { text }))
}
