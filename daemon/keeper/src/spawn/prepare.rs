//! From a request to what execve(2) takes.

use std::{
    ffi::{CStr, CString, NulError, c_char},
    os::unix::ffi::OsStringExt,
    path::Path,
    ptr,
};

use harness_keeper::protocol::{Failure, Spawn};
use rustix::io::Errno;

use super::lookup;

/// Names the keeper (by its state) in every child's environment, so that the next keeper finds what a killed one left.
pub(crate) const KEEPER_VARIABLE: &str = "HARNESS_KEEPER";
/// Names the unit in its processes' environment.
pub(crate) const UNIT_VARIABLE: &str = "HARNESS_UNIT";
/// Names the run in its processes' environment.
pub(crate) const INVOCATION_VARIABLE: &str = "HARNESS_INVOCATION";

/// A program, its arguments and its environment, ready for execve(2).
pub(crate) struct Prepared {
    program: CString,
    directory: CString,
    arguments: Strings,
    environment: Strings,
}

/// A null-terminated array of strings.
struct Strings {
    pointers: Vec<*const c_char>,
    // The pointers point into these; the heap contents of a `CString` do not move.
    _strings: Vec<CString>,
}

impl Strings {
    fn new(strings: Vec<CString>) -> Self {
        let mut pointers: Vec<_> = strings.iter().map(|string| string.as_ptr()).collect();
        pointers.push(ptr::null());
        Self {
            pointers,
            _strings: strings,
        }
    }
}

impl Prepared {
    /// Takes the request's words over. `state_id` goes into the environment as a marker.
    ///
    /// # Errors
    /// An empty argument list, a NUL byte, a variable without a proper name, or no such program.
    pub(crate) fn new(request: &mut Spawn, state_id: &str) -> Result<Self, Failure> {
        let cwd = std::mem::take(&mut request.cwd);
        let environment = std::mem::take(&mut request.environment);
        let argv = std::mem::take(&mut request.argv);
        let program = argv.first().ok_or_else(|| Failure::Invalid {
            message: "the argument list is empty: give at least the program".to_owned(),
        })?;
        let path = environment
            .iter()
            .rev()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.as_str());
        let file = lookup::find(program, path, Path::new(&cwd))
            .map_err(|error| refused_program(program, error))?;
        let program = CString::new(file.into_os_string().into_vec())
            .map_err(|error| nul("the program", &error))?;
        let markers = [
            (KEEPER_VARIABLE, state_id),
            (UNIT_VARIABLE, request.unit.as_str()),
            (INVOCATION_VARIABLE, request.invocation.as_str()),
        ];
        Ok(Self {
            program,
            directory: CString::new(cwd).map_err(|error| nul("the directory", &error))?,
            arguments: Strings::new(
                argv.into_iter()
                    .enumerate()
                    .map(|(place, word)| {
                        CString::new(word)
                            .map_err(|error| nul(&format!("argument {place}"), &error))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            environment: Strings::new(variables(environment, markers)?),
        })
    }

    pub(super) fn program(&self) -> &CStr {
        &self.program
    }

    pub(super) fn directory(&self) -> &CStr {
        &self.directory
    }

    pub(super) fn arguments(&self) -> *const *const c_char {
        self.arguments.pointers.as_ptr()
    }

    pub(super) fn environment(&self) -> *const *const c_char {
        self.environment.pointers.as_ptr()
    }
}

fn variables(
    environment: Vec<(String, String)>,
    markers: [(&str, &str); 3],
) -> Result<Vec<CString>, Failure> {
    let mut strings = Vec::with_capacity(environment.len() + markers.len());
    for (mut name, value) in environment {
        if name.is_empty() || name.contains('=') {
            return Err(Failure::Invalid {
                message: format!(
                    "{name:?} is not a name of an environment variable: it is empty or has a = in it"
                ),
            });
        }
        if markers.iter().any(|(marker, _)| *marker == name) {
            continue;
        }
        let length = name.len();
        name.reserve_exact(value.len() + 2);
        name.push('=');
        name.push_str(&value);
        strings.push(CString::new(name).map_err(|error| {
            let place = if error.nul_position() < length {
                "the name of a variable"
            } else {
                "the value of a variable"
            };
            nul(place, &error)
        })?);
    }
    for (name, value) in markers {
        strings.push(CString::new(format!("{name}={value}")).map_err(|error| nul(name, &error))?);
    }
    Ok(strings)
}

fn nul(place: &str, error: &NulError) -> Failure {
    Failure::Invalid {
        message: format!(
            "{place} has a NUL byte at position {}: the kernel takes none",
            error.nul_position()
        ),
    }
}

pub(super) fn refused_program(program: &str, error: Errno) -> Failure {
    if error == Errno::NOENT {
        Failure::NoSuchProgram {
            program: program.to_owned(),
        }
    } else {
        Failure::System {
            step: format!("execute {program}"),
            error: std::io::Error::from(error).to_string(),
            retryable: false,
        }
    }
}
