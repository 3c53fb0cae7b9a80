//! The input of a call, from the words of its command.

use harness_model::{ErrorCode, Refusal, Tool};
use serde_json::{Map, Value};

use super::typing::Property;

/// Whether standard input is a part of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputSource {
    /// The words are all of it.
    Words,
    /// There are no words: it is standard input, where something comes from there.
    Either,
    /// `-`: it is standard input, with the words over it.
    StandardInput,
}

/// An input as far as the words say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Where it comes from.
    pub source: InputSource,
    /// What the words say: JSON arguments, and pairs merged over them.
    pub object: Map<String, Value>,
    signature: String,
}

impl Input {
    /// Reads the words behind a tool's name: `{…}`, `key=value`, `--key value`, `--key=value`, `--flag`, `-`.
    ///
    /// # Errors
    /// `invalid_input`: a word that is none of them.
    pub fn read(words: &[String], tool: &Tool) -> Result<Self, Refusal> {
        let mut reader = Reader {
            tool,
            json: Map::new(),
            pairs: Map::new(),
            from_standard_input: false,
        };
        let mut rest = words;
        while let Some((word, behind)) = rest.split_first() {
            rest = reader.word(word, behind)?;
        }
        let source = match (reader.from_standard_input, words.is_empty()) {
            (true, _) => InputSource::StandardInput,
            (false, true) => InputSource::Either,
            (false, false) => InputSource::Words,
        };
        let mut object = reader.json;
        object.extend(reader.pairs);
        Ok(Self {
            source,
            object,
            signature: tool.signature(),
        })
    }

    /// The whole input, with what came from standard input under what the words say.
    ///
    /// # Errors
    /// `invalid_input`: it is not a JSON object, or not UTF-8.
    pub fn over(self, standard_input: &[u8]) -> Result<Map<String, Value>, Refusal> {
        if standard_input.trim_ascii().is_empty() {
            return match self.source {
                InputSource::StandardInput => {
                    Err(refusal("standard input is empty", &self.signature))
                }
                InputSource::Either | InputSource::Words => Ok(self.object),
            };
        }
        let text = str::from_utf8(standard_input)
            .map_err(|_| refusal("standard input is not UTF-8", &self.signature))?;
        let mut object = object(text, "standard input", &self.signature)?;
        object.extend(self.object);
        Ok(object)
    }
}

struct Reader<'a> {
    tool: &'a Tool,
    json: Map<String, Value>,
    pairs: Map<String, Value>,
    from_standard_input: bool,
}

impl Reader<'_> {
    /// Takes a word, and what belongs to it of those behind it; returns the others.
    fn word<'w>(&mut self, word: &str, behind: &'w [String]) -> Result<&'w [String], Refusal> {
        if word == "-" {
            self.from_standard_input = true;
            return Ok(behind);
        }
        if word == "--" {
            return Ok(behind);
        }
        if word.trim_start().starts_with('{') {
            let object = object(word, "the argument", &self.tool.signature())?;
            self.json.extend(object);
            return Ok(behind);
        }
        if let Some(option) = word.strip_prefix("--") {
            if let Some((key, value)) = option.split_once('=') {
                self.pair(key, value)?;
                return Ok(behind);
            }
            return self.option(option, behind);
        }
        match word.split_once('=') {
            Some((key, value)) if !word.starts_with('-') => {
                self.pair(key, value)?;
                Ok(behind)
            }
            Some(_) | None => Err(self.no_input(word)),
        }
    }

    /// `--key value`, or `--flag` alone.
    fn option<'w>(&mut self, key: &str, behind: &'w [String]) -> Result<&'w [String], Refusal> {
        let property = self.property(key)?;
        let value = behind.split_first().filter(|(value, _)| {
            let is_option = value.starts_with("--") && value.len() > 2;
            let is_switch = property.is_boolean() && !matches!(value.as_str(), "true" | "false");
            !is_option && !is_switch
        });
        if let Some((value, rest)) = value {
            property.put(&mut self.pairs, value);
            return Ok(rest);
        }
        self.pairs.insert(property.name, Value::Bool(true));
        Ok(behind)
    }

    fn pair(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        self.property(key)?.put(&mut self.pairs, value);
        Ok(())
    }

    fn property(&self, key: &str) -> Result<Property, Refusal> {
        if key.is_empty() || key.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(self.no_input(key));
        }
        Ok(Property::named(key, &self.tool.input_schema))
    }

    fn no_input(&self, word: &str) -> Refusal {
        let word: String = word.chars().take(60).collect();
        let message =
            format!("{word:?} is no input: give a JSON object, key=value, --key value or -");
        refusal(&message, &self.tool.signature())
    }
}

fn object(text: &str, what: &str, signature: &str) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(refusal(&format!("{what} is not a JSON object"), signature)),
        Err(error) => Err(refusal(&format!("{what} is not JSON: {error}"), signature)),
    }
}

fn refusal(what: &str, signature: &str) -> Refusal {
    Refusal::new(
        ErrorCode::InvalidInput,
        format!("{what}; the tool is {signature}"),
    )
}
