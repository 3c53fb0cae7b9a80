//! Cutting what is too long to keep, without breaking it.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// The longest input that is kept whole, in bytes of JSON.
const INPUT: usize = 16 << 10;

/// The first `characters` of a text.
pub(crate) fn head(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The last `bytes` of a text, or a little less so that no character is split.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// A value of at most 16 KiB of JSON: the same if it fits, else with long texts, arrays and objects cut
/// and each cut marked in place. Keys that come first survive, so that one still sees what was called.
#[must_use]
pub fn excerpt(value: &Value) -> Value {
    if fits(value, INPUT) {
        return value.clone();
    }
    [(4096, 64), (512, 16), (64, 8), (16, 4)]
        .into_iter()
        .map(|(text, items)| shorten(value, text, items, 8))
        .find(|cut| fits(cut, INPUT))
        .unwrap_or_else(|| Value::String("[cut]".to_owned()))
}

fn shorten(value: &Value, text: usize, items: usize, depth: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(long) => Value::String(shorten_text(long, text)),
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::String("[cut]".to_owned()),
        Value::Array(array) => {
            let mut kept: Vec<Value> = array
                .iter()
                .take(items)
                .map(|item| shorten(item, text, items, depth - 1))
                .collect();
            if array.len() > items {
                kept.push(Value::String(format!("[{} more cut]", array.len() - items)));
            }
            Value::Array(kept)
        }
        Value::Object(object) => {
            let mut kept: Map<String, Value> = object
                .iter()
                .take(items)
                .map(|(key, item)| {
                    (
                        shorten_text(key, text),
                        shorten(item, text, items, depth - 1),
                    )
                })
                .collect();
            if object.len() > items {
                let more = format!("[{} more cut]", object.len() - items);
                kept.insert(more, Value::Null);
            }
            Value::Object(kept)
        }
    }
}

fn shorten_text(long: &str, characters: usize) -> String {
    let kept = head(long, characters);
    if kept.len() == long.len() {
        long.to_owned()
    } else {
        format!("{kept}[{} bytes cut]", long.len() - kept.len())
    }
}

/// Whether the JSON of a value is at most `limit` bytes long; stops writing when it is not.
fn fits(value: &Value, limit: usize) -> bool {
    serde_json::to_writer(Room(limit), value).is_ok()
}

/// Takes this many bytes and no more.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => {
                self.0 = left;
                Ok(bytes.len())
            }
            None => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bytes(value: &Value) -> usize {
        serde_json::to_string(value).unwrap().len()
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let value = json!({"cmd": "x".repeat(16_000), "n": 1.5, "deep": [[[[[[[[[[1]]]]]]]]]]});
        assert_eq!(excerpt(&value), value);
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_says_how_much_is_gone() {
        let cut = excerpt(&json!({"cmd": "ä".repeat(1_000_000), "cwd": "/srv"}));
        let cmd = cut["cmd"].as_str().unwrap();
        assert!(cmd.starts_with("ää"), "{cmd}");
        assert!(
            cmd.ends_with("[1991808 bytes cut]"),
            "{}",
            &cmd[cmd.len() - 40..]
        );
        assert_eq!(cut["cwd"], "/srv");
    }

    #[test]
    fn whatever_is_huge_fits_afterwards() {
        let wide: Value = (0..100_000).collect();
        let keys: Map<String, Value> = (0..10_000)
            .map(|n| (format!("{n}{}", "k".repeat(900)), json!("v")))
            .collect();
        let escapes = json!("\0".repeat(100_000));
        let mut deep = json!("x".repeat(20_000));
        for _ in 0..100 {
            deep = json!([deep, "y".repeat(5000)]);
        }
        let bushy: Value = (0..64)
            .map(|_| (0..64).map(|_| "z".repeat(100)).collect::<Value>())
            .collect();
        for value in [wide, Value::Object(keys), escapes, deep, bushy] {
            let cut = excerpt(&value);
            assert!(bytes(&cut) <= INPUT, "{}", bytes(&cut));
            assert_ne!(cut, json!("[cut]"));
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(head("äöü", 2), "äö");
        assert_eq!(head("ab", 2), "ab");
        assert_eq!(tail("äöü", 3), "ü");
        assert_eq!(tail("ab", 5), "ab");
    }
}
