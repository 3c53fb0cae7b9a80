//! Keys whose feature this version does not have: they are checked, and setting one is said aloud.

use super::{
    diagnostic::{Diagnostic, Diagnostics},
    node::{Node, Value},
    path::{Step, dotted, steps},
};

/// Keys and tables without effect. A line goes when its feature comes.
const KEYS: [&[&str]; 6] = [
    &["manage_scripts"],
    &["tools_in_shell"],
    &["limits", "script_depth"],
    &["approval", "keep_visible"],
    &["plugin"],
    &["script_schedule"],
];

/// Built-in tool groups that are not there.
pub const GROUPS_NOT_YET: [&str; 1] = ["scripts"];

/// A warning for each key that is set and has no effect in this version.
pub(super) fn not_yet(tree: &Node) -> Diagnostics {
    let mut warnings = Diagnostics::new();
    let mut warn = |path: &[Step], what: &str| {
        let version = env!("CARGO_PKG_VERSION");
        let message = format!("{what} is understood, but has no effect in version {version}");
        warnings.push(Diagnostic::warning(message, tree.key_span(path)));
    };
    for key in KEYS {
        let steps: Vec<Step> = key.iter().map(|name| Step::from(*name)).collect();
        if tree.get(&steps).is_some() {
            warn(&steps, &format!("`{}`", dotted(&steps)));
        }
    }
    let spawner = steps!["spawner"];
    if let Some(Value::String(text)) = tree.get(&spawner).map(|node| &node.value)
        && text == "systemd"
    {
        warn(&spawner, "`spawner = \"systemd\"`");
    }
    let groups = steps!["tool_groups"];
    if let Some(Value::Array(items)) = tree.get(&groups).map(|node| &node.value) {
        for (index, item) in items.iter().enumerate() {
            if let Value::String(name) = &item.value
                && GROUPS_NOT_YET.contains(&name.as_str())
            {
                warn(
                    &steps!["tool_groups", index],
                    &format!("the tool group {name:?}"),
                );
            }
        }
    }
    warnings
}
