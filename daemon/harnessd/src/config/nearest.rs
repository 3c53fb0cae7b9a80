//! The nearest right name for a wrong one.

/// The name among `candidates` that was most likely meant, if one is near enough: at most a third
/// of the letters differ (a swap of two neighbours counts as one, and so does a missing end like
/// `_sec`), hyphens being underscores.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Beyond this a name is no slip of the keyboard, and the distance costs quadratic time.
    const LONGEST: usize = 64;
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let word = plain(word);
    let allowed = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|name| name.chars().count() <= LONGEST)
        .map(|name| {
            let known = plain(name);
            let suffix_left_out = word.len() > 2 && known.starts_with(&word);
            let distance = strsim::osa_distance(&word, &known);
            (
                if suffix_left_out {
                    distance.min(1)
                } else {
                    distance
                },
                name,
            )
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, name)| (*distance, *name))
        .map(|(_, name)| name)
}

/// `; did you mean "NAME"?`, or else the names there are, or nothing when there is none.
pub(crate) fn hint<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    if let Some(name) = nearest(word, candidates.clone()) {
        return format!("; did you mean `{name}`?");
    }
    let names: Vec<String> = candidates
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() || names.len() > 24 {
        return String::new();
    }
    format!("; expected one of {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = ["restart", "restart_sec", "kill_mode", "memory_max"];

    #[test]
    fn a_slip_of_the_keyboard_finds_its_name() {
        for (word, name) in [
            ("restrat", "restart"),
            ("restart-sec", "restart_sec"),
            ("KillMode", "kill_mode"),
            ("memory_mx", "memory_max"),
            ("memory", "memory_max"),
        ] {
            assert_eq!(nearest(word, KEYS), Some(name), "{word}");
        }
    }

    #[test]
    fn another_word_finds_none() {
        for word in ["", "colour", "x", &"restart".repeat(20)] {
            assert_eq!(nearest(word, KEYS), None, "{word}");
        }
        assert!(hint("colour", KEYS).contains("`kill_mode`"));
    }
}
