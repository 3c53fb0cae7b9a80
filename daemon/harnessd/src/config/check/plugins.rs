//! Plugins: their libraries, and their settings against their own schemas.

use std::path::{Path, PathBuf};

use jsonschema::{
    PatternOptions, ValidationError, error::ValidationErrorKind, paths::LocationSegment,
};
use serde_json::Value;

use super::Checker;
use crate::config::{
    describe::{Description, describe},
    host::{Look, names_in},
    nearest::{hint, nearest},
    path::{Step, steps},
};

impl Checker<'_> {
    /// Finds each plugin's library, and asks it for its settings and tools where the host is to be asked.
    pub(super) fn plugins(&mut self) {
        let config = self.config;
        for (name, plugin) in &config.plugin {
            let Some(library) = self.library(&steps!["plugin", name, "library"], &plugin.library)
            else {
                continue;
            };
            if let Some(host) = &self.host.plugin_host {
                match describe(host, &library) {
                    Ok(description) => self.described(name, &description),
                    Err(reason) => {
                        let path = steps!["plugin", name, "library"];
                        self.error(&path, &format!("the plugin cannot be used: {reason}"));
                    }
                }
            }
            self.libraries.insert(name.clone(), library);
        }
    }

    fn described(&mut self, name: &str, description: &Description) {
        let tools = description.tools.iter().map(|tool| tool.name.clone());
        self.plugin_tools.insert(name.to_owned(), tools.collect());
        let Some(plugin) = self.config.plugin.get(name) else {
            return;
        };
        let Some(schema) = &description.settings_schema else {
            if let Some(first) = plugin.settings.keys().next() {
                let path = steps!["plugin", name, "settings", first];
                self.setting(&path, "the plugin takes no settings: remove it");
            }
            return;
        };
        let compiled = jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema);
        match compiled {
            Ok(validator) => {
                let settings = Value::Object(plugin.settings.clone());
                for error in validator.iter_errors(&settings) {
                    self.settings_error(name, schema, &error);
                }
            }
            Err(error) => {
                let text = format!("the schema of the plugin's settings is not valid: {error}");
                self.error(&steps!["plugin", name, "library"], &text);
            }
        }
    }

    fn settings_error(&mut self, name: &str, schema: &Value, error: &ValidationError<'_>) {
        let mut path = steps!["plugin", name, "settings"].to_vec();
        path.extend(
            error
                .instance_path()
                .into_iter()
                .map(|segment| match segment {
                    LocationSegment::Property(key) => Step::from(&*key),
                    LocationSegment::Index(index) => Step::from(index),
                }),
        );
        if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() {
            // The names are known where the schema says them in one place.
            let known = (path.len() == 3).then(|| schema["properties"].as_object());
            let known: Vec<&str> = known
                .flatten()
                .into_iter()
                .flat_map(|properties| properties.keys().map(String::as_str))
                .collect();
            for key in unexpected {
                let path = [path.as_slice(), &[Step::from(key)]].concat();
                let hint = hint(key, known.iter().copied());
                self.setting(&path, &format!("the plugin has no such setting{hint}"));
            }
            return;
        }
        let fault: String = error.to_string().chars().take(300).collect();
        match self.tree.get(&path) {
            Some(_) => self.error(&path, &fault),
            None => self.setting(&path, &fault),
        }
    }

    /// An error about a key, or, when no file sets it, about the nearest one above that is set.
    fn setting(&mut self, path: &[Step], message: &str) {
        let set = (1..=path.len())
            .rev()
            .find(|length| self.tree.get(&path[..*length]).is_some());
        let span = set.and_then(|length| self.tree.key_span(&path[..length]));
        self.report(path, message, span, crate::config::Diagnostic::error);
    }

    /// Where a library is; an error when it is nowhere.
    fn library(&mut self, path: &[Step], library: &Path) -> Option<PathBuf> {
        let files: Vec<PathBuf> = match self.host.expand(library) {
            Some(file) => vec![file],
            None if library.components().count() == 1 => self
                .plugin_directories()
                .iter()
                .map(|directory| directory.join(library))
                .collect(),
            None => {
                self.error(path, "expected a file name or an absolute path");
                return None;
            }
        };
        let found = |file: &&PathBuf| matches!(self.host.file_at(file), Look::Found);
        if let Some(file) = files.iter().find(found) {
            return Some(file.clone());
        }
        let missing = |file: &PathBuf| matches!(self.host.file_at(file), Look::Missing);
        if files.iter().all(missing) && !(self.host.offline && files.len() > 1) {
            let directories: Vec<&Path> = files.iter().filter_map(|file| file.parent()).collect();
            let names = names_in(directories.iter().copied());
            let wanted = library.file_name().unwrap_or_default().to_string_lossy();
            let places: Vec<String> = directories
                .iter()
                .map(|one| one.display().to_string())
                .collect();
            let hint = nearest(&wanted, names.iter().map(String::as_str)).map_or_else(
                || format!("; looked in {}", places.join(", ")),
                |name| format!("; did you mean `{name}`?"),
            );
            let text = format!("there is no library {}{hint}", library.display());
            self.error(path, &text);
        }
        None
    }

    /// `$HARNESSD_PLUGIN_PATH`, then `lib/harnessd/plugins` beside the `bin` of the daemon.
    fn plugin_directories(&self) -> Vec<PathBuf> {
        let given = self
            .host
            .variable("HARNESSD_PLUGIN_PATH")
            .unwrap_or_default();
        let own = self
            .host
            .program
            .as_deref()
            .and_then(|program| program.parent()?.parent())
            .map(|prefix| prefix.join("lib/harnessd/plugins"));
        given
            .split(':')
            .map(PathBuf::from)
            .filter(|directory| directory.is_absolute())
            .chain(own)
            .collect()
    }
}
