//! Tools that send a request of their own to the client, as the older era allows: to its model
//! (sampling) and to its user (elicitation).

#![expect(deprecated, reason = "the newer era dropped sampling; the older one still has it")]

use rmcp::model::{CreateMessageRequestParams, ElicitRequestParams, ElicitResult, SamplingMessage};
use rutter_base::failure::{Kind, Report};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{bare, text};
use crate::module::ModuleId;
use crate::tool::{Call, Effect, Entry, Text, Tool};

pub(super) fn tools() -> Vec<Entry> {
    vec![
        Entry::of::<Sampling>(),
        Entry::of::<Elicitation>(),
        bare(
            "test_elicitation_sep1034_defaults",
            "Asks the user with a form that is filled in already",
            |call, _| async move {
                let result = ask_user(&call, "Please check these values", defaults()).await?;
                Ok(text(format!("Elicitation completed: {}", shown(&result))))
            },
        ),
        bare(
            "test_elicitation_sep1330_enums",
            "Asks the user to choose, in every way a choice can be written",
            |call, _| async move {
                let result = ask_user(&call, "Please choose", choices()).await?;
                Ok(text(format!("Elicitation completed: {}", shown(&result))))
            },
        ),
    ]
}

/// The `test_sampling` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sampling {
    /// What to ask the model
    prompt: String,
}

impl Tool for Sampling {
    const NAME: &'static str = "test_sampling";
    const TITLE: &'static str = "Ask the model";
    const DESCRIPTION: &'static str = "Asks the client's model";
    const MODULE: ModuleId = ModuleId::Conformance;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Text, Report> {
        let capabilities = call.context.client_capabilities().unwrap_or_default();
        if capabilities.sampling.is_none() {
            return Err(undeclared("sampling"));
        }
        let question = SamplingMessage::user_text(self.prompt);
        let params = CreateMessageRequestParams::new(vec![question], 100);
        let result =
            call.context.peer.create_message(params).await.map_err(|error| unanswered(&error))?;
        let said = result.message.content.first().and_then(|block| block.as_text());
        Ok(Text(format!("LLM response: {}", said.map_or("", |said| said.text.as_str()))))
    }
}

/// The `test_elicitation` tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Elicitation {
    /// What to ask the user
    message: String,
}

impl Tool for Elicitation {
    const NAME: &'static str = "test_elicitation";
    const TITLE: &'static str = "Ask the user";
    const DESCRIPTION: &'static str = "Asks the client's user for a name and an address";
    const MODULE: ModuleId = ModuleId::Conformance;
    const EFFECT: Effect = Effect::Reads;
    type Output = Text;

    async fn call(self, call: Call) -> Result<Text, Report> {
        let form = json!({
            "type": "object",
            "properties": {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            },
            "required": ["username", "email"],
        });
        let result = ask_user(&call, &self.message, form).await?;
        Ok(Text(format!("User response: {}", shown(&result))))
    }
}

/// A default value of every primitive type (SEP-1034).
fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": true},
        },
    })
}

/// All ways to write a choice (SEP-1330).
fn choices() -> Value {
    let titled = json!([
        {"const": "value1", "title": "First"},
        {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    let untitled = json!(["option1", "option2", "option3"]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": untitled},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": untitled}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
    })
}

async fn ask_user(call: &Call, message: &str, form: Value) -> Result<ElicitResult, Report> {
    let capabilities = call.context.client_capabilities().unwrap_or_default();
    if capabilities.elicitation.is_none() {
        return Err(undeclared("elicitation"));
    }
    let requested_schema = serde_json::from_value(form)
        .map_err(|error| Report::new(Kind::Internal, "internal error").because(&error))?;
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema,
    };
    call.context.peer.create_elicitation(params).await.map_err(|error| unanswered(&error))
}

/// What the user did, and what they filled in.
fn shown(result: &ElicitResult) -> String {
    let action = json!(result.action);
    let content = result.content.as_ref().unwrap_or(&Value::Null);
    format!("action={}, content={content}", action.as_str().unwrap_or_default())
}

fn undeclared(capability: &str) -> Report {
    Report::new(Kind::Refused, format!("the client does not support {capability}"))
        .hint(format!("connect with the capability `{capability}`"))
}

fn unanswered(error: &(dyn std::error::Error + 'static)) -> Report {
    Report::new(Kind::Refused, "the client did not answer").because(error)
}

#[cfg(test)]
mod tests {
    use rmcp::model::ElicitationSchema;

    use super::*;

    #[test]
    fn forms_reach_the_client_as_they_are_written() {
        for form in [defaults(), choices()] {
            let schema: ElicitationSchema = serde_json::from_value(form.clone()).unwrap();
            assert_eq!(serde_json::to_value(schema).unwrap(), form);
        }
    }
}
