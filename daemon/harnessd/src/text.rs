//! Text and values cut to a size, for the record and for events.

use serde_json::Value;

/// The longest string that stays whole, in bytes.
const LONGEST: usize = 4096;

/// The value with its long strings cut; how much is gone stands in their place.
pub(crate) fn shorten(mut value: Value) -> Value {
    cut(&mut value);
    value
}

fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let kept = text.floor_char_boundary(LONGEST);
            let rest = text.len() - kept;
            text.truncate(kept);
            text.push_str(&format!("...[{rest} bytes more]"));
        }
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(object) => object.values_mut().for_each(cut),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_string_is_cut_between_characters_and_says_how_much_is_gone() {
        let value = shorten(json!({"cmd": "ä".repeat(3000), "n": 1}));
        let text = value["cmd"].as_str().unwrap();
        assert!(text.starts_with("ää"));
        assert!(text.ends_with("...[1904 bytes more]"), "{}", &text[text.len() - 40..]);
        assert_eq!(value["n"], 1);
    }
}
