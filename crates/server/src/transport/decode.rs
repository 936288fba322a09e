//! What a text from a client is: a message, something to refuse, or nothing.

mod call;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
use serde_json::{Map, Value, json};

pub use call::call;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// What a text is.
#[derive(Debug)]
pub enum Incoming {
    /// A message for the service.
    Message(Box<ClientJsonRpcMessage>),
    /// Something that is answered here.
    Refused(Refusal),
    /// Nothing that could be answered: an empty line, or a notification that is none of ours.
    Nothing,
}

/// An error response to a text that is no message.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The id of the request, where one could be read.
    pub id: Value,
    /// The JSON-RPC code.
    pub code: i32,
    /// What is wrong with the text.
    pub message: &'static str,
}

impl Refusal {
    fn parse(message: &'static str) -> Self {
        Self { id: Value::Null, code: PARSE_ERROR, message }
    }

    /// No text at all, where there must be one.
    pub fn empty() -> Self {
        Self::parse("parse error: there is no message")
    }

    /// A text past the limit.
    pub fn too_long() -> Self {
        Self::parse("parse error: the message is longer than 4 MiB")
    }

    /// The response as a line.
    pub fn to_bytes(&self) -> Vec<u8> {
        let error = json!({"code": self.code, "message": self.message});
        let response = json!({"jsonrpc": "2.0", "id": self.id, "error": error});
        format!("{response}\n").into_bytes()
    }
}

/// Finds out what a text is.
pub fn decode(line: &[u8]) -> Incoming {
    let line = line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Incoming::Nothing;
    }
    let Ok(line) = std::str::from_utf8(line) else {
        return Incoming::Refused(Refusal::parse("parse error: the message is not UTF-8"));
    };
    if let Some(call) = call(line) {
        let request = ClientRequest::CallToolRequest(call.request);
        return Incoming::Message(Box::new(ClientJsonRpcMessage::request(request, call.id)));
    }
    if let Some(message) = well_formed(line) {
        return Incoming::Message(message);
    }
    // Lone surrogates and nesting past the parser's limit of 128 are errors here as well.
    match serde_json::from_str(line) {
        Ok(Value::Object(message)) => classify(message),
        Ok(Value::Array(_)) => refuse(
            &Map::new(),
            "invalid request: batches are not supported; send one message at a time",
        ),
        Ok(_) => refuse(&Map::new(), "invalid request: a message is a JSON object"),
        Err(_) => Incoming::Refused(Refusal::parse("parse error: the message is not valid JSON")),
    }
}

/// The message of a line that has none of the oddities below: read in one go, which is what
/// nearly every line costs.
fn well_formed(line: &str) -> Option<Box<ClientJsonRpcMessage>> {
    // The parser for messages takes parameters of any kind; only an object is fine.
    let fine = !line.contains("\"params\"") || line.contains("\"params\":{");
    if fine { serde_json::from_str(line).ok() } else { None }
}

fn classify(message: Map<String, Value>) -> Incoming {
    let has_id = message.contains_key("id");
    let is_response = message.contains_key("result") || message.contains_key("error");
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(&message, "invalid request: `jsonrpc` is not \"2.0\"");
    }
    match message.get("method") {
        // An answer to a question of ours, or to none: never answered.
        None if is_response => return deliver(message).unwrap_or(Incoming::Nothing),
        None => return refuse(&message, "invalid request: there is no `method`"),
        Some(Value::String(_)) if is_response => {
            return refuse(
                &message,
                "invalid request: a message is a request or a response, not both",
            );
        }
        Some(Value::String(_)) => {}
        Some(_) => return refuse(&message, "invalid request: `method` is not a string"),
    }
    if !has_id {
        return deliver(message).unwrap_or(Incoming::Nothing);
    }
    let id = id(&message);
    if id.is_null() {
        return refuse(&message, "invalid request: `id` is neither a string nor a whole number");
    }
    match message.get("params") {
        None | Some(Value::Object(_)) => {}
        Some(Value::Array(_)) => {
            let message = "invalid params: `params` is not an object";
            return Incoming::Refused(Refusal { id, code: INVALID_PARAMS, message });
        }
        Some(_) => return refuse(&message, "invalid request: `params` is not an object"),
    }
    let refusal = Refusal {
        id,
        code: INVALID_PARAMS,
        message: "invalid params: they do not have the method's shape",
    };
    deliver(message).unwrap_or(Incoming::Refused(refusal))
}

fn deliver(message: Map<String, Value>) -> Option<Incoming> {
    let message = serde_json::from_value(Value::Object(message)).ok()?;
    Some(Incoming::Message(Box::new(message)))
}

fn refuse(message: &Map<String, Value>, reason: &'static str) -> Incoming {
    Incoming::Refused(Refusal { id: id(message), code: INVALID_REQUEST, message: reason })
}

/// The id of a request if it is one: a string or a whole number.
fn id(message: &Map<String, Value>) -> Value {
    match message.get("id") {
        Some(id) if id.is_string() || id.is_i64() => id.clone(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn refused(line: impl AsRef<[u8]>) -> (Value, i32) {
        match decode(line.as_ref()) {
            Incoming::Refused(refusal) => (refusal.id, refusal.code),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_that_are_not_json_are_parse_errors() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        let nested = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#);
        let lines: [&[u8]; 6] = [
            b"{",
            b"nonsense",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
            br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
            nested.as_bytes(),
            br#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#,
        ];
        for line in lines {
            assert_eq!(refused(line), (Value::Null, PARSE_ERROR));
        }
    }

    #[test]
    fn json_that_is_no_message_is_an_invalid_request() {
        for (line, id) in [
            ("[]", json!(null)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, json!(null)),
            ("1", json!(null)),
            ("\"ping\"", json!(null)),
            (r#"{"id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":7,"method":1}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":1}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#, json!(7)),
        ] {
            assert_eq!(refused(line), (id, INVALID_REQUEST), "{line}");
        }
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#).1,
            INVALID_PARAMS
        );
    }

    #[test]
    fn messages_pass_and_what_cannot_be_answered_is_ignored() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "\u{FEFF}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\",\"params\":{}}\r",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"custom/thing","params":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
        ] {
            assert!(matches!(decode(line.as_bytes()), Incoming::Message(_)), "{line}");
        }
        for line in ["", "  \r", "\u{FEFF}"] {
            assert!(matches!(decode(line.as_bytes()), Incoming::Nothing), "{line}");
        }
        let response = br#"{"jsonrpc":"2.0","id":99,"result":{}}"#;
        assert!(!matches!(decode(response), Incoming::Refused(_)));
    }

    proptest! {
        #[test]
        fn no_line_is_too_odd(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&line);
        }

        #[test]
        fn a_refusal_is_one_line_of_json(id in "\\PC{0,20}") {
            let bytes = Refusal { id: json!(id), code: -32600, message: "x" }.to_bytes();
            prop_assert_eq!(bytes.split(|&b| b == b'\n').count(), 2);
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        }
    }
}
