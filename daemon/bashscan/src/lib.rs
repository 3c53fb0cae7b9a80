//! What would bash run?
//!
//! [`scan`] reads a script and lists every simple command in it, wherever it hides: lists, pipes,
//! functions, subshells, substitutions within any kind of word, here-documents, arithmetic,
//! subscripts, literal `eval`, `trap` and `sh -c` texts, and behind wrappers such as `env`, `xargs`
//! or `find -exec`. [`judge`] compares that list word by word with an allowlist.
//!
//! The scanner fails closed. Whatever it does not understand, or whose meaning depends on data that
//! exists only at run time, is reported as [`Opaque`], and a script with an opaque part is never
//! allowed; its [`Class`] tells what could not be read from what was read and asks. A second,
//! independent reading ([`recount`](mod@recount)) must find the same substitutions at the same places.
//!
//! What variables can hold is followed through the whole script, in whatever order it runs
//! (`value`); that something was assigned or defined before counts only where neither a
//! branch nor an error can have skipped it (`order`).
//!
//! The grammar is that of bash 5.2, started as `bash -c` or with a file: not interactive, so without
//! aliases and history expansion, and not in posix mode. [`Dialect::Posix`] additionally refuses
//! whatever a plain POSIX shell would read differently. The inherited environment, and arguments that
//! the shell is started with, are trusted not to be code: a caller who lets somebody else add to them
//! has to treat that as a reason to ask. So are the programs in the system's directories: `wc -l`
//! prints numbers.

mod allow;
mod builtin;
mod context;
mod findings;
mod grammar;
mod here_document;
mod lexer;
mod opaque;
mod order;
mod recount;
mod resolve;
mod scan;
mod value;
mod variable;
mod word;
mod wrapper;

pub use allow::{Matched, Pattern, PatternError, Policy, Verdict, judge, judge_scan};
pub use context::{Context, Place};
pub use opaque::{Class, Opaque, Reason};
pub use scan::{
    Assignment, Command, Dialect, Function, MAX_DEPTH, MAX_LENGTH, Redirection, Scan, Source, scan,
    scan_as,
};
pub use variable::{affects_programs, affects_shell};
pub use word::{Span, Word, WordKind};
