//! A script in the words of its interpreter.

/// `SHELL -c SCRIPT`. A script that begins like an option would be taken for one (bash reads all options before the
/// script); a blank before it changes nothing else.
pub(crate) fn argv(shell: &str, script: &str) -> Vec<String> {
    let script = if script.starts_with(['-', '+']) {
        format!(" {script}")
    } else {
        script.to_owned()
    };
    vec![shell.to_owned(), "-c".to_owned(), script]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_never_taken_for_an_option() {
        for (script, expected) in [
            ("echo -n", "echo -n"),
            ("-x", " -x"),
            ("--login", " --login"),
            ("+e; ls", " +e; ls"),
            ("", ""),
        ] {
            assert_eq!(argv("/bin/sh", script), ["/bin/sh", "-c", expected]);
        }
    }
}
