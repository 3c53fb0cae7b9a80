//! The structures, laid out as C has them.

use std::ffi::{CStr, c_void};

/// The version of this interface.
pub const HARNESS_PLUGIN_ABI_VERSION: u32 = 1;

/// The exported number: `const uint32_t harness_plugin_abi_version`.
pub const VERSION_SYMBOL: &CStr = c"harness_plugin_abi_version";

/// The exported function: `const HarnessPlugin *harness_plugin(void)`.
pub const TABLE_SYMBOL: &CStr = c"harness_plugin";

/// What [`TABLE_SYMBOL`] names.
pub type TableFunction = unsafe extern "C" fn() -> *const HarnessPlugin;

/// How a function of a plugin went.
pub type HarnessStatus = i32;

/// The buffer holds the JSON that was asked for.
pub const HARNESS_OK: HarnessStatus = 0;

/// The plugin itself has failed; the buffer may hold text that says why. A tool that ran and failed is no
/// such failure: it gives a result with `"isError": true`. Every other status but 0 means the same.
pub const HARNESS_FAILED: HarnessStatus = 1;

/// Text that is lent: not NUL-terminated, valid for the length of the call it is passed to.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HarnessSlice {
    /// Its first byte; may be null when `length` is 0.
    pub data: *const u8,
    /// Bytes.
    pub length: usize,
}

/// Text that a plugin owns, given back to its `free`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HarnessBuffer {
    /// Its first byte; null for no text, which is not given back.
    pub data: *mut u8,
    /// Bytes.
    pub length: usize,
}

/// What a plugin is told when it begins.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HarnessInit {
    /// The size of this structure.
    pub size: usize,
    /// Its settings: a JSON object that its settings schema allows.
    pub settings: HarnessSlice,
}

/// One call of a tool.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HarnessCall {
    /// The size of this structure.
    pub size: usize,
    /// The tool's name, one of those that `describe` gave.
    pub tool: HarnessSlice,
    /// Its input: a JSON object that its input schema allows, without white space between its tokens.
    pub input: HarnessSlice,
    /// To be handed to `progress` and `cancelled`, which may be called from any thread until this call returns.
    pub context: *mut c_void,
    /// Says how far the call has come. `progress` has to rise; `total` is what it reaches, or NaN when that is
    /// not known; `message` is a line for a person, or empty. Never blocks for long.
    pub progress: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            progress: f64,
            total: f64,
            message: HarnessSlice,
        ),
    >,
    /// Whether nobody waits for this call any more. A call that takes long asks now and then, and returns.
    pub cancelled: Option<unsafe extern "C" fn(context: *mut c_void) -> bool>,
    /// Gives a descriptor that becomes readable when nobody waits any more, for poll(2) beside others; -1 if
    /// none can be had. It is the host's, to be neither read nor closed, and there until this call returns.
    pub cancel_descriptor: Option<unsafe extern "C" fn(context: *mut c_void) -> i32>,
}

/// The table of a plugin: constant, and there for as long as it is loaded. All functions have to be there.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HarnessPlugin {
    /// The size of this structure.
    pub size: usize,
    /// Gives what the plugin is, as JSON: `{"name", "version", "tools": [{"name", "description", "inputSchema",
    /// "outputSchema"?, "title"?, "annotations"?, "direct"?}], "instructions"?, "settingsSchema"?}`.
    pub describe: Option<unsafe extern "C" fn(description: *mut HarnessBuffer) -> HarnessStatus>,
    /// Begins with these settings; what it writes to `state` is handed to `call` and `shutdown`. When it fails
    /// there is no state, and `error` says why.
    pub init: Option<
        unsafe extern "C" fn(
            init: *const HarnessInit,
            state: *mut *mut c_void,
            error: *mut HarnessBuffer,
        ) -> HarnessStatus,
    >,
    /// Runs a tool and gives an MCP `CallToolResult` as JSON: `{"content": [{"type": "text", "text"}],
    /// "structuredContent"?, "isError"?}`.
    pub call: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            call: *const HarnessCall,
            result: *mut HarnessBuffer,
        ) -> HarnessStatus,
    >,
    /// Takes a buffer back.
    pub free: Option<unsafe extern "C" fn(buffer: HarnessBuffer)>,
    /// Ends. It is not called while a call runs; the process ends soon after, called or not.
    pub shutdown: Option<unsafe extern "C" fn(state: *mut c_void)>,
}

impl HarnessSlice {
    /// Lends a text: valid only for as long as that is.
    #[must_use]
    pub const fn lend(text: &str) -> Self {
        Self {
            data: text.as_ptr(),
            length: text.len(),
        }
    }
}

impl HarnessBuffer {
    /// No text.
    pub const EMPTY: Self = Self {
        data: std::ptr::null_mut(),
        length: 0,
    };
}
