/* SPDX-License-Identifier: MIT
 *
 * program.c - reads the GPU program: the file that FAKECUDA_PROGRAM names and then the words of FAKECUDA, one statement
 * per line or `;`. A word that nobody knows ends the process: a fault that was misspelt must not pass as survived.
 */
#include "fakegpu.h"
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 256, WORD_MAX = 128 };

struct kernel_rule {
    char pattern[WORD_MAX];
    double ns, block_ns;
};
struct error_rule {
    char pattern[WORD_MAX];
    int code;
    long after, count;
    atomic_long n_calls;
};

static struct fg_program program = {
#define NUMBER(word, value, meaning) .word = value,
#define FAULT(name, meaning)
#include "program.def"
#undef NUMBER
#undef FAULT
};
static struct kernel_rule kernel_rules[RULES_MAX];
static struct error_rule error_rules[RULES_MAX];
static int n_kernel_rules, n_error_rules;
static atomic_ulong fault_counts[FG_N_FAULTS];

static void refuse(const char *statement, const char *why)
{
    fprintf(stderr, "fakecuda: %s in the GPU program: \"%s\"\n", why, statement);
    abort();
}

static bool read_number(const char *word, double value)
{
#define NUMBER(name, standard, meaning)                                                                                \
    if (!strcmp(word, #name)) {                                                                                        \
        program.name = value;                                                                                          \
        return true;                                                                                                   \
    }
#define FAULT(name, meaning)
#include "program.def"
#undef NUMBER
#undef FAULT
    return false;
}

static bool read_fault(const char *name, double argument)
{
#define NUMBER(word, value, meaning)
#define FAULT(fault_name, meaning)                                                                                     \
    if (!strcmp(name, #fault_name)) {                                                                                  \
        program.fault[FG_FAULT_##fault_name] = argument;                                                               \
        return true;                                                                                                   \
    }
#include "program.def"
#undef NUMBER
#undef FAULT
    return false;
}

static void read_kernel(const char *statement)
{
    struct kernel_rule *rule = &kernel_rules[n_kernel_rules++ % RULES_MAX];
    if (sscanf(statement, " %*s %127s %lf %lf", rule->pattern, &rule->ns, &rule->block_ns) < 2)
        refuse(statement, "kernel GLOB NS [NS_PER_BLOCK]");
}

static void read_error(const char *statement)
{
    struct error_rule *rule = &error_rules[n_error_rules++ % RULES_MAX];
    rule->count = LONG_MAX / 2;
    if (sscanf(statement, " %*s %127s %d %ld %ld", rule->pattern, &rule->code, &rule->after, &rule->count) < 2)
        refuse(statement, "error FUNCTION CODE [AFTER [COUNT]]");
}

static void read_statement(const char *statement)
{
    char word[WORD_MAX] = "", name[WORD_MAX] = "";
    double number = 1;
    sscanf(statement, " %127s", word);
    if (!strcmp(word, "device")) {
        if (program.n_devices == FG_DEVICES_MAX ||
            sscanf(statement, " device %63[^\n]", program.device_names[program.n_devices]) != 1)
            refuse(statement, "device NAME, at most 16");
        program.n_devices++;
    } else if (!strcmp(word, "kernel")) {
        read_kernel(statement);
    } else if (!strcmp(word, "error")) {
        read_error(statement);
    } else if (!strcmp(word, "fault")) {
        if (sscanf(statement, " fault %127s %lf", name, &number) < 1 || !read_fault(name, number))
            refuse(statement, "unknown fault");
    } else if (sscanf(statement, " %*s %lf", &number) != 1 || !read_number(word, number)) {
        refuse(statement, "unknown word or missing number");
    }
}

static void read_text(char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, ";\n", &rest); line; line = strtok_r(NULL, ";\n", &rest)) {
        line += strspn(line, " \t");
        char *comment = strchr(line, '#');
        if (comment)
            *comment = 0;
        if (*line)
            read_statement(line);
    }
}

static void read_program(void)
{
    const char *path = getenv("FAKECUDA_PROGRAM"), *words = getenv("FAKECUDA");
    if (path && *path) {
        static char text[65536];
        FILE *file = fopen(path, "r");
        if (!file)
            refuse(path, "cannot open the file");
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        read_text(text);
    }
    if (words && *words) {
        char *copy = strdup(words);
        read_text(copy);
        free(copy);
    }
    if (!program.n_devices) {
        strcpy(program.device_names[0], "Fake H200");
        program.n_devices = 1;
    }
    if (program.queue_depth < 1 || program.queue_depth > FG_QUEUE_MAX)
        program.queue_depth = 1024;
}

const struct fg_program *fg_program(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_program);
    return &program;
}

uint64_t fg_kernel_ns(const char *name, uint64_t n_blocks)
{
    fg_program();
    for (int i = 0; name && i < n_kernel_rules; i++)
        if (!fnmatch(kernel_rules[i].pattern, name, 0))
            return (uint64_t)(kernel_rules[i].ns + kernel_rules[i].block_ns * (double)n_blocks);
    return (uint64_t)program.kernel_ns;
}

int fg_planned_error(const char *function)
{
    for (int i = 0; i < n_error_rules; i++) {
        if (fnmatch(error_rules[i].pattern, function, 0))
            continue;
        const long n = atomic_fetch_add(&error_rules[i].n_calls, 1);
        if (n >= error_rules[i].after && n < error_rules[i].after + error_rules[i].count)
            return error_rules[i].code;
    }
    return 0;
}

bool fg_fault_due(enum fg_fault fault)
{
    const unsigned long every = (unsigned long)fg_program()->fault[fault];
    return every && atomic_fetch_add(&fault_counts[fault], 1) % every == every - 1;
}
