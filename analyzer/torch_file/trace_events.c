/* SPDX-License-Identifier: MIT
 *
 * trace_events.c - finds where each event begins and ends, and gives its text to cJSON: the whole document would not
 * fit into memory.
 */
#include "trace_events.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cjson/cJSON.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/mem.h"

enum {
    BUFFER = 256 << 10,
    MOST_EVENT_BYTES = 1 << 20, /* a longer one is none */
    KEY_BYTES = sizeof "\"traceEvents\"" - 1,
};
/* Of a bomb: what a trace of a day cannot have. */
#define MOST_BYTES (16ull << 30)
#define LARGEST 9e15 /* whole numbers are exact below that */

struct pt_torch_events {
    gzFile file;
    char *bytes; /* [at, end) is what was read and not used */
    size_t at, end, room;
    pt_u64 read_bytes;
    bool is_over, is_cut;
    cJSON *event; /* the last one: its name is in use */
};

/* More bytes behind those there are; false: there are none. */
static bool fill(struct pt_torch_events *events)
{
    if (events->at) {
        memmove(events->bytes, events->bytes + events->at, events->end - events->at);
        events->end -= events->at;
        events->at = 0;
    }
    if (events->end == events->room) {
        if (events->room >= 2 * MOST_EVENT_BYTES)
            return false;
        events->room *= 2;
        events->bytes = pt_realloc(events->bytes, events->room);
    }
    if (events->read_bytes > MOST_BYTES)
        return false;
    const int n = gzread(events->file, events->bytes + events->end, (unsigned)(events->room - events->end));
    if (n <= 0)
        return false;
    events->end += (size_t)n;
    events->read_bytes += (pt_u64)n;
    return true;
}

/* The next byte without taking it; -1 = the end. */
static int peek(struct pt_torch_events *events)
{
    if (events->at == events->end && !fill(events))
        return -1;
    return (unsigned char)events->bytes[events->at];
}

static bool is_space(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* To the '[' of the events: of "traceEvents", or of a file that is a list of them. */
static bool find_list(struct pt_torch_events *events)
{
    int byte;
    while (is_space(byte = peek(events)))
        events->at++;
    if (byte == '[') {
        events->at++;
        return true;
    }
    for (;;) {
        char *found = events->end - events->at < KEY_BYTES
                          ? NULL
                          : memmem(events->bytes + events->at, events->end - events->at, "\"traceEvents\"", KEY_BYTES);
        if (found) {
            events->at = (size_t)(found - events->bytes) + KEY_BYTES;
            while ((byte = peek(events)) == ':' || is_space(byte))
                events->at++;
            events->at += byte == '[';
            return byte == '[';
        }
        if (events->end - events->at >= KEY_BYTES)
            events->at = events->end - KEY_BYTES + 1;
        if (!fill(events))
            return false;
    }
}

/* Past the object that begins at `at`, in one piece; 0 = it is cut off, or too long. */
static size_t object_bytes(struct pt_torch_events *events)
{
    size_t n = 0;
    int depth = 0;
    bool is_text = false, is_escaped = false;
    for (;; n++) {
        if (n > MOST_EVENT_BYTES)
            return 0;
        if (events->at + n == events->end && !fill(events))
            return 0;
        const char byte = events->bytes[events->at + n];
        if (is_text) {
            is_text = is_escaped || byte != '"';
            is_escaped = !is_escaped && byte == '\\';
        } else if (byte == '"') {
            is_text = true;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if ((byte == '}' || byte == ']') && --depth == 0) {
            return n + 1;
        }
    }
}

/* ---- what an event says ---- */

static double number_of(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) && fabs(item->valuedouble) < LARGEST ? item->valuedouble
                                                                                                    : otherwise;
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* Builds without Kineto have no categories, and words where others have the number of the process. */
static bool kind_of(const cJSON *object, enum pt_torch_kind *ret_kind)
{
    static const struct {
        const char *text;
        enum pt_torch_kind kind;
    } kinds[] = {
        {"cpu_op", PT_TORCH_OPERATOR},       {"user_annotation", PT_TORCH_RANGE}, {"kernel", PT_TORCH_KERNEL},
        {"gpu_memcpy", PT_TORCH_KERNEL},     {"gpu_memset", PT_TORCH_KERNEL},     {"cuda_runtime", PT_TORCH_CALL},
        {"cuda_driver", PT_TORCH_CALL},      {"Operator", PT_TORCH_OPERATOR},     {"CPU functions", PT_TORCH_OPERATOR},
        {"CUDA functions", PT_TORCH_KERNEL},
    };
    const char *category = text_of(object, "cat");
    const char *text = *category ? category : text_of(object, "pid");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(text, kinds[i].text)) {
            *ret_kind = kinds[i].kind;
            return true;
        }
    return false;
}

static void read_dims(const cJSON *list, double *dims, pt_u32 most, pt_u32 *ret_n)
{
    const cJSON *item;
    *ret_n = 0;
    if (!cJSON_IsArray(list))
        return;
    cJSON_ArrayForEach(item, list)
    {
        if (*ret_n == most || !cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble < LARGEST)) {
            *ret_n = 0;
            return;
        }
        dims[(*ret_n)++] = item->valuedouble;
    }
}

static void read_shapes(const cJSON *args, struct pt_torch_shapes *shapes)
{
    const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(args, "Input Dims"), *item;
    if (!cJSON_IsArray(inputs))
        inputs = cJSON_GetObjectItemCaseSensitive(args, "Input dims");
    if (!cJSON_IsArray(inputs))
        return;
    char *text = cJSON_PrintUnformatted(inputs);
    if (text) {
        const size_t n = strlen(text), most = sizeof shapes->text - 1;
        memcpy(shapes->text, text, n < most ? n : most);
        if (n > most)
            memcpy(shapes->text + most - 3, "...", 3);
        cJSON_free(text);
    }
    cJSON_ArrayForEach(item, inputs)
    {
        if (shapes->n == PT_TORCH_INPUTS)
            break;
        read_dims(item, shapes->dims[shapes->n], PT_TORCH_DIMENSIONS, &shapes->n_dims[shapes->n]);
        shapes->n++;
    }
}

