/* SPDX-License-Identifier: MIT
 *
 * B11: stacks that cannot be unwound: coroutines of one's own making, whose first function has no caller. Samples are
 * taken on them.
 */
#include "host.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>

static jmp_buf back;

static __attribute__((noinline)) void allocate_deep(int depth)
{
    void *block = malloc(1 << 20);
    host_sink = block;
    if (depth)
        allocate_deep(depth - 1);
    free(block);
}

static void __attribute__((noreturn, used)) first_function(void)
{
    allocate_deep(3);
    longjmp(back, 1);
}

/* libc's own malloc does not survive that stack where it is a thread's first. */
static void __attribute__((noreturn, used)) first_function_of_thread(void)
{
    close(-1);
    longjmp(back, 1);
}

#define RUN(function, top, frame)                                                                                      \
    __asm__ volatile("movq %0, %%rsp\n\tmovq %1, %%rbp\n\tjmp " #function : : "r"(top), "r"(frame) : "memory")

/* Run first_function on `stack`, as if called from `caller`, with `frame` in rbp. */
static void run_on(char *stack, unsigned long caller, unsigned long frame)
{
    unsigned long *top = (unsigned long *)(void *)stack;
    *--top = 0;
    *--top = caller;
    if (!setjmp(back))
        RUN(first_function, top, frame);
}

/* Whose first event comes on such a stack. */
static void *begin_there(void *stack)
{
    if (!setjmp(back))
        RUN(first_function_of_thread, (char *)stack + (1 << 20) - 16, 0ul);
    return NULL;
}

int main(void)
{
    char *stack = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static const unsigned long words[] = {0, 1, 0xdeadbeef, 0x7fffdeadb000, 0xdeadbeefdeadbeef, ~0ul};
    for (unsigned caller = 0; caller < sizeof words / sizeof *words; caller++)
        for (unsigned frame = 0; frame < sizeof words / sizeof *words; frame++)
            run_on(stack + (1 << 20), words[caller], words[frame]);
    /* "Called" from real code, whose own caller is then looked for where there is nothing. */
    for (unsigned frame = 0; frame < sizeof words / sizeof *words; frame++)
        run_on(stack + (1 << 20), (unsigned long)main + 64, words[frame]);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, begin_there, stack) == 0 && pthread_join(thread, NULL) == 0);
    MUST(null_writes(100) == 0);
    trace_must("io_write", "==", 100);
    return host_broken;
}
