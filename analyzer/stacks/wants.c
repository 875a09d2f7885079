/* SPDX-License-Identifier: MIT
 *
 * stacks/wants.c - Owns: functions of libraries that wait, and what for. Threads: any. State: none.
 */
#include "wants.h"

#include <string.h>

#include "util/text/path.h"
#include "places.h"

/* `file` is the end of a Python file's name; NULL = a native function. `function` is its beginning. */
static const struct {
    const char *file, *function, *wants;
} rows[] = {
    {"/queue.py", "get", "an item of a queue"},
    {"/queue.py", "put", "room in a queue"},
    {"/queue.py", "join", "all items of a queue to be done"},
    {"/threading.py", "join", "a thread to end"},
    {"/threading.py", "wait", "another thread to set an event, to notify a condition, or to come to a barrier"},
    {"/concurrent/futures/_base.py", "result", "the result of an executor"},
    {"/concurrent/futures/_base.py", "wait", "the results of an executor"},
    {"/concurrent/futures/thread.py", "_worker", "work (a thread of an executor)"},
    {"/concurrent/futures/thread.py", "shutdown", "the threads of an executor to end"},
    {"/multiprocessing/queues.py", "get", "an item of a queue from another process"},
    {"/multiprocessing/queues.py", "put", "room in a queue to another process"},
    {"/multiprocessing/queues.py", "_feed", "items for a queue to another process"},
    {"/multiprocessing/connection.py", "recv", "a message of another process"},
    {"/multiprocessing/connection.py", "send", "another process to take a message"},
    {"/multiprocessing/connection.py", "wait", "a message of other processes"},
    {"/multiprocessing/synchronize.py", "wait", "another process to set an event or to notify a condition"},
    {"/multiprocessing/process.py", "join", "a child to end"},
    {"/multiprocessing/pool.py", "get", "the result of a pool"},
    {"/subprocess.py", "wait", "a child to end"},
    {"/subprocess.py", "communicate", "a child to write its output or to end"},
    {"/asyncio/base_events.py", "_run_once", "something for its event loop to do"},
    {"/http/client.py", "_read_status", "the answer of an HTTP server"},
    {"/socket.py", "readinto", "data of a socket"},
    {"/socket.py", "accept", "a connection"},
    {"/selectors.py", "select", "events of descriptors"},
    {"<frozen importlib._bootstrap>", "acquire", "a module that another thread is importing"},
    {"/torch/utils/data/dataloader.py", "_try_get_data", "a batch of its loader's workers"},
    {"/torch/utils/data/_utils/worker.py", "_worker_loop", "an index to load, or room for a batch (a loader's worker)"},
    {"/torch/utils/data/_utils/pin_memory.py", "_pin_memory_loop", "a batch to pin"},
    {"/torch/distributed/distributed_c10d.py", "", "the other ranks of torch.distributed"},
    {"/torch/distributed/rendezvous.py", "", "the other ranks to come"},
    {NULL, "getaddrinfo", "the address of a host (DNS)"},
    {NULL, "gethostby", "the address of a host (DNS)"},
    {NULL, "getnameinfo", "the name of an address (DNS)"},
    {NULL, "nccl", "the other ranks of NCCL"},
    {NULL, "cudaStreamSynchronize", "the GPU to finish a stream"},
    {NULL, "cuStreamSynchronize", "the GPU to finish a stream"},
    {NULL, "cudaDeviceSynchronize", "the GPU to finish"},
    {NULL, "cuCtxSynchronize", "the GPU to finish"},
    {NULL, "cudaEventSynchronize", "the GPU to come to an event"},
    {NULL, "cuEventSynchronize", "the GPU to come to an event"},
    {NULL, "MPI_", "the other ranks of MPI"},
    {NULL, "PMPI_", "the other ranks of MPI"},
};

/* The package multiprocess, of Hugging Face's data sets and pathos, has the files of multiprocessing. */
static bool is_file(const char *file, const char *end)
{
    static const char standard[] = "/multiprocessing", other[] = "/multiprocess/";
    const size_t n = sizeof standard - 1;
    return pt_ends_with(file, end) ||
           (!strncmp(end, standard, n) && strstr(file, other) && pt_ends_with(file, end + n));
}

static const char *row_of(const struct pt_stack_line *line)
{
    const char *function = line->function ? line->function : "", *dot = strrchr(function, '.');
    if (line->is_python && dot) /* Queue.get */
        function = dot + 1;
    if (!line->is_python && !strncmp(function, "__", 2)) /* glibc's own name of it */
        function += 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].file != !line->is_python || strncmp(function, rows[i].function, strlen(rows[i].function)) != 0)
            continue;
        if (!rows[i].file || (line->file && is_file(line->file, rows[i].file)))
            return rows[i].wants;
    }
    return NULL;
}

/* The outermost library function says it best: Queue.get waits in Condition.wait. What the program's own functions call
 * is not asked. */
const char *pt_wants(const struct pt_look_thread *thread)
{
    const char *wants = NULL;
    for (size_t i = 0; i < thread->lines.n; i++) {
        const struct pt_stack_line *line = &thread->lines.items[i];
        if (line->is_python && !pt_stack_is_of_library(line))
            break;
        const char *found = row_of(line);
        wants = found ? found : wants;
    }
    return wants;
}
