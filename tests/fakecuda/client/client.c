/* SPDX-License-Identifier: MIT
 *
 * client.c - a toy profiler for the tests of the doubles: injected as libcuda injects one, it asks CUPTI for records
 * and writes each with all its fields as a JSON line into CLIENT_OUT.<pid>.jsonl.
 *
 *     CLIENT_CUPTI      soname of libcupti to load
 *     CLIENT_KINDS      numbers of the kinds to enable (all that we know)
 *     CLIENT_CALLS      runtime calls to enable one by one
 *     CLIENT_BUFFER     bytes of a buffer (65536)
 *     CLIENT_FLUSH_MS   flush from a thread of its own so often
 *     CLIENT_RAW        prefix: raw buffers go to PREFIX.<pid>.bin, for a replay
 *     CLIENT_OPTIONS    words: null_buffer cuda_in_complete cupti_in_request no_exit_flush plain_flush callbacks
 *                       reregister realtime fast_clock zeroed dirty thread_default v2 external finalize no_unready
 */
#define _GNU_SOURCE
#include "raw.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum layout {
#define RECORD(record, newest) LAYOUT_##record,
#define STRUCT(record, type, since, bytes)
#define FIELD(record, type, since, field, path, offset, bytes)
#include "layouts.def"
#undef RECORD
#undef STRUCT
#undef FIELD
};
static const struct field {
    enum layout layout;
    uint32_t since;
    const char *name;
    uint32_t offset, bytes;
} fields[] = {
#define RECORD(record, newest)
#define STRUCT(record, type, since, bytes)
#define FIELD(record, type, since, field, path, offset, bytes) {LAYOUT_##record, since, #field, offset, bytes},
#include "layouts.def"
#undef RECORD
#undef STRUCT
#undef FIELD
};
static const struct {
    uint32_t kind;
    enum layout layout;
    const char *name;
} kinds[] = {
    {1, LAYOUT_MEMCPY, "copy"},
    {2, LAYOUT_MEMSET, "set"},
    {4, LAYOUT_API, "driver"},
    {5, LAYOUT_API, "runtime"},
    {8, LAYOUT_DEVICE, "device"},
    {9, LAYOUT_CONTEXT, "context"},
    {10, LAYOUT_KERNEL, "kernel"},
    {17, LAYOUT_OVERHEAD, "overhead"},
    {22, LAYOUT_MEMCPY_PTOP, "peer_copy"},
    {36, LAYOUT_CUDA_EVENT, "event"},
    {37, LAYOUT_STREAM, "stream"},
    {38, LAYOUT_SYNCHRONIZATION, "wait"},
    {39, LAYOUT_EXTERNAL_CORRELATION, "external"},
    {49, LAYOUT_MEMORY, "memory"},
    {50, LAYOUT_MEMORY_POOL, "pool"},
    {51, LAYOUT_GRAPH_TRACE, "graph"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, N_FIELDS = sizeof fields / sizeof *fields };

static void *cupti;
static uint32_t version;
static FILE *out;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t buffer_bytes = 65536;

/* Any function of CUPTI; what it lacks answers -1. */
static int nothing(void)
{
    return -1;
}
static int (*function(const char *name))()
{
    int (*found)() = (int (*)())dlsym(cupti, name);
    return found ? found : (int (*)())nothing;
}

static bool has_option(const char *word)
{
    const char *options = getenv("CLIENT_OPTIONS"), *at = options;
    const size_t n = strlen(word);
    while (at && (at = strstr(at, word))) {
        if ((at == options || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
        at += n;
    }
    return false;
}

static uint64_t monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A clock that does not count nanoseconds, as the TSC does not. */
static uint64_t fast_clock(void)
{
    return 3 * monotonic();
}

static void write_text(const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\' || *c < 0x20 || *c > 0x7e)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void write_record(const uint8_t *record)
{
    uint32_t kind;
    int row = -1;
    memcpy(&kind, record, sizeof kind);
    for (int i = 0; i < N_KINDS; i++)
        if (kinds[i].kind == kind)
            row = i;
    fprintf(out, "{\"record\":\"%s\",\"kind\":%u", row < 0 ? "unknown" : kinds[row].name, kind);
    for (int i = 0; row >= 0 && i < N_FIELDS; i++) {
        uint64_t value = 0;
        if (fields[i].layout != kinds[row].layout || fields[i].since > version)
            continue;
        memcpy(&value, record + fields[i].offset, fields[i].bytes);
        fprintf(out, ",\"%s\":", fields[i].name);
        if (!strcmp(fields[i].name, "name") && value)
            write_text((const char *)(uintptr_t)value);
        else if (!strcmp(fields[i].name, "name"))
            fputs("null", out);
        else
            fprintf(out, "%llu", (unsigned long long)value);
    }
    fputs("}\n", out);
    if (kind == 8) {
        char *name;
        memcpy(&name, record + 136, sizeof name);
        free(name);
    }
}

static void take_record(const uint8_t *record, const uint8_t *end)
{
    raw_record(record, end);
    write_record(record);
}

static void request(uint8_t **data, size_t *bytes, size_t *max_records)
{
    *max_records = 0;
    *bytes = buffer_bytes;
    *data = has_option("null_buffer") ? NULL : aligned_alloc(8, buffer_bytes);
    if (*data)
        memset(*data, has_option("dirty") ? 1 : 0, buffer_bytes);
    if (has_option("cupti_in_request"))
        function("cuptiActivityFlushAll")(0u);
}

static void complete(void *context, uint32_t stream, uint8_t *data, size_t bytes, size_t valid)
{
    uint8_t *record = NULL, *next = NULL;
    int result;
    (void)context, (void)stream, (void)bytes;
    if (has_option("cuda_in_complete"))
        ((int (*)(void))dlsym(RTLD_DEFAULT, "cudaDeviceSynchronize"))();
    pthread_mutex_lock(&out_lock);
    raw_buffer(data, valid);
    while (!(result = function("cuptiActivityGetNextRecord")(data, valid, &next))) {
        if (record)
            take_record(record, next);
        record = next;
    }
    if (record)
        take_record(record, data + valid);
    fprintf(out, "{\"record\":\"buffer\",\"bytes\":%zu,\"end\":%d}\n", valid, result);
    pthread_mutex_unlock(&out_lock);
    free(data);
}

/* The head of CUpti_CallbackData. */
struct callback_data {
    uint32_t site;
    const char *name;
    const void *parameters;
    int *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *correlation_data;
    uint32_t correlation;
};

static void call_back(void *user, uint32_t domain, uint32_t cbid, const struct callback_data *data)
{
    (void)user;
    if (domain > 2)
        return;
    const char *name = "?";
    function("cuptiGetCallbackName")(domain, cbid, &name);
    if (data->site == 0)
        *data->correlation_data = cbid;
    pthread_mutex_lock(&out_lock);
    fprintf(out,
            "{\"record\":\"callback\",\"site\":%u,\"domain\":%u,\"cbid\":%u,\"name\":\"%s\",\"full_name\":\"%s\","
            "\"correlation\":%u,\"result\":%d,\"kept\":%d}\n",
            data->site, domain, cbid, data->name, name, data->correlation, data->result ? *data->result : 0,
            *data->correlation_data == cbid);
    pthread_mutex_unlock(&out_lock);
    if (data->site == 1 && has_option("finalize") && !strcmp(data->name, "cudaDeviceSynchronize"))
        function("cuptiFinalize")();
}

static void *flush_often(void *ms)
{
    const long ns = (long)(intptr_t)ms * 1000000;
    for (;;) {
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
        function("cuptiActivityFlushAll")(0u);
    }
    return NULL;
}

static void finish(void)
{
    size_t dropped = 0;
    int flushed = 0;
    if (!has_option("no_exit_flush"))
        flushed = function("cuptiActivityFlushAll")(has_option("plain_flush") ? 0u : 1u);
    const int result = function("cuptiActivityGetNumDroppedRecords")(NULL, 0u, &dropped);
    pthread_mutex_lock(&out_lock);
    fprintf(out, "{\"record\":\"end\",\"dropped\":%zu,\"result\":%d,\"flushed\":%d}\n", dropped, result, flushed);
    fflush(out);
    raw_close();
    pthread_mutex_unlock(&out_lock);
}

static void report(const char *what, int result)
{
    fprintf(out, "{\"record\":\"result\",\"of\":\"%s\",\"result\":%d}\n", what, result);
}

static void enable(void)
{
    char *list = getenv("CLIENT_KINDS") ? strdup(getenv("CLIENT_KINDS")) : NULL, *rest = NULL, what[64];
    for (int i = 0; !list && i < N_KINDS; i++) {
        if (kinds[i].kind == 51) /* one record for a whole graph would take the place of its nodes */
            continue;
        snprintf(what, sizeof what, "enable %u", kinds[i].kind);
        report(what, function("cuptiActivityEnable")(kinds[i].kind));
    }
    for (char *word = list ? strtok_r(list, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
        snprintf(what, sizeof what, "enable %s", word);
        report(what, function("cuptiActivityEnable")((uint32_t)atoi(word)));
    }
    free(list);
    list = getenv("CLIENT_CALLS") ? strdup(getenv("CLIENT_CALLS")) : NULL;
    for (char *word = list ? strtok_r(list, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest))
        report("call", function("cuptiActivityEnableRuntimeApi")((uint32_t)abs(atoi(word)), (int)(atoi(word) > 0)));
    free(list);
}

static void subscribe(void)
{
    struct {
        size_t bytes;
        const char *name;
        char *old;
        size_t old_bytes;
    } params = {32, "client", (char[64]){""}, 64};
    void *subscriber = NULL;
    int result = has_option("v2") ? function("cuptiSubscribe_v2")(&subscriber, call_back, NULL, &params)
                                  : function("cuptiSubscribe")(&subscriber, call_back, NULL);
    report("subscribe", result);
    if (result == 39 && has_option("v2"))
        fprintf(out, "{\"record\":\"old\",\"name\":\"%s\"}\n", params.old);
    if (!result && (has_option("callbacks") || has_option("finalize")))
        report("domain", function("cuptiEnableDomain")(1u, subscriber, 2u));
}

/* What a client may ask of CUPTI before the first record. */
static void set_attributes(void)
{
    uint8_t one = 1;
    size_t one_bytes = 1;
    if (has_option("zeroed") || has_option("dirty"))
        report("zeroed", function("cuptiActivitySetAttribute")(5u, &one_bytes, &one));
    if (!has_option("realtime"))
        report("clock",
               function("cuptiActivityRegisterTimestampCallback")(has_option("fast_clock") ? fast_clock : monotonic));
    if (has_option("reregister"))
        report("clock", function("cuptiActivityRegisterTimestampCallback")(monotonic));
    if (!has_option("thread_default"))
        report("thread ids", function("cuptiSetThreadIdType")(1u));
    if (has_option("no_unready"))
        report("unready", function("cuptiActivityEnableAllSyncRecords")(0u));
}

int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjection(void)
{
    char path[4096];
    const char *soname = getenv("CLIENT_CUPTI");
    snprintf(path, sizeof path, "%s.%d.jsonl", getenv("CLIENT_OUT") ? getenv("CLIENT_OUT") : "/tmp/client", getpid());
    out = fopen(path, "we");
    raw_open();
    cupti = dlopen(soname ? soname : "libcupti.so.13", RTLD_LAZY | RTLD_LOCAL);
    if (!out || !cupti) {
        fprintf(stderr, "client: %s\n", out ? dlerror() : path);
        return 1;
    }
    if (getenv("CLIENT_BUFFER"))
        buffer_bytes = (size_t)atol(getenv("CLIENT_BUFFER"));
    function("cuptiGetVersion")(&version);
    fprintf(out, "{\"record\":\"version\",\"version\":%u}\n", version);
    subscribe();
    set_attributes();
    report("buffers", function("cuptiActivityRegisterCallbacks")(request, complete));
    enable();
    if (has_option("external"))
        report("external", function("cuptiActivityPushExternalCorrelationId")(3u, (uint64_t)4242));
    if (getenv("CLIENT_FLUSH_MS")) {
        pthread_t thread;
        pthread_create(&thread, NULL, flush_often, (void *)(intptr_t)atol(getenv("CLIENT_FLUSH_MS")));
    }
    fflush(out);
    atexit(finish);
    return 1;
}
