/* The C interface between harness-plugin-host and a plugin.
 *
 * Generated from plugins/abi by its tests: do not edit.
 *
 * A plugin is a shared object that exports what stands at the end of this file: a number that says which
 * version of this interface it was built for, and a function that gives its table. All text is UTF-8, and
 * what is called JSON is one JSON value.
 *
 * Who owns what: a HarnessSlice is lent for the length of the call that it is passed to. A HarnessBuffer that
 * a plugin fills stays the plugin's; the host copies it and gives it back to `free` once, on the same thread.
 *
 * Threads: `describe` and `init` are called once each and before all else, `shutdown` once and after all else,
 * `call` from many threads at once. No exception or panic may leave a function of this interface.
 */


#ifndef HARNESS_PLUGIN_H
#define HARNESS_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The version of this interface.
 */
#define HARNESS_PLUGIN_ABI_VERSION 1

/**
 * How a function of a plugin went.
 */
typedef int32_t HarnessStatus;

/**
 * Text that a plugin owns, given back to its `free`.
 */
typedef struct {
  /**
   * Its first byte; null for no text, which is not given back.
   */
  uint8_t *data;
  /**
   * Bytes.
   */
  size_t length;
} HarnessBuffer;

/**
 * Text that is lent: not NUL-terminated, valid for the length of the call it is passed to.
 */
typedef struct {
  /**
   * Its first byte; may be null when `length` is 0.
   */
  const uint8_t *data;
  /**
   * Bytes.
   */
  size_t length;
} HarnessSlice;

/**
 * What a plugin is told when it begins.
 */
typedef struct {
  /**
   * The size of this structure.
   */
  size_t size;
  /**
   * Its settings: a JSON object that its settings schema allows.
   */
  HarnessSlice settings;
} HarnessInit;

/**
 * One call of a tool.
 */
typedef struct {
  /**
   * The size of this structure.
   */
  size_t size;
  /**
   * The tool's name, one of those that `describe` gave.
   */
  HarnessSlice tool;
  /**
   * Its input: a JSON object that its input schema allows, without white space between its tokens.
   */
  HarnessSlice input;
  /**
   * To be handed to `progress` and `cancelled`, which may be called from any thread until this call returns.
   */
  void *context;
  /**
   * Says how far the call has come. `progress` has to rise; `total` is what it reaches, or NaN when that is
   * not known; `message` is a line for a person, or empty. Never blocks for long.
   */
  void (*progress)(void *context, double progress, double total, HarnessSlice message);
  /**
   * Whether nobody waits for this call any more. A call that takes long asks now and then, and returns.
   */
  bool (*cancelled)(void *context);
  /**
   * Gives a descriptor that becomes readable when nobody waits any more, for poll(2) beside others; -1 if
   * none can be had. It is the host's, to be neither read nor closed, and there until this call returns.
   */
  int32_t (*cancel_descriptor)(void *context);
} HarnessCall;

/**
 * The table of a plugin: constant, and there for as long as it is loaded. All functions have to be there.
 */
typedef struct {
  /**
   * The size of this structure.
   */
  size_t size;
  /**
   * Gives what the plugin is, as JSON: `{"name", "version", "tools": [{"name", "description", "inputSchema",
   * "outputSchema"?, "title"?, "annotations"?, "direct"?}], "instructions"?, "settingsSchema"?}`.
   */
  HarnessStatus (*describe)(HarnessBuffer *description);
  /**
   * Begins with these settings; what it writes to `state` is handed to `call` and `shutdown`. When it fails
   * there is no state, and `error` says why.
   */
  HarnessStatus (*init)(const HarnessInit *init, void **state, HarnessBuffer *error);
  /**
   * Runs a tool and gives an MCP `CallToolResult` as JSON: `{"content": [{"type": "text", "text"}],
   * "structuredContent"?, "isError"?}`.
   */
  HarnessStatus (*call)(void *state, const HarnessCall *call, HarnessBuffer *result);
  /**
   * Takes a buffer back.
   */
  void (*free)(HarnessBuffer buffer);
  /**
   * Ends. It is not called while a call runs; the process ends soon after, called or not.
   */
  void (*shutdown)(void *state);
} HarnessPlugin;

/**
 * The buffer holds the JSON that was asked for.
 */
#define HARNESS_OK 0

/**
 * The plugin itself has failed; the buffer may hold text that says why. A tool that ran and failed is no
 * such failure: it gives a result with `"isError": true`. Every other status but 0 means the same.
 */
#define HARNESS_FAILED 1

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Exported by the plugin: HARNESS_PLUGIN_ABI_VERSION. It is read before anything else is used.
 */
__attribute__((visibility("default"))) extern const uint32_t harness_plugin_abi_version;

/**
 * Exported by the plugin: gives its table.
 */
__attribute__((visibility("default"))) const HarnessPlugin *harness_plugin(void);

#ifdef __cplusplus
}
#endif

#endif  /* HARNESS_PLUGIN_H */
