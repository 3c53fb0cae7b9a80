//! Codex.

use super::{LONGEST_CALL, Server};

/// Tables for `config.toml`. The harness's gate decides, so the client need not ask.
pub(super) fn file(program: &str, servers: &[Server]) -> String {
    let mut parts = Vec::new();
    for server in servers {
        let table = toml::Table::from_iter([
            ("command".to_owned(), program.into()),
            ("args".to_owned(), server.args.clone().into()),
            (
                "tool_timeout_sec".to_owned(),
                i64::try_from(LONGEST_CALL.as_secs())
                    .unwrap_or(i64::MAX)
                    .into(),
            ),
            ("default_tools_approval_mode".to_owned(), "approve".into()),
        ]);
        parts.push(format!("[mcp_servers.{}]\n{table}", key(&server.name)));
    }
    parts.join("\n")
}

/// A bare key where TOML takes one.
fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare {
        name.to_owned()
    } else {
        toml::Value::from(name).to_string()
    }
}

/// Its own shell would go around the gate.
pub(super) fn flags() -> Vec<String> {
    vec![
        "append the output to ~/.codex/config.toml, or save it as ~/.codex/harness.config.toml and add --profile harness:".to_owned(),
        "  codex --disable shell_tool --disable unified_exec".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_and_argument_reads_back_from_the_file() {
        let args = vec![
            "--agent".to_owned(),
            "a \"b\" \\ ä".to_owned(),
            "mcp".to_owned(),
        ];
        let servers = ["bash", "git hub.\"x\""].map(|name| Server {
            name: name.to_owned(),
            args: args.clone(),
        });
        let text = file("/opt/har ness/harnessctl", &servers);
        let table: toml::Table = text.parse().unwrap();
        for server in &servers {
            let read = &table["mcp_servers"][&server.name];
            assert_eq!(read["command"].as_str(), Some("/opt/har ness/harnessctl"));
            assert_eq!(read["args"], args.clone().into());
        }
    }
}
