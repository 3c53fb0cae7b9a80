//! Every command that tree-sitter-bash sees in a real script was seen by the scanner at that place,
//! or the scan says that something is opaque.

use std::fs;
use std::path::{Path, PathBuf};

use tree_sitter::{Node, Parser};

fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && depth < 24 {
            collect(&entry.path(), depth + 1, found);
        } else if kind.is_file()
            && entry
                .metadata()
                .is_ok_and(|metadata| metadata.len() < 1 << 20)
        {
            found.push(entry.path());
        }
    }
}

fn is_shell_script(text: &str) -> bool {
    let first = text.lines().next().unwrap_or("");
    first.strip_prefix("#!").is_some_and(|rest| {
        rest.split([' ', '/'])
            .any(|word| matches!(word, "sh" | "bash" | "dash"))
    })
}

const KEYWORDS: &[&str] = &["if", "then", "fi", "for", "do", "done"];

/// Names of commands that are one plain word, with their offsets. Not among them are what the other
/// parser takes for commands by mistake: reserved words behind an empty assignment, and names behind
/// a dollar sign.
fn commands(node: Node<'_>, text: &str, found: &mut Vec<(String, usize)>) {
    if node.kind() == "command_name" {
        let name = &text[node.byte_range()];
        let mistaken = KEYWORDS.contains(&name) || text[..node.start_byte()].ends_with('$');
        if !mistaken
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'))
        {
            found.push((name.to_owned(), node.start_byte()));
        }
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        commands(child, text, found);
    }
}

#[test]
fn commands_of_the_other_parser_were_seen() {
    let mut files = Vec::new();
    for root in ["/usr", "/etc", "/opt", "/var/lib/dpkg/info"] {
        collect(Path::new(root), 0, &mut files);
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let (mut scripts, mut compared, mut rejected, mut missed) = (0, 0, 0, Vec::new());
    for path in files {
        let Ok(bytes) = fs::read(&path) else { continue };
        if !bytes.starts_with(b"#!") {
            continue;
        }
        let Some(text) = String::from_utf8(bytes)
            .ok()
            .filter(|text| is_shell_script(text))
        else {
            continue;
        };
        scripts += 1;
        let tree = parser.parse(&text, None).unwrap();
        if tree.root_node().has_error() {
            rejected += 1;
            continue;
        }
        let mut theirs = Vec::new();
        commands(tree.root_node(), &text, &mut theirs);
        let ours = harness_bashscan::scan(&text);
        // Opaque parts of other kinds do not end the reading: compare wherever it went to the end.
        let ended = ours.opaque.iter().any(|opaque| {
            use harness_bashscan::Reason::{Character, Disagreement, Syntax, TooDeep, TooLong};
            matches!(
                opaque.reason,
                Syntax(_) | Character(_) | Disagreement | TooDeep | TooLong
            )
        });
        if ended {
            continue;
        }
        for (name, at) in theirs {
            compared += 1;
            let seen = ours.commands.iter().any(|command| {
                command.name() == Some(name.as_str())
                    && command.span.start <= at
                    && at < command.span.end
            });
            if !seen {
                missed.push(format!("{}:{at} {name}", path.display()));
            }
        }
    }
    eprintln!("{scripts} scripts, {rejected} not read by the other, {compared} commands compared");
    assert!(
        missed.is_empty(),
        "{} missed: {:#?}",
        missed.len(),
        &missed[..missed.len().min(40)]
    );
}
