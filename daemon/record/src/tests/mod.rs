mod commit;
mod faults;
mod migrations;
mod plans;

#[allow(dead_code, reason = "shared with the tests of the public API")]
#[path = "../../tests/record/support.rs"]
mod support;
