/* A plugin with one tool in C: how full a file system is.
 *
 * JSON comes in and goes out as text. This one needs a single string of its input, and reads it by hand;
 * one with more of it links a JSON library.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "harness_plugin.h"

static const char DESCRIPTION[] =
    "{\"name\": \"disk-usage\", \"version\": \"1.0.0\", \"tools\": [{"
    "  \"name\": \"disk_usage\","
    "  \"description\": \"Says how full the file system is that a path is on.\","
    "  \"inputSchema\": {\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"path\"],"
    "    \"properties\": {\"path\": {\"type\": \"string\", \"pattern\": \"^/[A-Za-z0-9 ._/-]*$\","
    "      \"description\": \"An absolute path, of plain characters.\"}}},"
    "  \"outputSchema\": {\"type\": \"object\", \"required\": [\"total_bytes\", \"available_bytes\"],"
    "    \"properties\": {\"total_bytes\": {\"type\": \"integer\"}, \"available_bytes\": {\"type\": \"integer\"}}},"
    "  \"annotations\": {\"readOnlyHint\": true, \"openWorldHint\": false}}]}";

/* Hands a text over; the host gives it back to release(). */
static HarnessStatus give(HarnessBuffer *buffer, HarnessStatus status, const char *text) {
  buffer->data = (uint8_t *)strdup(text);
  buffer->length = buffer->data ? strlen(text) : 0;
  return buffer->data ? status : HARNESS_FAILED;
}

static HarnessStatus describe(HarnessBuffer *description) { return give(description, HARNESS_OK, DESCRIPTION); }

static HarnessStatus init(const HarnessInit *init, void **state, HarnessBuffer *error) {
  (void)init, (void)error;
  *state = NULL;
  return HARNESS_OK;
}

/* The value of "path". Its schema has let neither quotes nor escapes through. */
static int read_path(HarnessSlice input, char *path, size_t size) {
  static const char KEY[] = "\"path\":\"";
  const char *start = memmem(input.data, input.length, KEY, sizeof KEY - 1);
  if (!start) return -1;
  start += sizeof KEY - 1;
  size_t left = input.length - (size_t)(start - (const char *)input.data);
  const char *end = memchr(start, '"', left);
  if (!end || (size_t)(end - start) >= size) return -1;
  memcpy(path, start, (size_t)(end - start));
  path[end - start] = '\0';
  return 0;
}

static HarnessStatus call(void *state, const HarnessCall *call, HarnessBuffer *result) {
  (void)state;
  char path[4096], text[512];
  struct statvfs disk;
  if (read_path(call->input, path, sizeof path) < 0) return give(result, HARNESS_FAILED, "the path is too long");
  if (statvfs(path, &disk) < 0)
    return give(result, HARNESS_OK,
                "{\"content\": [{\"type\": \"text\", \"text\": \"nothing is at this path\"}], \"isError\": true}");
  unsigned long long total = (unsigned long long)disk.f_blocks * disk.f_frsize;
  unsigned long long available = (unsigned long long)disk.f_bavail * disk.f_frsize;
  snprintf(text, sizeof text,
           "{\"content\": [{\"type\": \"text\", \"text\": \"%llu of %llu MiB are available\"}],"
           " \"structuredContent\": {\"total_bytes\": %llu, \"available_bytes\": %llu}}",
           available >> 20, total >> 20, total, available);
  return give(result, HARNESS_OK, text);
}

static void release(HarnessBuffer buffer) { free(buffer.data); }

static void end(void *state) { (void)state; }

const uint32_t harness_plugin_abi_version = HARNESS_PLUGIN_ABI_VERSION;

const HarnessPlugin *harness_plugin(void) {
  static const HarnessPlugin PLUGIN = {sizeof PLUGIN, describe, init, call, release, end};
  return &PLUGIN;
}
