//! What the kernel opens beside a program to run it: the loader of an ELF file (elf(5)), the interpreter of a
//! script (execve(2)).

use std::{
    fs::File,
    io,
    os::unix::{ffi::OsStringExt as _, fs::FileExt as _},
    path::{Path, PathBuf},
};

/// As much as the kernel reads of a script's first line (`BINPRM_BUF_SIZE`).
const FIRST_LINE: usize = 256;

/// No path is longer (`PATH_MAX`).
const PATH_MOST: usize = 4096;

/// More program headers than any program has.
const HEADERS_MOST: u64 = 512;

/// `PT_INTERP`
const INTERPRETER: u64 = 3;

/// What a program is to the kernel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// An ELF file with this loader.
    Elf(PathBuf),
    /// A script: its interpreter, and the one argument that its first line gives to that.
    Script(PathBuf, Option<String>),
    /// Nothing else is opened: linked statically, of a kind that is not known, or not readable.
    Plain,
}

impl Format {
    /// Of the file at a path.
    pub(super) fn of(path: &Path) -> Self {
        let read = || -> io::Result<Option<Self>> {
            let file = File::open(path)?;
            let mut head = [0; FIRST_LINE];
            let length = file.read_at(&mut head, 0)?;
            let head = &head[..length];
            Ok(if let Some(line) = head.strip_prefix(b"#!") {
                script(line)
            } else if head.starts_with(b"\x7fELF") {
                loader(&file, head)?.map(Self::Elf)
            } else {
                None
            })
        };
        read().ok().flatten().unwrap_or(Self::Plain)
    }

    /// The command that `env` in a script's first line runs: `#!/usr/bin/env python3`, `#!/usr/bin/env -S deno run`.
    pub(super) fn command_of_env(argument: &str) -> Option<&str> {
        argument
            .split_ascii_whitespace()
            .map(|word| word.strip_prefix("-S").unwrap_or(word))
            .find(|word| !word.is_empty() && !word.starts_with('-') && !word.contains('='))
    }
}

fn script(line: &[u8]) -> Option<Format> {
    let line = line.split(|byte| *byte == b'\n').next()?;
    let text = std::str::from_utf8(line).ok()?.trim_matches([' ', '\t']);
    let (interpreter, argument) = match text.split_once([' ', '\t']) {
        Some((interpreter, argument)) => (interpreter, Some(argument.trim())),
        None => (text, None),
    };
    if interpreter.is_empty() {
        return None;
    }
    Some(Format::Script(
        PathBuf::from(interpreter),
        argument.map(str::to_owned),
    ))
}

/// The numbers of an ELF file, in its own width and order.
struct Numbers {
    wide: bool,
    little: bool,
}

impl Numbers {
    fn of(&self, bytes: &[u8], at: usize, length: usize) -> Option<u64> {
        let bytes = bytes.get(at..at + length)?;
        let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.little {
            bytes.iter().rev().fold(0, fold)
        } else {
            bytes.iter().fold(0, fold)
        })
    }

    /// An address or offset.
    fn word(&self, bytes: &[u8], narrow: usize, wide: usize) -> Option<u64> {
        if self.wide {
            self.of(bytes, wide, 8)
        } else {
            self.of(bytes, narrow, 4)
        }
    }
}

