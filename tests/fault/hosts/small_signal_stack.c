/* SPDX-License-Identifier: MIT
 *
 * T11: handlers on an alternate stack of the least size + 512 bytes, with a guard page below: first events of the
 * process, every kind of hook, and enough of them that buffers roll over inside the handler.
 */
#include "host.h"

#include <sys/mman.h>
#include <sys/stat.h>

static volatile int fd = -1, rounds, failures;

static void in_handler(int signal_number)
{
    (void)signal_number;
    static struct stat status;
    char bytes[8];
    const int kept = errno, mine = open("/dev/null", O_RDWR);
    if (mine < 0 || write(mine, "12345678", 8) != 8 || read(mine, bytes, 8) != 0 || fstat(mine, &status) ||
        lseek(mine, 0, SEEK_SET) != 0 || access("/dev/null", R_OK) || close(mine))
        failures++;
    for (int i = 0; i < rounds; i++) {
        if (write(fd, "x", 1) != 1)
            failures++;
        void *block = malloc(32);
        host_sink = block;
        free(block);
    }
    errno = kept;
}

/* The handler runs while main waits in raise: no lock of the allocator is held, so malloc is allowed here. */
static size_t run(char *stack, size_t size, int count)
{
    rounds = count;
    memset(stack, 0x5a, size);
    raise(SIGUSR1);
    size_t untouched = 0;
    while (untouched < size && stack[untouched] == 0x5a)
        untouched++;
    return untouched;
}

int main(void)
{
    const size_t size = ((size_t)sysconf(_SC_MINSIGSTKSZ) + 512) & ~(size_t)15;
    const size_t pages = (size + 4095) & ~(size_t)4095;
    char *memory = mmap(NULL, pages + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, 4096, PROT_NONE);
    char *stack = memory + 4096;
    const stack_t alternate = {.ss_sp = stack, .ss_size = size};
    struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
    alloc_pairs(10, 32); /* glibc's own first malloc needs more stack than the handler has */
    MUST(sigaltstack(&alternate, NULL) == 0);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    fd = open("/dev/null", O_WRONLY);
    const size_t first = run(stack, size, 1), later = run(stack, size, 60000);
    MUST(failures == 0);
    MUST(first > 0 && later > 0);
    trace_must("io_write", ">=", 60003);
    trace_must("io_open", ">=", 3);
    return host_broken;
}
