//! An outcome as a command's output: results on standard output, errors as one line of JSON on standard error.

use std::io;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use harness_model::{Content, ErrorCode, Outcome, Refusal, ToolOutput};
use harness_tools::Kind;
use serde_json::Value;

use super::connection::Connection;
use crate::approvals::hex;

/// What a command prints, and how it ends.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    output: Vec<u8>,
    error: Vec<u8>,
    images: Vec<Image>,
    status: u8,
}

/// An image that the command saves.
#[derive(Debug, PartialEq)]
struct Image {
    name: String,
    bytes: Vec<u8>,
}

impl Answer {
    pub(super) fn text(text: String) -> Self {
        Self {
            output: text.into_bytes(),
            ..Self::default()
        }
    }

    /// `{"error":{"code":…,"message":…,"retryable":…}}`, and exit status 1.
    pub(super) fn refused(refusal: &Refusal) -> Self {
        let mut line = refusal.to_json().to_string();
        line.push('\n');
        Self {
            error: line.into_bytes(),
            status: 1,
            ..Self::default()
        }
    }

    pub(super) fn outcome(outcome: &Outcome) -> Self {
        match outcome {
            Ok(output) if output.is_error => {
                let message = failure(output);
                Self::refused(&Refusal::new(ErrorCode::ToolError, message))
            }
            Ok(output) => Self::success(output),
            Err(refusal) => Self::refused(refusal),
        }
    }

    /// A text as it is, and whatever is structured as JSON: a script gets what it can go on with.
    fn success(output: &ToolOutput) -> Self {
        let mut answer = Self::default();
        let mut others = Vec::new();
        for content in &output.content {
            match content {
                Content::Text { .. } => {}
                Content::Other(value) => match Image::of(value) {
                    Some(image) => answer.images.push(image),
                    None => others.push(value.clone()),
                },
            }
        }
        answer.output = match (&output.structured, others.is_empty()) {
            (Some(structured), _) => structured.to_string(),
            (None, true) => output.text(),
            (None, false) => Value::from(others).to_string(),
        }
        .into_bytes();
        if !answer.output.is_empty() && !answer.output.ends_with(b"\n") {
            answer.output.push(b'\n');
        }
        answer
    }
}

impl Image {
    /// An MCP image block; its name comes from its contents, so that the same image is the same file.
    fn of(value: &Value) -> Option<Self> {
        use sha2::{Digest as _, Sha256};
        if value["type"] != "image" {
            return None;
        }
        let bytes = STANDARD.decode(value["data"].as_str()?).ok()?;
        let extension = match value["mimeType"].as_str()? {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            "image/svg+xml" => "svg",
            _ => "bin",
        };
        let digest = Sha256::digest(&bytes);
        let name = hex(&digest[..8]);
        Some(Self {
            name: format!("{name}.{extension}"),
            bytes,
        })
    }
}

/// What the tool says of its failure.
fn failure(output: &ToolOutput) -> String {
    let text = output.text();
    if text.is_empty() {
        return output
            .structured
            .as_ref()
            .map_or_else(|| "the tool failed".to_owned(), Value::to_string);
    }
    text
}

/// Sends an answer; the command ends with it.
pub(super) async fn send(connection: &mut Connection, answer: Answer) -> io::Result<()> {
    for image in &answer.images {
        connection
            .put(Kind::FileBegin, image.name.as_bytes())
            .await?;
        connection.put_long(Kind::FilePiece, &image.bytes).await?;
        connection.put(Kind::FilePiece, &[]).await?;
    }
    connection.put_long(Kind::Output, &answer.output).await?;
    connection.put_long(Kind::Error, &answer.error).await?;
    connection.exit(answer.status).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> Content {
        Content::Text { text: text.into() }
    }

    fn output(content: Vec<Content>, structured: Option<Value>) -> ToolOutput {
        ToolOutput {
            content,
            structured,
            rest: None,
            is_error: false,
        }
    }

    #[test]
    fn a_text_comes_as_it_is_and_what_is_structured_as_json() {
        let printed =
            |output: ToolOutput| String::from_utf8(Answer::outcome(&Ok(output)).output).unwrap();
        assert_eq!(printed(output(vec![text("a\n\"b\"")], None)), "a\n\"b\"\n");
        assert_eq!(printed(output(vec![text("a\n")], None)), "a\n");
        assert_eq!(printed(output(vec![], None)), "");
        assert_eq!(
            printed(output(vec![text("for the model")], Some(json!({"a": [1]})))),
            "{\"a\":[1]}\n"
        );
        let link = json!({"type": "resource_link", "uri": "x:y"});
        assert_eq!(
            printed(output(vec![Content::Other(link)], None)),
            "[{\"type\":\"resource_link\",\"uri\":\"x:y\"}]\n"
        );
    }

    #[test]
    fn an_image_is_saved_under_a_name_of_its_contents() {
        let image = json!({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"});
        let answer = Answer::outcome(&Ok(output(vec![text("seen"), Content::Other(image)], None)));
        assert_eq!(answer.output, b"seen\n");
        assert_eq!(answer.images.len(), 1);
        assert_eq!(answer.images[0].bytes, b"hello");
        assert_eq!(answer.images[0].name, "2cf24dba5fb0a30e.png");
    }

    #[test]
    fn an_error_is_one_line_of_json_and_status_1() {
        let refusal = Refusal::new(ErrorCode::Unavailable, "no \"such\"\nthing").retryable();
        let answer = Answer::outcome(&Err(refusal));
        assert_eq!(answer.status, 1);
        let line = String::from_utf8(answer.error).unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            line,
            json!({"error": {"code": "unavailable", "message": "no \"such\"\nthing", "retryable": true}})
        );
        let failed = ToolOutput {
            is_error: true,
            ..output(vec![text("it broke")], None)
        };
        let line: Value = serde_json::from_slice(&Answer::outcome(&Ok(failed)).error).unwrap();
        assert_eq!(line["error"]["code"], "tool_error");
        assert_eq!(line["error"]["message"], "it broke");
    }
}
