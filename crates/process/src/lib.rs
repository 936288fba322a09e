//! What comes next: how work is done here (`guide`), and prompts that follow each other
//! (`workflow`).
//!
//! Both are data: another organisation's process is a YAML file, not a patch. This crate has
//! never heard of MCP, HTTP or a command line.

pub mod guide;
pub mod workflow;
