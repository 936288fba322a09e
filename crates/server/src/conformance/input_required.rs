//! Tools of the newer era that need something from the client before they can answer.

#![expect(deprecated, reason = "sampling and roots are deprecated, and the suite asks for them")]

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, ClientCapabilities, ElicitationCapability as Elicitation, InputRequest,
    InputRequiredResult, RootsCapabilities as Roots, SamplingCapability as Sampling,
};
use serde::{Deserialize, Serialize};

use super::round::{Round, Seal, ask, confirmation, folders, form, sample};
use super::{Outcome, bare, text};
use crate::tool::{Call, CallError, Entry};

pub(super) fn tools(seal: &Arc<Seal>) -> Vec<Entry> {
    let tool = |name, description, rounds| conversation(name, description, seal, rounds);
    vec![
        tool("test_input_required_result_elicitation", "Greets the user by name", greet),
        tool("test_input_required_result_sampling", "Asks the model for a capital", capital),
        tool("test_input_required_result_list_roots", "Names the client's folders", name_folders),
        tool("test_input_required_result_request_state", "Keeps a state", keep_state),
        tool("test_input_required_result_tampered_state", "Refuses a forged state", keep_state),
        tool("test_input_required_result_multiple_inputs", "Asks three things at once", ask_all),
        tool("test_input_required_result_multi_round", "Asks one thing after another", ask_twice),
        tool("test_streaming_elicitation", "Asks the user in its answer", greet),
        bare(
            "test_input_required_result_capabilities",
            "Asks what this client can answer",
            |call, params| async move {
                let questions = [("user_name", user_name()), ("greeting", greeting())];
                let mut asked = ask(questions);
                if let Some(requests) = &mut asked.input_requests {
                    requests.retain(|_, request| is_declared(request, &capabilities(&call)));
                    let answers = params.input_responses.unwrap_or_default();
                    if requests.keys().all(|key| answers.contains_key(key)) {
                        return Ok(text("everything that was asked is answered"));
                    }
                }
                Ok(asked.into())
            },
        ),
        bare(
            "test_missing_capability",
            "Works only for clients that have a model",
            |call, _| async move {
                require(&capabilities(&call), &ask([("greeting", greeting())]))?;
                Ok(text("this client has a model"))
            },
        ),
    ]
}

/// A tool that is called round by round until it has what it needs.
fn conversation(
    name: &'static str,
    description: &'static str,
    seal: &Arc<Seal>,
    rounds: fn(&Round<'_>) -> Outcome,
) -> Entry {
    let seal = Arc::clone(seal);
    bare(name, description, move |call, params| {
        let round = Round::new(&seal, name, params.input_responses, params.request_state);
        let outcome = rounds(&round).and_then(|response| {
            if let CallToolResponse::InputRequired(asked) = &response {
                require(&capabilities(&call), asked)?;
            }
            Ok(response)
        });
        std::future::ready(outcome)
    })
}

fn greet(round: &Round<'_>) -> Outcome {
    if let Some(name) = round.filled_in::<String>("user_name", "name")? {
        return Ok(text(format!("Hello, {name}!")));
    }
    Ok(ask([("user_name", user_name())]).into())
}

fn capital(round: &Round<'_>) -> Outcome {
    if let Some(said) = round.said("capital_question")? {
        return Ok(text(said));
    }
    Ok(ask([("capital_question", sample("What is the capital of France?", 100))]).into())
}

fn name_folders(round: &Round<'_>) -> Outcome {
    if let Some(roots) = round.roots("client_roots")? {
        let uris: Vec<&str> = roots.iter().map(|root| root.uri.as_str()).collect();
        return Ok(text(format!("Roots: {}", uris.join(", "))));
    }
    Ok(ask([("client_roots", folders())]).into())
}

/// That the question was asked.
#[derive(Serialize, Deserialize)]
struct Asked;

fn keep_state(round: &Round<'_>) -> Outcome {
    let answers = (round.state::<Asked>()?, round.filled_in::<bool>("confirm", "ok")?);
    if let (Some(Asked), Some(ok)) = answers {
        return Ok(text(format!("state-ok, confirmed: {ok}")));
    }
    let question = confirmation("Please confirm", "ok");
    Ok(round.ask_and_keep([("confirm", question)], &Asked)?.into())
}

fn ask_all(round: &Round<'_>) -> Outcome {
    let answers = (
        round.state::<Asked>()?,
        round.filled_in::<String>("user_name", "name")?,
        round.said("greeting")?,
        round.roots("client_roots")?,
    );
    if let (Some(Asked), Some(name), Some(greeting), Some(roots)) = answers {
        return Ok(text(format!("{greeting} {name}, there are {} roots", roots.len())));
    }
    let questions =
        [("user_name", user_name()), ("greeting", greeting()), ("client_roots", folders())];
    Ok(round.ask_and_keep(questions, &Asked)?.into())
}

/// How far a conversation of two questions is.
#[derive(Serialize, Deserialize)]
enum Step {
    Name,
    Color { name: String },
}

fn ask_twice(round: &Round<'_>) -> Outcome {
    let name = match round.state()? {
        Some(Step::Color { name }) => Some(name),
        Some(Step::Name) => round.filled_in("step1", "name")?,
        None => None,
    };
    let Some(name) = name else {
        let question = form("Step 1: What is your name?", "name");
        return Ok(round.ask_and_keep([("step1", question)], &Step::Name)?.into());
    };
    if let Some(color) = round.filled_in::<String>("step2", "color")? {
        return Ok(text(format!("{name} likes {color}")));
    }
    let question = form("Step 2: What is your favorite color?", "color");
    Ok(round.ask_and_keep([("step2", question)], &Step::Color { name })?.into())
}

fn user_name() -> InputRequest {
    form("What is your name?", "name")
}

fn greeting() -> InputRequest {
    sample("Generate a greeting", 50)
}

fn capabilities(call: &Call) -> ClientCapabilities {
    call.context.client_capabilities().unwrap_or_default()
}

fn is_declared(request: &InputRequest, declared: &ClientCapabilities) -> bool {
    match request {
        InputRequest::CreateMessage(_) => declared.sampling.is_some(),
        InputRequest::Elicitation(_) => declared.elicitation.is_some(),
        InputRequest::ListRoots(_) => declared.roots.is_some(),
        _ => false,
    }
}

/// Nothing may be asked of a client that it did not say it can answer.
fn require(declared: &ClientCapabilities, asked: &InputRequiredResult) -> Result<(), CallError> {
    let requests = asked.input_requests.iter().flat_map(|requests| requests.values());
    let undeclared: Vec<_> = requests.filter(|request| !is_declared(request, declared)).collect();
    if undeclared.is_empty() {
        return Ok(());
    }
    let mut missing = ClientCapabilities::default();
    for request in undeclared {
        match request {
            InputRequest::CreateMessage(_) => missing.sampling = Some(Sampling::default()),
            InputRequest::ListRoots(_) => missing.roots = Some(Roots::default()),
            _ => missing.elicitation = Some(Elicitation::default()),
        }
    }
    Err(CallError::Protocol(ErrorData::missing_required_client_capability(missing)))
}
