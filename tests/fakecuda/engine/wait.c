/* SPDX-License-Identifier: MIT
 *
 * wait.c - synchronisation, and host functions: a thread that begins with the first of them calls each when its stream
 * reaches it, as the driver's does. A synchronisation returns only after those that it covers have returned.
 */
#include "machine.h"

enum { PENDING_MAX = 4096 };
struct pending {
    void (*function)(void *);
    void *argument;
    uint64_t at_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct pending pending[PENDING_MAX];
static int n_pending;
static uint64_t running_ns; /* when the one that runs was due; 0: none */
static __thread bool is_host_thread;

static int first_pending(void)
{
    int first = -1;
    for (int i = 0; i < n_pending; i++)
        if (first < 0 || pending[i].at_ns < pending[first].at_ns)
            first = i;
    return first;
}

static void *run_host_functions(void *unused)
{
    is_host_thread = true;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!n_pending)
            pthread_cond_wait(&changed, &lock);
        const int at = first_pending();
        const struct pending next = pending[at];
        for (int i = at; i + 1 < n_pending; i++) /* two that are due together keep their order */
            pending[i] = pending[i + 1];
        n_pending--;
        running_ns = next.at_ns;
        pthread_mutex_unlock(&lock);
        fg_wait_until(next.at_ns);
        next.function(next.argument);
        pthread_mutex_lock(&lock);
        running_ns = 0;
        pthread_cond_broadcast(&changed);
    }
    return unused;
}

void fg_queue_host_function(const struct fg_op *op, uint64_t at_ns)
{
    static bool has_thread;
    pthread_mutex_lock(&lock);
    if (!has_thread) {
        pthread_t thread;
        has_thread = !pthread_create(&thread, NULL, run_host_functions, NULL);
        if (has_thread)
            pthread_detach(thread);
    }
    while (n_pending == PENDING_MAX)
        pthread_cond_wait(&changed, &lock);
    pending[n_pending++] = (struct pending){op->host_function, op->host_argument, at_ns};
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void fg_run_host_functions_until(uint64_t ns)
{
    if (is_host_thread)
        return;
    pthread_mutex_lock(&lock);
    for (;;) {
        const int first = first_pending();
        if ((first < 0 || pending[first].at_ns > ns) && (!running_ns || running_ns > ns))
            break;
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

void fg_synchronize(struct fg_call *call, enum fg_wait type, int64_t stream_id, int64_t event_id, uint64_t until_ns)
{
    const uint64_t start = fg_stamp(), start_ns = fg_now_ns();
    if (type != FG_WAIT_STREAM_EVENT) {
        fg_wait_until(until_ns);
        fg_run_host_functions_until(until_ns);
    }
    fg_record_wait(call, type, stream_id, event_id, start, FG_OK);
    if (fg_has_witness())
        fg_witness("{\"what\":\"wait\",\"type\":%d,\"stream\":%lld,\"event\":%lld,\"tid\":%d,\"correlation\":%u,"
                   "\"start_ns\":%llu,\"end_ns\":%llu}",
                   (int)type, (long long)stream_id, (long long)event_id, fg_thread(), call->correlation,
                   (unsigned long long)start_ns, (unsigned long long)fg_now_ns());
}

void fg_not_ready(struct fg_call *call, enum fg_wait type, int64_t stream_id, int64_t event_id)
{
    fg_record_wait(call, type, stream_id, event_id, fg_stamp(), FG_NOT_READY);
}
