//! A plugin as the host sees it: through its table.
#![expect(unsafe_code, reason = "the test is the other side of the C interface")]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

use std::{ffi::c_void, ptr, sync::Mutex};

use harness_plugin_sdk::{
    Call, Error, Json, Output, Plugin, Result, Tool,
    abi::{
        HARNESS_FAILED, HARNESS_OK, HarnessBuffer, HarnessCall, HarnessInit, HarnessPlugin,
        HarnessSlice,
    },
    export,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    greeting: String,
}

impl Default for Settings {
    fn default() -> Self {
        let greeting = "Hello".to_owned();
        Self { greeting }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Whom to greet.
    name: String,
    /// How often.
    #[serde(default)]
    times: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Greeting {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[expect(clippy::needless_pass_by_value, reason = "a tool owns its input")]
fn greet(input: Name, call: &Call<Settings>) -> Result<(String, Json<Greeting>)> {
    if input.times == Some(0) {
        return Err(Error::new("that is no greeting"));
    }
    let text = format!("{}, {}!", call.state().greeting, input.name);
    Ok((text.clone(), Json(Greeting { text })))
}

#[expect(clippy::unnecessary_wraps, reason = "a tool can fail")]
fn report(_: Nothing, call: &Call<Settings>) -> Result<Output> {
    call.progress(1.0, None, "half");
    Ok(Output::text(if call.is_cancelled() {
        "cancelled"
    } else {
        "waited for"
    }))
}

#[expect(clippy::panic, reason = "that is the tool's purpose")]
fn panics(_: Nothing, _: &Call<Settings>) -> Result<String> {
    panic!("for {}", "a reason")
}

export!(
    Plugin::with_settings("greeter", "1.2.3", |settings: Settings| {
        if settings.greeting.is_empty() {
            return Err(Error::new("the greeting is empty"));
        }
        Ok(settings)
    })
    .instructions("Greet politely.")
    .tool(
        Tool::new("greet", "Greets.", greet)
            .title("Greet")
            .read_only()
            .open_world(false)
            .direct()
    )
    .tool(
        Tool::new("report", "Reports.", report)
            .destructive()
            .idempotent()
    )
    .tool(Tool::new("panic", "Panics.", panics).additive())
);

unsafe extern "C" {
    safe fn harness_plugin() -> *const HarnessPlugin;
    safe static harness_plugin_abi_version: u32;
}

fn table() -> HarnessPlugin {
    // SAFETY: the plugin's table is constant.
    unsafe { *harness_plugin() }
}

/// The text of a buffer, which is given back.
fn take(buffer: HarnessBuffer) -> Vec<u8> {
    if buffer.data.is_null() {
        return Vec::new();
    }
    // SAFETY: the plugin has filled it and gets it back once.
    unsafe {
        let text = std::slice::from_raw_parts(buffer.data, buffer.length).to_vec();
        table().free.unwrap()(buffer);
        text
    }
}

fn begin(settings: &str) -> std::result::Result<*mut c_void, String> {
    let init = HarnessInit {
        size: size_of::<HarnessInit>(),
        settings: HarnessSlice::lend(settings),
    };
    let (mut state, mut error) = (ptr::null_mut(), HarnessBuffer::EMPTY);
    // SAFETY: all of it is there for the call.
    let status = unsafe { table().init.unwrap()(&raw const init, &raw mut state, &raw mut error) };
    let error = String::from_utf8(take(error)).unwrap();
    if status == HARNESS_OK {
        Ok(state)
    } else {
        Err(error)
    }
}

/// What was reported during a call.
#[derive(Default)]
struct Seen(Mutex<Vec<(f64, bool, String)>>);

unsafe extern "C" fn progress(
    context: *mut c_void,
    progress: f64,
    total: f64,
    message: HarnessSlice,
) {
    // SAFETY: it is what `call` has given, and the text is lent.
    let (seen, message) = unsafe {
        let text = std::slice::from_raw_parts(message.data, message.length);
        (
            &*context.cast::<Seen>(),
            String::from_utf8_lossy(text).into_owned(),
        )
    };
    seen.0
        .lock()
        .unwrap()
        .push((progress, total.is_nan(), message));
}

unsafe extern "C" fn cancelled(_: *mut c_void) -> bool {
    true
}

fn call(state: *mut c_void, tool: &str, input: &Value, seen: &Seen) -> (i32, Vec<u8>) {
    let input = input.to_string();
    let call = HarnessCall {
        size: size_of::<HarnessCall>(),
        tool: HarnessSlice::lend(tool),
        input: HarnessSlice::lend(&input),
        context: ptr::from_ref(seen).cast_mut().cast(),
        progress: Some(progress),
        cancelled: Some(cancelled),
        cancel_descriptor: None,
    };
    let mut result = HarnessBuffer::EMPTY;
    // SAFETY: all of it is there for the call.
    let status = unsafe { table().call.unwrap()(state, &raw const call, &raw mut result) };
    (status, take(result))
}

#[test]
fn it_says_what_it_is_with_the_schemas_of_its_types() {
    assert_eq!(harness_plugin_abi_version, 1);
    let mut buffer = HarnessBuffer::EMPTY;
    // SAFETY: the buffer is there for the call.
    let status = unsafe { table().describe.unwrap()(&raw mut buffer) };
    assert_eq!(status, HARNESS_OK);
    let description: Value = serde_json::from_slice(&take(buffer)).unwrap();
    assert_eq!(description["name"], "greeter");
    assert_eq!(description["version"], "1.2.3");
    assert_eq!(description["instructions"], "Greet politely.");
    assert_eq!(
        description["settingsSchema"]["properties"]["greeting"]["default"],
        "Hello"
    );
    assert_eq!(description["settingsSchema"]["additionalProperties"], false);
    let greet = &description["tools"][0];
    assert_eq!(greet["title"], "Greet");
    assert_eq!(greet["direct"], true);
    assert_eq!(
        greet["annotations"],
        json!({"readOnlyHint": true, "openWorldHint": false})
    );
    assert_eq!(
        greet["inputSchema"]["properties"]["name"]["description"],
        "Whom to greet."
    );
    assert_eq!(greet["inputSchema"]["required"], json!(["name"]));
    assert_eq!(
        greet["outputSchema"]["properties"]["text"]["type"],
        "string"
    );
    let report = &description["tools"][1];
    let annotations =
        json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true});
    assert_eq!(report["annotations"], annotations);
    assert_eq!(report["inputSchema"]["type"], "object");
    assert!(report.get("outputSchema").is_none());
    let added = json!({"readOnlyHint": false, "destructiveHint": false});
    assert_eq!(description["tools"][2]["annotations"], added);
}

#[test]
fn it_begins_with_its_settings_or_says_why_not() {
    assert_eq!(
        begin(r#"{"greeting": ""}"#),
        Err("the greeting is empty".to_owned())
    );
    let error = begin(r#"{"greetnig": "x"}"#).unwrap_err();
    assert!(error.contains("unknown field `greetnig`"), "{error}");
    assert!(begin("{").is_err());
    let state = begin(r#"{"greeting": "Good morning"}"#).unwrap();
    let (status, result) = call(state, "greet", &json!({"name": "you"}), &Seen::default());
    assert_eq!(status, HARNESS_OK);
    let result: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(result["content"][0]["text"], "Good morning, you!");
    assert_eq!(
        result["structuredContent"],
        json!({"text": "Good morning, you!"})
    );
    assert_eq!(result["isError"], false);
    // SAFETY: no call runs.
    unsafe { table().shutdown.unwrap()(state) };
}

#[test]
fn progress_and_cancellation_cross() {
    let state = begin("{}").unwrap();
    let seen = Seen::default();
    let (_, result) = call(state, "report", &json!({}), &seen);
    let result: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(result["content"][0]["text"], "cancelled");
    assert_eq!(*seen.0.lock().unwrap(), [(1.0, true, "half".to_owned())]);
}

#[test]
fn a_tool_that_fails_gives_a_result_and_one_that_panics_a_failure() {
    let state = begin("{}").unwrap();
    for (tool, input, part) in [
        (
            "greet",
            json!({"name": "x", "times": 0}),
            "that is no greeting",
        ),
        ("greet", json!({}), "missing field `name`"),
        ("nonsense", json!({}), "no tool \"nonsense\""),
    ] {
        let (status, result) = call(state, tool, &input, &Seen::default());
        assert_eq!(status, HARNESS_OK);
        let result: Value = serde_json::from_slice(&result).unwrap();
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(part), "{text}");
    }
    let (status, text) = call(state, "panic", &json!({}), &Seen::default());
    assert_eq!(
        (status, text.as_slice()),
        (HARNESS_FAILED, &b"it panicked: for a reason"[..])
    );
    let (status, _) = call(state, "greet", &json!({"name": "x"}), &Seen::default());
    assert_eq!(status, HARNESS_OK, "it goes on after a panic");
}
