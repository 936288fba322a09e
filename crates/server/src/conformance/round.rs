//! One round of a request that needs answers from the client before it can be completed, as
//! the newer era has it: the server asks in its result, the client calls again with answers.

#![expect(deprecated, reason = "sampling and roots are deprecated, and the suite asks for them")]

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::model::{
    BooleanSchema, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ListRootsRequest, ListRootsResult,
    PrimitiveSchemaDefinition, RequestStateCodec, Root, SamplingMessage, SealOptions, StringSchema,
};
use rutter_base::failure::{Kind, Report};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long a client may take from one round to the next.
const STATE_TTL: Duration = Duration::from_mins(10);

/// Makes the state that clients carry tamper-proof, for as long as the process lives.
#[derive(Debug)]
pub(super) struct Seal(RequestStateCodec);

impl Default for Seal {
    fn default() -> Self {
        let key = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()].map(uuid::Uuid::into_bytes).concat();
        Self(RequestStateCodec::new_unchecked(key))
    }
}

/// What came with a request.
#[derive(Debug)]
pub(super) struct Round<'a> {
    seal: &'a Seal,
    owner: &'a str,
    answers: InputResponses,
    state: Option<String>,
}

impl<'a> Round<'a> {
    /// A round of `owner`: what was sealed for another tool or prompt is refused.
    pub(super) fn new(
        seal: &'a Seal,
        owner: &'a str,
        answers: Option<InputResponses>,
        state: Option<String>,
    ) -> Self {
        Self { seal, owner, answers: answers.unwrap_or_default(), state }
    }

    /// What the user filled in, if they were asked already.
    pub(super) fn filled_in<T: DeserializeOwned>(
        &self,
        key: &str,
        field: &str,
    ) -> Result<Option<T>, Report> {
        let Some(result) = self.answer::<ElicitResult>(key)? else { return Ok(None) };
        if result.action != ElicitationAction::Accept {
            return Err(Report::new(Kind::Refused, format!("the user did not answer `{key}`")));
        }
        let value = result.content.as_ref().and_then(|content| content.get(field));
        match value.map(T::deserialize) {
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(_)) | None => Err(Report::new(
                Kind::Invalid,
                format!("/inputResponses/{key}/content/{field}: missing or of the wrong type"),
            )),
        }
    }

    /// What the model said, if it was asked already.
    pub(super) fn said(&self, key: &str) -> Result<Option<String>, Report> {
        let Some(result) = self.answer::<CreateMessageResult>(key)? else { return Ok(None) };
        let said = result.message.content.first().and_then(|block| block.as_text());
        Ok(Some(said.map(|said| said.text.clone()).unwrap_or_default()))
    }

    /// The client's folders, if it was asked for them already.
    pub(super) fn roots(&self, key: &str) -> Result<Option<Vec<Root>>, Report> {
        Ok(self.answer::<ListRootsResult>(key)?.map(|result| result.roots))
    }

    fn answer<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Report> {
        self.answers.get(key).map(T::deserialize).transpose().map_err(|error| {
            let words = format!("/inputResponses/{key}: not an answer to what was asked");
            Report::new(Kind::Invalid, words).because(&error)
        })
    }

    /// What the last round sealed.
    pub(super) fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Report> {
        let Some(sealed) = &self.state else { return Ok(None) };
        let opened = self.seal.0.open_json_with(sealed, self.owner.as_bytes());
        opened.map(Some).map_err(|error| {
            Report::new(Kind::Invalid, "/requestState: not what this server gave, or too old")
                .hint("call again without it")
                .because(&error)
        })
    }

    /// Asks and seals what the next round has to know.
    pub(super) fn ask_and_keep<const N: usize>(
        &self,
        questions: [(&str, InputRequest); N],
        state: &impl Serialize,
    ) -> Result<InputRequiredResult, Report> {
        let options = SealOptions::new().associated_data(self.owner.as_bytes()).ttl(STATE_TTL);
        let sealed = self
            .seal
            .0
            .seal_json_with(state, &options)
            .map_err(|error| Report::new(Kind::Internal, "internal error").because(&error))?;
        let mut result = ask(questions);
        result.request_state = Some(sealed);
        Ok(result)
    }
}

/// Asks.
pub(super) fn ask<const N: usize>(questions: [(&str, InputRequest); N]) -> InputRequiredResult {
    InputRequiredResult::from_input_requests(
        questions.into_iter().map(|(key, question)| (key.to_owned(), question)).collect(),
    )
}

/// Asks the user for a text.
pub(super) fn form(message: &str, field: &str) -> InputRequest {
    one_field(message, field, PrimitiveSchemaDefinition::String(StringSchema::new()))
}

/// Asks the user for a yes or a no.
pub(super) fn confirmation(message: &str, field: &str) -> InputRequest {
    one_field(message, field, PrimitiveSchemaDefinition::Boolean(BooleanSchema::new()))
}

fn one_field(message: &str, field: &str, kind: PrimitiveSchemaDefinition) -> InputRequest {
    let requested_schema = ElicitationSchema::new(BTreeMap::from([(field.to_owned(), kind)]))
        .with_required(vec![field.to_owned()]);
    InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema,
    }))
}

/// Asks the model.
pub(super) fn sample(prompt: &str, max_tokens: u32) -> InputRequest {
    let params =
        CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], max_tokens);
    InputRequest::CreateMessage(CreateMessageRequest::new(params))
}

/// Asks for the client's folders.
pub(super) fn folders() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reopen(seal: &Seal, owner: &str, state: String) -> Result<Option<String>, Report> {
        Round::new(seal, owner, None, Some(state)).state()
    }

    #[test]
    fn state_is_for_the_one_who_sealed_it_and_only_as_it_was_sealed() {
        let seal = Seal::default();
        let asked = Round::new(&seal, "one", None, None).ask_and_keep([], &"step").unwrap();
        let state = asked.request_state.unwrap();
        assert_eq!(reopen(&seal, "one", state.clone()).unwrap().as_deref(), Some("step"));
        for refused in [
            reopen(&seal, "another", state.clone()),
            reopen(&seal, "one", format!("{state}-TAMPERED")),
            reopen(&Seal::default(), "one", state),
        ] {
            assert_eq!(
                refused.unwrap_err().to_string(),
                "/requestState: not what this server gave, or too old; call again without it"
            );
        }
    }
}
