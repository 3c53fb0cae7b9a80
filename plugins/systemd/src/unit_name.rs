//! Names of units, before a program is given one.

use crate::error::{Error, Result};

/// The longest name: `UNIT_NAME_MAX` of systemd.unit(5).
const NAME_MAX: usize = 255;

/// Checks that it is a name, neither an option nor a glob.
pub(crate) fn check(name: &str) -> Result<&str> {
    // "ASCII letters, digits, ":", "-", "_", ".", and "\\"", systemd.unit(5), and "@" for templates.
    let letter = |c: char| c.is_ascii_alphanumeric() || ":-_.\\@".contains(c);
    if name.is_empty()
        || name.len() > NAME_MAX
        || name.starts_with('-')
        || !name.chars().all(letter)
    {
        return Err(Error::Name {
            name: name.to_owned(),
        });
    }
    Ok(name)
}

/// The full name: "if no suffix is given, .service is assumed", systemctl(1).
pub(crate) fn full(name: &str) -> Result<String> {
    const SUFFIXES: [&str; 11] = [
        ".service",
        ".socket",
        ".device",
        ".mount",
        ".automount",
        ".swap",
        ".target",
        ".path",
        ".timer",
        ".slice",
        ".scope",
    ];
    let name = check(name)?;
    Ok(if SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
        name.to_owned()
    } else {
        format!("{name}.service")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_full_and_an_option_or_a_glob_is_none() {
        assert_eq!(full("nginx").unwrap(), "nginx.service");
        assert_eq!(full("a@b-1:2.timer").unwrap(), "a@b-1:2.timer");
        assert_eq!(full("org.x.Y1").unwrap(), "org.x.Y1.service");
        for name in [
            "",
            "--force",
            "a*",
            "a b",
            "a/b",
            "ä",
            "a\n",
            &"x".repeat(256),
        ] {
            assert!(full(name).is_err(), "{name:?}");
        }
    }
}
