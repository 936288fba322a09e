//! The two text files beside the database.

use rutter_base::failure::Report;
use rutter_base::text;
use rutter_board::StateFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::module::ModuleId;
use crate::tool::{Call, Data, Effect, Tool};

/// The `append_learning` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendLearning {
    text: String,
}

/// The `append_progress` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendProgress {
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

/// What was appended is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Recorded {
    recorded: bool,
}

/// What a file holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Contents {
    text: String,
}

impl Tool for AppendLearning {
    const NAME: &'static str = "append_learning";
    const TITLE: &'static str = "Record a learning";
    const DESCRIPTION: &'static str = "Append to .ralph/learnings.txt";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Data<Recorded>;

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
    type Output = Data<Recorded>;

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
    type Output = Data<Contents>;

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
    type Output = Data<Contents>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        read(call, StateFile::Progress).await
    }
}

async fn append(call: Call, file: StateFile, text: String) -> Result<Data<Recorded>, Report> {
    call.app.with_state_files(move |files| files.append(file, &text)).await??;
    Ok(Data { value: Recorded { recorded: true }, text: Some("recorded".into()) })
}

async fn read(call: Call, file: StateFile) -> Result<Data<Contents>, Report> {
    let limit = call.app.limits().payload;
    let text = call.app.with_state_files(move |files| files.read(file)).await??;
    let text = text::cap(text, limit);
    let shown = if text.is_empty() { "nothing is recorded yet".into() } else { text.clone() };
    Ok(Data { value: Contents { text }, text: Some(shown) })
}
