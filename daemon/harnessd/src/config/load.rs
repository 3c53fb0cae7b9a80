//! From files to a configuration that can be used.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use harness_model::SandboxProfile;

use super::{
    check::{Tokens, check},
    diagnostic::{Diagnostic, Diagnostics, Source, Span},
    file::read_all,
    host::Host,
    merge::merge,
    node::{Node, Table, Value, parse},
    not_yet::not_yet,
    places::{Mode, Places},
    read::{Reading, read},
    schema::Config,
};

/// A configuration that was read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The keys, with defaults for what is not set.
    pub config: Config,
    /// The workspace as an absolute path.
    pub workspace: PathBuf,
    /// The shell of tasks as an absolute path.
    pub shell: PathBuf,
    /// `[sandbox]` with its paths in full.
    pub sandbox: SandboxProfile,
    /// The tokens of the TCP fronts.
    pub tokens: Tokens,
    /// The uids of `[control] admins`.
    pub admins: Vec<u32>,
    /// The libraries of `[plugin]`, as absolute paths, by the names of the plugins.
    pub libraries: BTreeMap<String, PathBuf>,
    /// The files it was read from, in their order.
    pub files: Vec<PathBuf>,
    /// What is wrong but does not hinder, keys without effect included.
    pub warnings: Diagnostics,
}

impl Config {
    /// Reads, merges and checks the files of a harness against this machine.
    ///
    /// # Errors
    /// Everything that is wrong, at once; warnings are among it.
    pub fn load(places: &Places) -> Result<Loaded, Diagnostics> {
        Self::load_on(places, &Host::current())
    }

    /// The same against another machine.
    ///
    /// # Errors
    /// Everything that is wrong, at once; warnings are among it.
    pub fn load_on(places: &Places, host: &Host) -> Result<Loaded, Diagnostics> {
        let sources = read_all(&places.config, places.config_required)?;
        if sources.is_empty() && places.mode == Mode::System {
            let file = places.config.display();
            let message = format!("there is no configuration: make {file}, with a workspace in it");
            return Err(Diagnostic::error(message, None).into());
        }
        let tree = parse_all(&sources)?;
        let Reading {
            value: config,
            tree,
            removed,
            mut problems,
        } = read::<Self>(tree);
        let (findings, found) = check(&config, &tree, &removed, host, places.mode);
        problems.append(found);
        problems.append(not_yet(&tree));
        problems.sort_by_place(&sources);
        if problems.has_errors() {
            return Err(problems);
        }
        Ok(Loaded {
            config,
            workspace: findings.workspace,
            shell: findings.shell,
            sandbox: findings.sandbox,
            tokens: findings.tokens,
            admins: findings.admins,
            libraries: findings.libraries,
            files: sources.iter().map(|source| source.path.clone()).collect(),
            warnings: problems,
        })
    }

    /// The JSON Schema of the configuration.
    #[must_use]
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(Self)
    }
}

/// Parses every file, and lays each over the ones before it.
fn parse_all(sources: &[Arc<Source>]) -> Result<Node, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut all = Table::new();
    for source in sources {
        match parse(source) {
            Ok(Node {
                value: Value::Table(table),
                ..
            }) => merge(&mut all, table),
            Ok(_) => {}
            Err(errors) => problems.append(errors),
        }
    }
    if !problems.is_empty() {
        problems.sort_by_place(sources);
        return Err(problems);
    }
    let source = sources.first().map_or_else(
        || {
            Arc::new(Source {
                path: Path::new("").to_owned(),
                text: String::new(),
            })
        },
        Arc::clone,
    );
    Ok(Node {
        span: Span {
            source,
            range: 0..0,
        },
        value: Value::Table(all),
    })
}
