/* SPDX-License-Identifier: MIT
 *
 * call.c - what every call of the runtime and the driver has in common: the first one initialises the machine and loads
 * the injected library as libcuda does; a forked child of an initialised process gets nothing but an error; planned
 * errors; the subscriber's callbacks, the API record and the witness.
 */
#include "machine.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TABLES_MAX = 8 };

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER, tables_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic pid_t started_pid; /* who called cuInit; a forked child keeps its parent's */
static atomic_bool is_exiting;
static atomic_uint correlations;
static struct {
    const struct fg_api *apis;
    size_t n;
} tables[TABLES_MAX];
static int n_tables;
static atomic_int runtime_version = 13000;

static __thread int depth; /* calls on this thread's stack, or an injection in progress */
static __thread int last_error;
static __thread int thread_id;
static __thread pid_t thread_pid;

int fg_thread(void)
{
    const pid_t pid = (pid_t)syscall(SYS_getpid);
    if (thread_pid != pid) {
        thread_pid = pid;
        thread_id = (int)syscall(SYS_gettid);
    }
    return thread_id;
}

void fg_add_apis(const struct fg_api *apis, size_t n)
{
    pthread_mutex_lock(&tables_lock);
    if (n_tables < TABLES_MAX) {
        tables[n_tables].apis = apis;
        tables[n_tables++].n = n;
    }
    pthread_mutex_unlock(&tables_lock);
}

const struct fg_api *fg_find_api(enum fg_domain domain, uint32_t cbid)
{
    for (int t = 0; t < n_tables; t++)
        for (size_t i = 0; i < tables[t].n; i++)
            if (tables[t].apis[i].cbid == cbid && tables[t].apis[i].domain == domain)
                return &tables[t].apis[i];
    return NULL;
}

void fg_set_runtime(int version, const char *soname)
{
    runtime_version = version;
    fg_witness("{\"what\":\"library\",\"pid\":%d,\"name\":\"%s\",\"version\":%d}", (int)getpid(), soname, version);
}

int fg_runtime_version(void)
{
    return runtime_version;
}

int fg_last_error(bool take)
{
    const int error = last_error;
    if (take)
        last_error = 0;
    return error;
}

static void leave_process(void)
{
    is_exiting = true;
}

static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path || !strcmp(path, "none"))
        return;
    void *library = dlopen(path, RTLD_LAZY);
    if (!library)
        return; /* the driver says nothing either */
    int (*initialize)(void);
    *(void **)&initialize = dlsym(library, "InitializeInjection");
    fg_witness("{\"what\":\"injection\",\"pid\":%d,\"found\":%s}", (int)getpid(), initialize ? "true" : "false");
    if (initialize)
        initialize();
}

static void start(void)
{
    const struct fg_program *program = fg_program();
    char name[256];
    correlations = (uint32_t)program->first_correlation - 1;
    fg_witness("{\"what\":\"process\",\"pid\":%d,\"ppid\":%d,\"now_ns\":%llu,\"cupti_version\":%u}", (int)getpid(),
               (int)getppid(), (unsigned long long)fg_now_ns(), fg_cupti_version());
    for (int i = 0; i < program->n_devices; i++)
        fg_witness("{\"what\":\"device\",\"device\":%d,\"name\":%s}", i,
                   fg_json_text(program->device_names[i], name, sizeof name));
    fg_busy(program->init_ns);
    if (!program->fault[FG_FAULT_late_atexit])
        atexit(leave_process);
    inject();
    if (program->fault[FG_FAULT_late_atexit])
        atexit(leave_process);
}

/* 0 or the error that the state of the process gives to every call. */
static int state_error(enum fg_domain domain)
{
    const struct fg_program *program = fg_program();
    if (program->fault[FG_FAULT_no_driver])
        return domain == FG_DRIVER_API ? 100 : FG_INSUFFICIENT_DRIVER;
    if (is_exiting)
        return FG_UNLOADING;
    const pid_t pid = (pid_t)syscall(SYS_getpid);
    if (started_pid && started_pid != pid)
        return FG_NOT_INITIALIZED;
    if (!started_pid) { /* the others wait, injection and all, as in cuInit */
        pthread_mutex_lock(&start_lock);
        if (!started_pid) {
            depth++;
            start();
            depth--;
            started_pid = pid;
        }
        pthread_mutex_unlock(&start_lock);
    }
    return (int)program->fault[FG_FAULT_init_result];
}

bool fg_is_exiting(void)
{
    return is_exiting;
}

bool fg_is_forked_child(void)
{
    return started_pid && started_pid != (pid_t)syscall(SYS_getpid);
}

int fg_enter(struct fg_call *call, const struct fg_api *api)
{
    *call = (struct fg_call){.api = api, .is_quiet = depth > 0};
    fg_refuse_in_buffer_callback(api->name);
    const int error = depth ? 0 : state_error(api->domain);
    depth++;
    if (error || call->is_quiet)
        return error;
    call->correlation = ++correlations;
    call->is_called_back = fg_call_back(call, false);
    call->start_ns = fg_now_ns();
    if (fg_wants_call(api)) {
        call->start_stamp = fg_stamp();
        fg_busy(fg_program()->instrument_ns);
    }
    return fg_planned_error(api->name);
}

int fg_leave(struct fg_call *call, int result)
{
    call->result = result;
    if (result && result != FG_NOT_READY)
        last_error = result;
    if (!call->start_ns) { /* quiet, or refused before it began */
        depth--;
        return result;
    }
    const bool is_recorded = call->start_stamp && fg_wants_call(call->api);
    const uint64_t end_stamp = is_recorded ? fg_stamp() : 0, end_ns = fg_now_ns();
    if (is_recorded)
        fg_record_call(call, end_stamp);
    if (call->is_called_back)
        fg_call_back(call, true);
    if (fg_has_witness())
        fg_witness("{\"what\":\"api\",\"domain\":%d,\"name\":\"%s\",\"cbid\":%u,\"tid\":%d,\"correlation\":%u,\"start_"
                   "ns\":%llu,"
                   "\"end_ns\":%llu,\"result\":%d}",
                   (int)call->api->domain, call->api->name, call->api->cbid, fg_thread(), call->correlation,
                   (unsigned long long)call->start_ns, (unsigned long long)end_ns, result);
    depth--;
    return result;
}
