//! What a call asks of the sandbox, as it will be carried out.

use std::path::{Path, PathBuf};

use harness_model::{SandboxProfile, SandboxRequest, SandboxRules};
use serde_json::{Map, Value, json};

use super::site::real;

/// Makes the request in a call's input exact: paths in full and in order, those that may be changed without
/// symbolic links, so that what a person is shown is what will be opened. One that asks for nothing goes.
///
/// # Errors
/// A path that cannot be opened, in words.
pub(crate) fn prepare(
    input: &mut Map<String, Value>,
    profile: &SandboxProfile,
    home: Option<&str>,
) -> Result<(), String> {
    let Some(given) = input.remove("sandbox").filter(|given| !given.is_null()) else {
        return Ok(());
    };
    let mut request: SandboxRequest =
        serde_json::from_value(given).map_err(|error| format!("sandbox: {error}"))?;
    request.visible = exact(&request.visible, "visible", home, Path::to_owned)?;
    request.writable = exact(&request.writable, "writable", home, real)?;
    for path in &request.writable {
        check_hidden(path, &profile.rules, &request.visible)?;
    }
    request.reason = request
        .reason
        .map(|reason| reason.trim().to_owned())
        .filter(|reason| !reason.is_empty());
    if !request.is_empty() {
        input.insert("sandbox".to_owned(), json!(request));
    }
    Ok(())
}

fn exact(
    paths: &[String],
    name: &str,
    home: Option<&str>,
    resolve: impl Fn(&Path) -> PathBuf,
) -> Result<Vec<String>, String> {
    let mut exact = Vec::new();
    for given in paths {
        let path =
            full(given, home).map_err(|fault| format!("sandbox.{name}: {given:?} {fault}"))?;
        let text = resolve(&path).into_os_string().into_string();
        exact.push(
            text.map_err(|_| {
                format!("sandbox.{name}: {given:?} leads to a path that is not UTF-8")
            })?,
        );
    }
    exact.sort();
    exact.dedup();
    Ok(exact)
}

/// An absolute path, without a slash at the end or two in a row.
fn full(given: &str, home: Option<&str>) -> Result<PathBuf, &'static str> {
    let path = match Path::new(given).strip_prefix("~") {
        Ok(below) => Path::new(home.ok_or("needs a HOME, which tasks do not have")?).join(below),
        Err(_) => PathBuf::from(given),
    };
    if !path.is_absolute() {
        return Err("is neither an absolute path nor one below ~");
    }
    let leaves = path.components().any(|part| part.as_os_str() == "..");
    if given.contains('\0') || leaves {
        return Err("has \"..\" or NUL in it: write the path in full");
    }
    Ok(path.components().collect())
}

/// What is hidden would be changed, though not read, by way of a directory above it.
fn check_hidden(path: &str, rules: &SandboxRules, visible: &[String]) -> Result<(), String> {
    let place = Path::new(path);
    for hidden in rules
        .hidden
        .iter()
        .filter(|hidden| !visible.contains(hidden))
    {
        for other in [PathBuf::from(hidden), real(Path::new(hidden))] {
            if other.starts_with(place) {
                return Err(format!(
                    "sandbox.writable: {path:?} has the hidden {hidden:?} in it: name a narrower path, or {hidden:?} in visible, too"
                ));
            }
            let is_visible = visible.iter().chain(&rules.visible).any(|visible| {
                place.starts_with(visible) && Path::new(visible).starts_with(&other)
            });
            if place.starts_with(&other) && !is_visible {
                return Err(format!(
                    "sandbox.writable: {path:?} lies in the hidden {hidden:?}: name it in visible, too"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(request: &Value) -> Result<Value, String> {
        let profile = SandboxProfile {
            rules: SandboxRules {
                hidden: vec!["/home/u/.ssh".to_owned()],
                ..SandboxRules::default()
            },
            ..SandboxProfile::default()
        };
        let mut input = Map::from_iter([("sandbox".to_owned(), request.clone())]);
        prepare(&mut input, &profile, Some("/home/u"))?;
        let once = input.clone();
        // Preparing it again changes nothing.
        prepare(&mut input, &profile, Some("/home/u"))?;
        assert_eq!(input, once);
        Ok(input.remove("sandbox").unwrap_or_default())
    }

    #[test]
    fn paths_are_written_in_full_each_once_and_in_order() {
        assert_eq!(
            prepared(&json!({
                "writable": ["/nowhere//b/", "~/x", "/nowhere/a", "/nowhere/b"],
                "visible": ["~/.ssh/"],
                "reason": "  deploys \n",
            }))
            .unwrap(),
            json!({
                "writable": ["/home/u/x", "/nowhere/a", "/nowhere/b"],
                "visible": ["/home/u/.ssh"],
                "reason": "deploys",
            })
        );
    }

    #[test]
    fn a_link_is_shown_as_what_it_leads_to() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/usr", top.join("harmless")).unwrap();
        let shown = prepared(&json!({"writable": [top.join("harmless/lib")]})).unwrap();
        let real = Path::new("/usr/lib").canonicalize().unwrap();
        assert_eq!(shown, json!({"writable": [real]}));
    }

    #[test]
    fn what_asks_for_nothing_goes() {
        for nothing in [
            json!({}),
            json!(null),
            json!({"reason": "x", "writable": []}),
        ] {
            assert_eq!(prepared(&nothing).unwrap(), Value::Null, "{nothing}");
        }
    }

    #[test]
    fn a_path_that_cannot_be_opened_is_refused() {
        for path in ["x", "", "../x", "/a/../b", "~u/x", "/a\0b", "."] {
            let error = prepared(&json!({"writable": [path]})).unwrap_err();
            assert!(error.contains("sandbox.writable"), "{path:?}: {error}");
            assert!(prepared(&json!({"visible": [path]})).is_err(), "{path:?}");
        }
        assert!(prepared(&json!({"netwrok": true})).is_err());
    }

    #[test]
    fn nothing_hidden_becomes_writable_unless_it_is_named() {
        for (request, allowed) in [
            (json!({"writable": ["~"]}), false),
            (json!({"writable": ["/"]}), false),
            (json!({"writable": ["~/.ssh"]}), false),
            (json!({"writable": ["~/.ssh/x"]}), false),
            (json!({"writable": ["~/.sshx"]}), true),
            (json!({"writable": ["~"], "visible": ["~/.ssh"]}), true),
            (json!({"writable": ["~"], "visible": ["~/.ssh/x"]}), false),
            (
                json!({"writable": ["~/.ssh/x"], "visible": ["~/.ssh/x"]}),
                true,
            ),
            (
                json!({"writable": ["~/.ssh/x"], "visible": ["~/.ssh"]}),
                true,
            ),
        ] {
            assert_eq!(prepared(&request).is_ok(), allowed, "{request}");
        }
    }
}
