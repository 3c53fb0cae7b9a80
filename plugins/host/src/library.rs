//! The functions of a loaded plugin, and nothing of what they mean.
#![expect(
    unsafe_code,
    reason = "the other side is C; what it promises is written in harness_plugin.h"
)]

use std::{
    ffi::{CStr, c_void},
    mem::ManuallyDrop,
    path::Path,
    ptr, slice,
};

use harness_plugin_abi::{
    HARNESS_OK, HARNESS_PLUGIN_ABI_VERSION, HarnessBuffer, HarnessCall, HarnessInit, HarnessPlugin,
    HarnessSlice, HarnessStatus, TABLE_SYMBOL, TableFunction, VERSION_SYMBOL,
};
use libloading::os::unix::{Library as Object, RTLD_LOCAL, RTLD_NOW};

use crate::{
    error::{Error, Result},
    lent::Lent,
};

/// The longest text that is taken from a plugin, in bytes.
pub(crate) const TEXT_MAX: usize = 16 * 1024 * 1024;

type Describe = unsafe extern "C" fn(*mut HarnessBuffer) -> HarnessStatus;
type Init =
    unsafe extern "C" fn(*const HarnessInit, *mut *mut c_void, *mut HarnessBuffer) -> HarnessStatus;
type Call =
    unsafe extern "C" fn(*mut c_void, *const HarnessCall, *mut HarnessBuffer) -> HarnessStatus;

/// A loaded plugin of the right version. It is never unloaded: its threads may be anywhere in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Library {
    describe: Describe,
    init: Init,
    call: Call,
    free: unsafe extern "C" fn(HarnessBuffer),
    shutdown: unsafe extern "C" fn(*mut c_void),
}

/// What a plugin has made of its settings.
pub(crate) struct State {
    library: Library,
    pointer: *mut c_void,
}

// SAFETY: the interface says that `call` runs on many threads at once.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl Library {
    /// Loads it, and looks at its version before all else.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        // A name without a slash would be searched for.
        let path = path.canonicalize().map_err(|source| Error::Missing {
            path: path.to_owned(),
            source,
        })?;
        // SAFETY: what its initializers do is what this process is for.
        let object = unsafe { Object::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
        let object = object.map_err(|source| Error::Load {
            path: path.clone(),
            source,
        })?;
        let object = ManuallyDrop::new(object);
        let version = symbol::<*const u32>(&object, &path, VERSION_SYMBOL)?;
        // SAFETY: the symbol is there, and names a constant number of 32 bits.
        let found = unsafe { version.read_unaligned() };
        if found != HARNESS_PLUGIN_ABI_VERSION {
            return Err(Error::Version { found });
        }
        let table = symbol::<TableFunction>(&object, &path, TABLE_SYMBOL)?;
        // SAFETY: the version is right, and so is the signature.
        Self::read(unsafe { table() })
    }

    /// Takes the functions of version 1; a later table has more after them.
    fn read(table: *const HarnessPlugin) -> Result<Self> {
        let fault = |fault| Error::Table { fault };
        if table.is_null() || !table.is_aligned() {
            return Err(fault("there is none"));
        }
        // SAFETY: it points to a table, and every table begins with its size.
        if unsafe { (&raw const (*table).size).read() } < size_of::<HarnessPlugin>() {
            return Err(fault("it is too short"));
        }
        // SAFETY: it is as long as that.
        let table = unsafe { table.read() };
        Ok(Self {
            describe: table.describe.ok_or(fault("describe is null"))?,
            init: table.init.ok_or(fault("init is null"))?,
            call: table.call.ok_or(fault("call is null"))?,
            free: table.free.ok_or(fault("free is null"))?,
            shutdown: table.shutdown.ok_or(fault("shutdown is null"))?,
        })
    }

    /// What it says of itself.
    pub(crate) fn describe(&self) -> Result<Vec<u8>> {
        let mut buffer = HarnessBuffer::EMPTY;
        // SAFETY: the buffer is there for the call.
        let status = unsafe { (self.describe)(&raw mut buffer) };
        self.take(status, buffer, "describe")
    }

    /// Begins it with settings.
    pub(crate) fn init(self, settings: &str) -> Result<State> {
        let init = HarnessInit {
            size: size_of::<HarnessInit>(),
            settings: HarnessSlice::lend(settings),
        };
        let mut pointer = ptr::null_mut();
        let mut buffer = HarnessBuffer::EMPTY;
        // SAFETY: all three are there for the call.
        let status = unsafe { (self.init)(&raw const init, &raw mut pointer, &raw mut buffer) };
        self.take(status, buffer, "init")?;
        Ok(State {
            library: self,
            pointer,
        })
    }

    /// Copies a buffer and gives it back.
    fn take(
        &self,
        status: HarnessStatus,
        buffer: HarnessBuffer,
        function: &'static str,
    ) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut too_long = false;
        if !buffer.data.is_null() {
            too_long = buffer.length > TEXT_MAX;
            if !too_long {
                // SAFETY: the plugin says that there are so many bytes, until they are given back.
                text.extend_from_slice(unsafe {
                    slice::from_raw_parts(buffer.data, buffer.length)
                });
            }
            // SAFETY: it is given back once.
            unsafe { (self.free)(buffer) };
        }
        let failed = |message| Error::Failed { function, message };
        if too_long {
            let (length, limit) = (buffer.length, TEXT_MAX);
            let message =
                format!("its text has {length} bytes, and {limit} is the most; use a file");
            return Err(failed(message));
        }
        if status == HARNESS_OK {
            return Ok(text);
        }
        let message = String::from_utf8_lossy(&text).trim().to_owned();
        Err(failed(if message.is_empty() {
            format!("it gave status {status}, and no reason")
        } else {
            message
        }))
    }
}

impl State {
    /// Runs a tool; returns when the plugin does.
    pub(crate) fn call(&self, tool: &str, input: &str, lent: &Lent) -> Result<Vec<u8>> {
        let call = HarnessCall {
            size: size_of::<HarnessCall>(),
            tool: HarnessSlice::lend(tool),
            input: HarnessSlice::lend(input),
            ..lent.functions()
        };
        let mut buffer = HarnessBuffer::EMPTY;
        // SAFETY: `init` gave the state, and the rest is there for the call.
        let status = unsafe { (self.library.call)(self.pointer, &raw const call, &raw mut buffer) };
        self.library.take(status, buffer, "call")
    }

    /// Ends it; no call may run.
    pub(crate) fn shutdown(&self) {
        // SAFETY: it is called once, after all calls.
        unsafe { (self.library.shutdown)(self.pointer) };
    }
}

/// A symbol of the plugin as what it has to be: a pointer or a function.
fn symbol<T: Copy>(object: &Object, path: &Path, name: &'static CStr) -> Result<T> {
    // SAFETY: both users of this function ask for what harness_plugin.h says of the name.
    let found = unsafe { object.get::<T>(name.to_bytes_with_nul()) };
    let missing = || Error::NoPlugin {
        path: path.to_owned(),
        symbol: name.to_str().unwrap_or_default(),
    };
    let found = found.map_err(|_| missing())?;
    if found.clone().into_raw().is_null() {
        return Err(missing());
    }
    Ok(*found)
}
