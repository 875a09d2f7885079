/* SPDX-License-Identifier: MIT
 *
 * T34: environments that cannot be read, for programs (the arguments) that need one without the library: exec and
 * posix_spawn answer EFAULT, whichever part it is that cannot be read. With NULL and with a good one the program is
 * asked for as always. A string that is longer than the kernel takes is E2BIG, for a program that runs with us, too.
 */
#include "host.h"

#include <spawn.h>
#include <sys/mman.h>

static int exec_error(const char *program, char *const *environment)
{
    char *const arguments[] = {(char *)"program", NULL};
    errno = 0;
    execve(program, arguments, environment);
    return errno;
}

static int spawn_error(const char *program, char *const *environment)
{
    char *const arguments[] = {(char *)"program", NULL};
    pid_t pid;
    return posix_spawn(&pid, program, NULL, NULL, arguments, environment);
}

/* Behind what is too long there is no page. */
static void ask_for_too_long(void)
{
    enum { PAGE = 4096, BYTES = 33 * PAGE };
    char *text = mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(munmap(text + BYTES, PAGE) == 0);
    memset(text, 'x', BYTES);
    char *const environment[] = {memcpy(text, "LD_PRELOAD=", 11), NULL};
    MUST(exec_error("/bin/true", environment) == E2BIG);
    MUST(spawn_error("/bin/true", environment) == E2BIG);
}

int main(int argc, char **argv)
{
    enum { PAGE = 4096 };
    ask_for_too_long();
    char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(munmap(pages + PAGE, PAGE) == 0 && munmap(pages + 3 * PAGE, PAGE) == 0);
    char **endless_vector = (char **)(pages + 3 * PAGE) - 2; /* behind it, no page */
    endless_vector[0] = endless_vector[1] = (char *)"A=b";
    char *open_end = memset(pages + PAGE - 64, 'x', 64); /* 64 bytes and no end */
    memcpy(pages + PAGE - 40, "LD_PRELOAD=x", 12);
    char *const bad_string[] = {(char *)"A=b", (char *)8, NULL};
    char *const endless[] = {(char *)"A=b", open_end, NULL};
    char *const endless_preload[] = {pages + PAGE - 40, NULL};
    char **const bad[] = {(char **)8,          (char **)-4096l,  endless_vector,
                          (char **)bad_string, (char **)endless, (char **)endless_preload};
    for (int i = 1; i < argc; i++) {
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            MUST(exec_error(argv[i], bad[k]) == EFAULT);
            MUST(spawn_error(argv[i], bad[k]) == EFAULT);
        }
        char *const good[] = {(char *)"A=b", NULL};
        printf("%s: %d %d\n", strrchr(argv[i], '/'), exec_error(argv[i], good), exec_error(argv[i], NULL));
    }
    return host_broken;
}
