//! Features, and what was learned about them.

use rutter_base::failure::Report;
use rutter_board::{
    Feature, FeatureEntry, FeaturePatch, Learning, LearningSource, NewFeature, NewLearning, TaskId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deleted, Name, Record, board_for, deleted, page};
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Tool};

/// The `list_features` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListFeatures {
    #[serde(default)]
    cursor: Option<String>,
}

/// Some of the features.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Features {
    features: Vec<FeatureEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for ListFeatures {
    const NAME: &'static str = "list_features";
    const TITLE: &'static str = "List features";
    const DESCRIPTION: &'static str = "List all features with descriptions";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Features>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let found = call.app.board()?.list_features(page(self.cursor, None)).await?;
        Ok(Record(Features { features: found.entries, next_cursor: found.next }))
    }
}

/// The `get_feature` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetFeature {
    name: String,
}

impl Tool for GetFeature {
    const NAME: &'static str = "get_feature";
    const TITLE: &'static str = "Get a feature";
    const DESCRIPTION: &'static str =
        "Get full feature details including learnings and context files";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Reads;
    type Output = Record<Feature>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        Ok(Record(call.app.board()?.feature(&self.name).await?))
    }
}

/// The `create_feature` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateFeature {
    name: String,
    display_name: String,
    #[serde(default)]
    description: Option<String>,
    /// Default: derived
    #[serde(default)]
    acronym: Option<String>,
    #[serde(default)]
    knowledge_paths: Option<Vec<String>>,
    #[serde(default)]
    context_files: Option<Vec<String>>,
    #[serde(default)]
    architecture: Option<String>,
    #[serde(default)]
    boundaries: Option<String>,
    #[serde(default)]
    dependencies: Option<Vec<String>>,
}

impl Tool for CreateFeature {
    const NAME: &'static str = "create_feature";
    const TITLE: &'static str = "Create a feature";
    const DESCRIPTION: &'static str = "Create a new feature";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Record<Feature>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let new = NewFeature {
            name: self.name,
            display_name: self.display_name,
            fields: FeaturePatch {
                display_name: None,
                description: self.description,
                acronym: self.acronym,
                knowledge_paths: self.knowledge_paths,
                context_files: self.context_files,
                architecture: self.architecture,
                boundaries: self.boundaries,
                dependencies: self.dependencies,
            },
        };
        Ok(Record(board.create_feature(&actor, new).await?))
    }
}

/// The `update_feature` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateFeature {
    name: String,
    #[serde(default)]
    display_name: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    acronym: Option<String>,
    #[serde(default)]
    knowledge_paths: Option<Vec<String>>,
    #[serde(default)]
    context_files: Option<Vec<String>>,
    #[serde(default)]
    architecture: Option<String>,
    #[serde(default)]
    boundaries: Option<String>,
    #[serde(default)]
    dependencies: Option<Vec<String>>,
}

impl Tool for UpdateFeature {
    const NAME: &'static str = "update_feature";
    const TITLE: &'static str = "Update a feature";
    const DESCRIPTION: &'static str = "Update feature fields";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Changes;
    type Output = Record<Feature>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let fields = FeaturePatch {
            display_name: self.display_name,
            description: self.description,
            acronym: self.acronym,
            knowledge_paths: self.knowledge_paths,
            context_files: self.context_files,
            architecture: self.architecture,
            boundaries: self.boundaries,
            dependencies: self.dependencies,
        };
        Ok(Record(board.update_feature(&actor, &self.name, fields).await?))
    }
}

/// The `delete_feature` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteFeature {
    name: String,
}

impl Tool for DeleteFeature {
    const NAME: &'static str = "delete_feature";
    const TITLE: &'static str = "Delete a feature";
    const DESCRIPTION: &'static str = "Delete a feature (fails if tasks reference it)";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Deletes;
    type Output = Record<Deleted<Name>>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        board.delete_feature(&actor, &self.name).await?;
        Ok(deleted(Name { name: self.name }))
    }
}

/// Who may have learned something through the tool.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    Auto,
    Agent,
    Human,
}

/// The `append_feature_learning` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendFeatureLearning {
    feature_name: String,
    text: String,
    #[serde(default)]
    source: Option<Source>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    task_id: Option<i64>,
}

/// A learning as it stands now.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Recorded {
    feature_name: String,
    #[serde(flatten)]
    learning: Learning,
}

impl Tool for AppendFeatureLearning {
    const NAME: &'static str = "append_feature_learning";
    const TITLE: &'static str = "Record a learning about a feature";
    const DESCRIPTION: &'static str = "Add a learning to a feature (deduplicates automatically)";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Adds;
    type Output = Record<Recorded>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let new = NewLearning {
            text: self.text,
            source: self.source.map(|source| match source {
                Source::Auto => LearningSource::Auto,
                Source::Agent => LearningSource::Agent,
                Source::Human => LearningSource::Human,
            }),
            reason: self.reason,
            task_id: self.task_id.map(TaskId),
        };
        let (_, learning) = board.append_learning(&actor, &self.feature_name, new).await?;
        Ok(Record(Recorded { feature_name: self.feature_name, learning }))
    }
}

/// The `add_feature_context_file` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddFeatureContextFile {
    feature_name: String,
    /// Relative to the project
    file_path: String,
}

/// The files that matter to a feature.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ContextFiles {
    feature_name: String,
    context_files: Vec<String>,
}

impl Tool for AddFeatureContextFile {
    const NAME: &'static str = "add_feature_context_file";
    const TITLE: &'static str = "Register a context file";
    const DESCRIPTION: &'static str = "Register a relevant file path on a feature";
    const MODULE: ModuleId = ModuleId::Board;
    const EFFECT: Effect = Effect::Changes;
    type Output = Record<ContextFiles>;

    async fn call(self, call: Call) -> Result<Self::Output, Report> {
        let (board, actor) = board_for::<Self>(&call)?;
        let feature = board.add_context_file(&actor, &self.feature_name, &self.file_path).await?;
        Ok(Record(ContextFiles {
            feature_name: self.feature_name,
            context_files: feature.context_files,
        }))
    }
}
