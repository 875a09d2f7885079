/* SPDX-License-Identifier: MIT
 *
 * fuzz_torch.c - the reader of profiler windows on any bytes: whatever it gives out, spans nest, times are no less than
 * nothing, threads exist.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "torch_file/window.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char directory[] = "/tmp/fuzz-torch-XXXXXX";
    static int folder = -1;
    if (folder < 0)
        folder = open(mkdtemp(directory) ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = openat(folder, "trace.json", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) < 0)
        return 0;
    close(fd);
    struct pt_error err = {0};
    struct pt_torch_window window;
    const struct pt_torch_span *span;
    if (pt_torch_window_read(folder, "trace.json", "torch/a/trace.json", &window, &err) == 0) {
        pt_vec_each(span, &window.spans) if (span->took_ns < 0 || span->self_ns < 0 ||
                                             span->self_ns > span->took_ns + 1 || !span->name || !span->shapes ||
                                             (span->kind != PT_TORCH_KERNEL && span->thread >= window.threads.n))
            abort();
        pt_torch_window_fini(&window);
    } else if (!*err.text) {
        abort();
    }
    return 0;
}