fn loader(file: &File, head: &[u8]) -> io::Result<Option<PathBuf>> {
    let numbers = Numbers {
        wide: head.get(4) == Some(&2),
        little: head.get(5) == Some(&1),
    };
    let (size_at, count_at) = if numbers.wide { (54, 56) } else { (42, 44) };
    let (Some(offset), Some(size), Some(count)) = (
        numbers.word(head, 28, 32),
        numbers.of(head, size_at, 2),
        numbers.of(head, count_at, 2),
    ) else {
        return Ok(None);
    };
    for number in 0..count.min(HEADERS_MOST) {
        let mut header = [0; 56];
        let at = offset.saturating_add(number * size);
        let length = file.read_at(&mut header, at)?;
        let header = &header[..length];
        if numbers.of(header, 0, 4) != Some(INTERPRETER) {
            continue;
        }
        let (Some(at), Some(length)) = (numbers.word(header, 4, 8), numbers.word(header, 16, 32))
        else {
            return Ok(None);
        };
        let mut path = vec![0; usize::try_from(length).map_or(PATH_MOST, |l| l.min(PATH_MOST))];
        file.read_exact_at(&mut path, at)?;
        path.truncate(
            path.iter()
                .position(|byte| *byte == 0)
                .unwrap_or(path.len()),
        );
        return Ok(Some(PathBuf::from(std::ffi::OsString::from_vec(path))));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Format {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        std::fs::write(&path, bytes).unwrap();
        Format::of(&path)
    }

    fn script(interpreter: &str, argument: Option<&str>) -> Format {
        Format::Script(PathBuf::from(interpreter), argument.map(str::to_owned))
    }

    #[test]
    fn the_first_line_of_a_script_names_its_interpreter_and_one_argument() {
        for (text, expected) in [
            ("#!/bin/sh\necho", script("/bin/sh", None)),
            ("#! /bin/sh -e \necho", script("/bin/sh", Some("-e"))),
            (
                "#!/usr/bin/env -S node --x\n",
                script("/usr/bin/env", Some("-S node --x")),
            ),
            ("#!/bin/sh", script("/bin/sh", None)),
            ("#!\n/bin/sh", Format::Plain),
            ("#", Format::Plain),
            ("", Format::Plain),
            ("echo x", Format::Plain),
        ] {
            assert_eq!(of(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(of(b"#!\xff\xfe\n"), Format::Plain);
        assert_eq!(Format::of(Path::new("/nowhere")), Format::Plain);
    }

    #[test]
    fn the_command_of_env_is_the_first_word_that_is_no_option_or_variable() {
        for (argument, expected) in [
            ("python3", Some("python3")),
            ("-S node --flag", Some("node")),
            ("-Snode --flag", Some("node")),
            ("-S -i A=b node", Some("node")),
            ("-S", None),
            ("", None),
        ] {
            assert_eq!(Format::command_of_env(argument), expected, "{argument:?}");
        }
    }

    /// An ELF file with one program header, in the given width and order.
    fn elf(wide: bool, little: bool, loader: &str) -> Vec<u8> {
        let mut bytes = vec![0; 256];
        let mut put = |at: usize, length: usize, value: u64| {
            let all = value.to_be_bytes();
            let mut number = all[8 - length..].to_vec();
            if little {
                number.reverse();
            }
            bytes[at..at + length].copy_from_slice(&number);
        };
        let word = if wide { 8 } else { 4 };
        let (offset, size, count) = if wide { (32, 54, 56) } else { (28, 42, 44) };
        put(offset, word, 64);
        put(size, 2, 56);
        put(count, 2, 2);
        // The first header is another one.
        put(64, 4, 6);
        put(120, 4, INTERPRETER);
        put(if wide { 128 } else { 124 }, word, 200);
        put(if wide { 152 } else { 136 }, word, loader.len() as u64 + 1);
        bytes[..6].copy_from_slice(&[
            0x7f,
            b'E',
            b'L',
            b'F',
            1 + u8::from(wide),
            2 - u8::from(little),
        ]);
        bytes[200..200 + loader.len()].copy_from_slice(loader.as_bytes());
        bytes
    }

    #[test]
    fn the_loader_of_an_elf_file_is_read_in_every_width_and_order() {
        for (wide, little) in [(true, true), (true, false), (false, true), (false, false)] {
            let bytes = elf(wide, little, "/lib/ld.so");
            assert_eq!(of(&bytes), Format::Elf(PathBuf::from("/lib/ld.so")));
            for length in [0, 4, 20, 60, 100, 130, 202] {
                // Cut anywhere it is no program, and nothing goes wrong.
                assert_eq!(of(&bytes[..length]), Format::Plain, "{length}");
            }
        }
    }

    #[test]
    fn a_real_program_has_a_real_loader() {
        let Format::Elf(loader) = Format::of(Path::new("/bin/sh")) else {
            return;
        };
        assert!(loader.is_file(), "{}", loader.display());
    }
}
