//! Calls of tools: most messages are one, and the SDK, which tries what else a message might be,
//! takes much longer to read it.

use std::fmt;
use std::marker::PhantomData;

use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, JsonRpcRequest,
    JsonRpcVersion2_0, RequestId,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A call, and nothing beside it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    params: Object<CallToolRequestParams>,
}

/// The call that a text is; `None` if it is anything else, or odd in any way.
pub fn call(text: &str) -> Option<JsonRpcRequest<CallToolRequest>> {
    let Object(message) = serde_json::from_str::<Object<Message>>(text).ok()?;
    let Message { id, params: Object(mut params), .. } = message;
    let meta = params.meta.take();
    let mut request = CallToolRequest::new(params);
    if let Some(meta) = meta {
        request.extensions.insert(meta);
    }
    Some(JsonRpcRequest::new(id, request))
}

/// A structure that is written as an object. Read as it is derived, it might also be an array.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestMetaObject};

    use super::*;

    #[test]
    fn a_call_is_what_the_sdk_reads() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"params": {"arguments": {"b": [1, 2.5, null, {"c": "\u00e9"}]}, "name": "a"},
                "method": "tools/call", "id": "x", "jsonrpc": "2.0"}"#,
            r#"{"jsonrpc":"2.0","id":-3,"method":"tools/call","params":{"name":"a","arguments":{},
                "_meta":{"progressToken":7,"other/key":true}}}"#,
        ] {
            let ours = call(text).unwrap();
            let theirs: ClientJsonRpcMessage = serde_json::from_str(text).unwrap();
            let ClientJsonRpcMessage::Request(theirs) = theirs else { panic!("{text}") };
            assert_eq!(ours.id, theirs.id);
            let ClientRequest::CallToolRequest(theirs) = theirs.request else { panic!("{text}") };
            let (ours_meta, theirs_meta) = (
                ours.request.extensions.get::<RequestMetaObject>(),
                theirs.extensions.get::<RequestMetaObject>(),
            );
            assert_eq!(ours_meta, theirs_meta, "{text}");
            assert_eq!(ours.request.params, theirs.params, "{text}");
        }
    }

    #[test]
    fn what_is_odd_is_left_to_others() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[null,"a"]}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a"}}"#,
            r#"["2.0",1,"tools/call",{"name":"a"}]"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}} {}"#,
        ] {
            assert!(call(text).is_none(), "{text}");
        }
    }
}
