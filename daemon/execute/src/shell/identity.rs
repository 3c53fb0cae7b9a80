//! What ran a command, in one line, and who has been told.

use std::{
    collections::{HashSet, VecDeque},
    path::Path,
};

use harness_model::SessionId;

/// Sessions that are remembered to have been told; the oldest is forgotten first.
const REMEMBERED: usize = 1024;

/// The name of the operating system (os-release(5)), or `Linux`.
pub(super) fn operating_system() -> String {
    let read = |path: &&str| std::fs::read_to_string(path).ok();
    ["/etc/os-release", "/usr/lib/os-release"]
        .iter()
        .find_map(read)
        .and_then(|text| pretty_name(&text))
        .unwrap_or_else(|| "Linux".to_owned())
}

fn pretty_name(text: &str) -> Option<String> {
    let value = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    let value = value.trim();
    let quoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    let name: String = value
        .chars()
        .filter(|c| !c.is_control() && *c != '\\')
        .collect();
    (!name.is_empty()).then_some(name)
}

/// `harnessd shell · OS · SHELL (PATH)`
pub(super) fn line(system: &str, shell: &str) -> String {
    let name = Path::new(shell).file_name().map_or_else(
        || shell.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    format!("harnessd shell · {system} · {name} ({shell})")
}

/// The sessions that have had a result.
#[derive(Debug, Default)]
pub(super) struct Told {
    sessions: HashSet<SessionId>,
    order: VecDeque<SessionId>,
}

impl Told {
    /// Whether this is the session's first result.
    pub(super) fn is_first(&mut self, session: &SessionId) -> bool {
        if !self.sessions.insert(session.clone()) {
            return false;
        }
        self.order.push_back(session.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.sessions.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_system_shell_and_path() {
        assert_eq!(
            line("NixOS 25.11 (Xantusia)", "/run/current-system/sw/bin/zsh"),
            "harnessd shell · NixOS 25.11 (Xantusia) · zsh (/run/current-system/sw/bin/zsh)"
        );
    }

    #[test]
    fn the_systems_name_is_read_with_and_without_quotes() {
        for (text, expected) in [
            (
                "NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
                Some("Debian GNU/Linux 12 (bookworm)"),
            ),
            ("PRETTY_NAME='Arch Linux'", Some("Arch Linux")),
            ("PRETTY_NAME=Plain", Some("Plain")),
            ("PRETTY_NAME=\"\"", None),
            ("NAME=x", None),
            ("", None),
        ] {
            assert_eq!(pretty_name(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_session_is_told_once_and_memory_is_bounded() {
        let mut told = Told::default();
        let first = SessionId::generate();
        assert!(told.is_first(&first));
        assert!(!told.is_first(&first));
        for _ in 0..3 * REMEMBERED {
            assert!(told.is_first(&SessionId::generate()));
        }
        assert_eq!(told.sessions.len(), REMEMBERED);
        assert_eq!(told.order.len(), REMEMBERED);
    }
}
