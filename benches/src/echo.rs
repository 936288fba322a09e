//! The tool of the bare servers.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

/// One tool, whose arguments are taken as they come.
pub(crate) struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut input = JsonObject::new();
        input.insert("type".into(), json!("object"));
        input.insert(
            "properties".into(),
            json!({"text": {"type": "string"}, "times": {"type": "integer"}}),
        );
        let echo = Tool::new("echo", "Return the text, as many times as asked", input);
        Ok(ListToolsResult::with_all_items(vec![echo]))
    }

    /// A short request can ask for a long answer, as it does from a tool that reads a document.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument = |name| request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        let text = argument("text").and_then(Value::as_str).unwrap_or_default();
        let times = argument("times").and_then(Value::as_u64).unwrap_or(1);
        let text = text.repeat(usize::try_from(times).unwrap_or_default());
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