/* "[1, 1]" or "[1]", which then counts for both. */
static void read_pair(const cJSON *item, double pair[2])
{
    const char *at = cJSON_IsString(item) ? item->valuestring : "";
    char *behind;
    if (*at != '[')
        return;
    for (int i = 0; i < 2; i++) {
        const double value = strtod(++at, &behind);
        if (behind == at || !(value >= 0 && value < LARGEST))
            return;
        pair[i] = value;
        if (i == 0)
            pair[1] = value;
        at = behind;
        if (*at != ',')
            return;
    }
}

/* Of aten::conv2d(input, weight, bias, stride, padding, dilation, groups). */
static void read_convolution(const cJSON *args, struct pt_torch_event *event)
{
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(args, "Concrete Inputs");
    const cJSON *groups = cJSON_GetArrayItem(values, 6);
    if (!cJSON_IsArray(values) || !cJSON_IsString(groups))
        return;
    read_pair(cJSON_GetArrayItem(values, 3), event->stride);
    read_pair(cJSON_GetArrayItem(values, 4), event->padding);
    read_pair(cJSON_GetArrayItem(values, 5), event->dilation);
    event->groups = strtod(groups->valuestring, NULL);
    if (!(event->groups >= 1 && event->groups < LARGEST))
        event->groups = 0;
}

/* Of aten::convolution_backward(gradient, input, weight, bias sizes, stride, padding, dilation, transposed, output
 * padding, groups, which gradients). */
static void read_convolution_backward(const cJSON *args, struct pt_torch_event *event)
{
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(args, "Concrete Inputs");
    const char *transposed = cJSON_GetStringValue(cJSON_GetArrayItem(values, 7));
    const char *which = cJSON_GetStringValue(cJSON_GetArrayItem(values, 10));
    if (!cJSON_IsArray(values) || !transposed || !which || strncmp(which, "[", 1) != 0)
        return;
    const char *second = strchr(which, ',');
    event->is_transposed = !strcmp(transposed, "True");
    event->gradients = !strncmp(which + 1, "True", 4) + (second && !strncmp(second, ", True", 6));
}

static bool read_event(const cJSON *object, struct pt_torch_event *event)
{
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(object, "args");
    const double thread = number_of(object, "tid", 0);
    *event = (struct pt_torch_event){
        .name = text_of(object, "name"),
        .start_us = number_of(object, "ts", NAN),
        .took_us = number_of(object, "dur", -1),
        .thread = thread > 0 ? (pt_u64)thread : 0,
        .held_bytes = -1,
        .stride = {1, 1},
        .dilation = {1, 1},
    };
    if (!isfinite(event->start_us))
        return false;
    if (!strcmp(event->name, "[memory]")) {
        event->kind = PT_TORCH_MEMORY;
        event->took_us = 0;
        event->bytes = number_of(args, "Bytes", 0);
        event->held_bytes = number_of(args, "Total Allocated", -1);
        event->is_of_cpu = number_of(args, "Device Type", 0) == 0;
        return true;
    }
    if (strcmp(text_of(object, "ph"), "X") != 0 || !(event->took_us >= 0) || !kind_of(object, &event->kind))
        return false;
    if (event->kind == PT_TORCH_OPERATOR) {
        read_shapes(args, &event->shapes);
        if (!strcmp(event->name, "aten::conv2d"))
            read_convolution(args, event);
        if (!strcmp(event->name, "aten::convolution_backward"))
            read_convolution_backward(args, event);
    }
    return true;
}

bool pt_torch_events_next(struct pt_torch_events *events, struct pt_torch_event *ret_event)
{
    while (!events->is_over) {
        const int byte = peek(events);
        if (is_space(byte) || byte == ',') {
            events->at++;
            continue;
        }
        const size_t n = byte == '{' ? object_bytes(events) : 0;
        if (!n) {
            events->is_over = true;
            events->is_cut = byte != ']';
            break;
        }
        cJSON_Delete(events->event);
        events->event = cJSON_ParseWithLength(events->bytes + events->at, n);
        events->at += n;
        if (events->event && read_event(events->event, ret_event))
            return true;
    }
    return false;
}

bool pt_torch_events_are_cut(const struct pt_torch_events *events)
{
    return events->is_cut;
}

struct pt_torch_events *pt_torch_events_open(int directory, const char *name, struct pt_error *err)
{
    struct stat st;
    /* Not a link: whoever could make one decides what we read. NONBLOCK: of a pipe the open would wait. */
    int fd = pt_fd_above_standard(openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        pt_fail_code(err, 3, "%s: %s", name, fd < 0 ? strerror(errno) : "this is no regular file");
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct pt_torch_events *events = pt_calloc(1, sizeof *events);
    events->file = gzdopen(fd, "rb");
    if (!events->file)
        close(fd);
    events->room = BUFFER;
    events->bytes = pt_malloc(events->room);
    if (!events->file || !find_list(events)) {
        pt_fail_code(err, 3, "%s: this is no trace of torch.profiler: it has no traceEvents", name);
        pt_torch_events_close(events);
        return NULL;
    }
    return events;
}

void pt_torch_events_close(struct pt_torch_events *events)
{
    cJSON_Delete(events->event);
    if (events->file)
        gzclose_r(events->file);
    free(events->bytes);
    free(events);
}
