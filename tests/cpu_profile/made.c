/* SPDX-License-Identifier: MIT
 *
 * made SECONDS [map|saves]: computes in code that it makes at run time, which no table describes. With map it writes
 * /tmp/perf-PID.map; with saves the code has room on the stack, in which anything may lie, and takes the frame pointer
 * for itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov $20000000, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char plain[] = {0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
/* push %rbx; push %rbp; sub $512, %rsp; xor %ebp, %ebp; the loop; add $512, %rsp; pop %rbp; pop %rbx; ret */
static const unsigned char saves[] = {0x53, 0x55, 0x48, 0x81, 0xec, 0x00, 0x02, 0x00, 0x00, 0x31,
                                      0xed, 0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc,
                                      0x48, 0x81, 0xc4, 0x00, 0x02, 0x00, 0x00, 0x5d, 0x5b, 0xc3};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) void calls_made_code(void (*made)(void), double seconds)
{
    const double end_s = now_s() + seconds;
    while (now_s() < end_s)
        made();
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "";
    const int is_saving = !strcmp(how, "saves");
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, is_saving ? saves : plain, is_saving ? sizeof saves : sizeof plain);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    if (!strcmp(how, "map")) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
        FILE *map = fopen(path, "w");
        fprintf(map, "%lx %zx counts_down\n", (unsigned long)code, sizeof plain);
        fclose(map);
    }
    void (*made)(void);
    memcpy(&made, &code, sizeof made);
    calls_made_code(made, argc > 1 ? atof(argv[1]) : 1);
    return 0;
}
