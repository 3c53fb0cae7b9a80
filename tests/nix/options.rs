//! The options against the daemon: nothing that it knows is missing, and the page says what there is.

use std::collections::BTreeSet;

use harness_tests::{binaries, command, harness::PATIENCE, trials};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{
    evaluation::Evaluation,
    files::{is_generated, the_schema_that_the_modules_read_is_the_one_that_harnessd_prints},
};

pub(crate) fn trials() -> Vec<Trial> {
    trials![
        every_key_of_the_configuration_is_an_option,
        the_option_page_is_the_one_that_the_modules_make,
        the_flake_gives_everything_for_both_machines,
    ]
}

/// Every key below a node of the schema, entries of a table of tables as `<name>` and of a list as `*`.
fn keys(schema: &Value, node: &Value, path: &[String], found: &mut BTreeSet<Vec<String>>) {
    if let Some(name) = node["$ref"].as_str() {
        let definition = &schema["$defs"][name.rsplit('/').next().unwrap()];
        return keys(schema, definition, path, found);
    }
    for choice in node["anyOf"].as_array().into_iter().flatten() {
        keys(schema, choice, path, found);
    }
    let below = |step: &str| [path, &[step.to_owned()]].concat();
    for (key, inner) in node["properties"].as_object().into_iter().flatten() {
        found.insert(below(key));
        keys(schema, inner, &below(key), found);
    }
    if node["additionalProperties"].is_object() {
        keys(
            schema,
            &node["additionalProperties"],
            &below("<name>"),
            found,
        );
    }
    if node["items"].is_object() {
        keys(schema, &node["items"], &below("*"), found);
    }
}

fn every_key_of_the_configuration_is_an_option() {
    let mut print = command::command(binaries::program("harnessd"));
    print.arg("--schema");
    let schema = command::run(print, b"", PATIENCE).ok().json();
    let mut known = BTreeSet::new();
    keys(&schema, &schema, &[], &mut known);
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    for key in [
        "bash.unit.memory_max",
        "mcp.<name>.unit.restart",
        "hook.*.on_error",
        "mcp_http.token_file",
        "tool.<name>.mode",
    ] {
        assert!(known.contains(&path(key)), "{key} is not in the schema");
    }
    let options = Evaluation::new().value("options");
    let options: BTreeSet<Vec<String>> = serde_json::from_value(options).unwrap();
    let missing: Vec<_> = known.difference(&options).collect();
    assert!(missing.is_empty(), "no option: {missing:?}");
}

fn the_option_page_is_the_one_that_the_modules_make() {
    // The page is made from it, and both may be written anew at once.
    the_schema_that_the_modules_read_is_the_one_that_harnessd_prints();
    let page = Evaluation::new().value("page");
    is_generated("docs/nix-options.md", page.as_str().unwrap());
}

fn the_flake_gives_everything_for_both_machines() {
    let flake = Evaluation::new().value("flake");
    for machine in ["x86_64-linux", "aarch64-linux"] {
        for (output, name) in [
            ("packages", "default"),
            ("packages", "harnessd"),
            ("apps", "default"),
            ("devShells", "default"),
            ("checks", "package"),
            ("checks", "vm-service"),
            ("checks", "vm-reload"),
            ("checks", "vm-container"),
        ] {
            assert!(
                flake[output][machine][name].is_string(),
                "{output}.{machine}.{name}: {flake}"
            );
        }
        assert!(flake["formatter"][machine].is_string(), "{flake}");
    }
    assert_eq!(
        flake["modules"],
        json!({ "homeManager": ["default"], "nixos": ["default"], "overlays": ["default"] })
    );
    // The derivation installs what `make install` does, and names no file itself.
    let install = flake["install"].as_str().unwrap();
    assert!(install.contains("make install PREFIX=$out"), "{install}");
}
