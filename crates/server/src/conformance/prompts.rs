//! Prompts, and the values that their arguments can take.

use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt,
    PromptArgument, PromptMessage, Reference, Role,
};
use rutter_base::failure::{Kind, Report};
use serde_json::Value;

use super::content::{PNG, PNG_TYPE, embedded};
use super::round::{Round, Seal, ask, form};
use crate::module::Completion;

/// A prompt that is filled in at once. All arguments are required; they are given to `fill` in
/// their order.
struct Fixture {
    name: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    fill: fn(&[&str]) -> Vec<ContentBlock>,
}

struct Argument {
    name: &'static str,
    description: &'static str,
}

const PROMPTS: [Fixture; 4] = [
    Fixture {
        name: "test_simple_prompt",
        description: "A prompt without arguments",
        arguments: &[],
        fill: |_| vec![ContentBlock::text("This is a simple prompt for testing.")],
    },
    Fixture {
        name: WITH_ARGUMENTS,
        description: "A prompt with two arguments",
        arguments: &[
            Argument { name: "arg1", description: "First test argument" },
            Argument { name: "arg2", description: "Second test argument" },
        ],
        fill: |values| {
            let [first, second] = values else { return Vec::new() };
            vec![ContentBlock::text(format!(
                "Prompt with arguments: arg1='{first}', arg2='{second}'"
            ))]
        },
    },
    Fixture {
        name: "test_prompt_with_embedded_resource",
        description: "A prompt that carries a resource",
        arguments: &[Argument { name: "resourceUri", description: "URI of the resource to embed" }],
        fill: |values| {
            let [uri] = values else { return Vec::new() };
            vec![
                embedded(uri, "text/plain", "Embedded resource content for testing."),
                ContentBlock::text("Please process the embedded resource above."),
            ]
        },
    },
    Fixture {
        name: "test_prompt_with_image",
        description: "A prompt that carries an image",
        arguments: &[],
        fill: |_| {
            vec![
                ContentBlock::image(PNG, PNG_TYPE),
                ContentBlock::text("Please analyze the image above."),
            ]
        },
    },
];

const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
/// The prompt that asks the user before it is filled in.
const ASKING: &str = "test_input_required_result_prompt";

pub(super) fn listed() -> Vec<Prompt> {
    let listed = PROMPTS.iter().map(|fixture| {
        let arguments = fixture.arguments.iter().map(|argument| {
            PromptArgument::new(argument.name)
                .with_description(argument.description)
                .with_required(true)
        });
        let arguments: Vec<PromptArgument> = arguments.collect();
        let arguments = Some(arguments).filter(|list| !list.is_empty());
        Prompt::new(fixture.name, Some(fixture.description), arguments)
    });
    let asking = Prompt::new(ASKING, Some("A prompt that asks for its context"), None);
    listed.chain([asking]).collect()
}

pub(super) fn fill(
    params: &GetPromptRequestParams,
    seal: &Seal,
) -> Option<Result<GetPromptResponse, Report>> {
    if params.name == ASKING {
        return Some(ask_first(params, seal));
    }
    let fixture = PROMPTS.iter().find(|fixture| fixture.name == params.name)?;
    Some(values(fixture.arguments, params).map(|values| messages((fixture.fill)(&values))))
}

/// The newer era lets a prompt ask as well.
fn ask_first(params: &GetPromptRequestParams, seal: &Seal) -> Result<GetPromptResponse, Report> {
    let answers = params.input_responses.clone();
    let round = Round::new(seal, ASKING, answers, params.request_state.clone());
    if let Some(context) = round.filled_in::<String>("user_context", "context")? {
        return Ok(messages(vec![ContentBlock::text(format!("Context: {context}"))]));
    }
    let question = form("What context should the prompt use?", "context");
    Ok(ask([("user_context", question)]).into())
}

fn values<'a>(
    arguments: &[Argument],
    params: &'a GetPromptRequestParams,
) -> Result<Vec<&'a str>, Report> {
    let given = params.arguments.as_ref();
    let value = |Argument { name, .. }: &Argument| match given.and_then(|given| given.get(*name)) {
        Some(Value::String(value)) => Ok(value.as_str()),
        Some(_) => Err(Report::new(Kind::Invalid, format!("/{name}: expected string"))),
        None => Err(Report::new(Kind::Invalid, format!("/{name}: required"))),
    };
    arguments.iter().map(value).collect()
}

fn messages(blocks: Vec<ContentBlock>) -> GetPromptResponse {
    let messages = blocks.into_iter().map(|block| PromptMessage::new(Role::User, block));
    GetPromptResult::new(messages.collect()).into()
}

pub(super) fn complete(question: &Completion<'_>) -> Option<Vec<String>> {
    let Reference::Prompt(reference) = question.reference else { return None };
    (reference.name == WITH_ARGUMENTS && question.argument == "arg1")
        .then(|| ["paris", "park", "party"].map(str::to_owned).to_vec())
}
