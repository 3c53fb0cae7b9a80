//! Claude Code, and every client with the same form.

use serde_json::{Map, json};

use super::Server;

/// `{"mcpServers":…}`; `typed` adds the transport's name.
pub(super) fn file(program: &str, servers: &[Server], typed: bool) -> String {
    let entry = |server: &Server| {
        let mut entry = json!({ "command": program, "args": server.args });
        if typed {
            entry["type"] = "stdio".into();
        }
        (server.name.clone(), entry)
    };
    let servers: Map<_, _> = servers.iter().map(entry).collect();
    format!("{:#}\n", json!({ "mcpServers": servers }))
}

/// The harness's gate decides, so the client need not ask; its own shell would go around the gate.
pub(super) fn flags(servers: &[Server]) -> Vec<String> {
    let allowed: Vec<String> = servers
        .iter()
        .map(|server| format!("mcp__{}__*", normalized(&server.name)))
        .collect();
    let allowed = allowed.join(",");
    vec![
        "with the output in FILE:".to_owned(),
        format!(
            "  claude --mcp-config FILE --strict-mcp-config --allowedTools \"{allowed}\" --disallowedTools \"Bash\""
        ),
    ]
}

/// The client turns every other character of a server's name into an underscore.
fn normalized(name: &str) -> String {
    name.chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() || "-_".contains(character) {
                character
            } else {
                '_'
            }
        })
        .collect()
}
