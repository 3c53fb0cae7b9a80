//! Nothing but the comparison in `tests/`.
