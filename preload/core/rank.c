/* SPDX-License-Identifier: MIT
 *
 * rank.c - reads the rank that torchrun, mpirun or srun gave this process, or that it gives itself: workers of
 * torch.multiprocessing set RANK when they run, or hand their number to init_process_group.
 *
 * Entered by the constructor, by the hooks of setenv, putenv, unsetenv and clearenv, and from Python. Never: reads the
 * environment later, when another thread may be changing it, so what was read is remembered; mixes the numbers of two
 * launchers (a torchrun under srun has the ranks of both); changes a rank that was given from outside, unless the
 * program is itself a launcher within that one.
 */
#include "rank.h"

#define RANK_LIMIT (1u << 30)

struct pt_rank pt_rank;

/* A name alone takes it away, as in putenv: value NULL. */
static int is_variable(const char *entry, const char *name, const char **ret_value)
{
    for (; *name; entry++, name++)
        if (*entry != *name)
            return 0;
    *ret_value = *entry ? entry + 1 : (const char *)0;
    return !*entry || *entry == '=';
}

/* The number and `offset`; 0 when it is none. */
static pt_u32 number_of(const char *text, pt_u32 offset)
{
    pt_u32 value = 0;
    if (!*text)
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value >= RANK_LIMIT / 10)
            return 0;
        value = value * 10 + (pt_u32)(*text - '0');
    }
    return value + offset;
}

enum { RANK, LOCAL_RANK, WORLD_SIZE, VARIABLES };

/* The innermost first. */
static const char *const launchers[][VARIABLES] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"}, /* torchrun, DeepSpeed, Accelerate */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"}, /* MPICH, Intel MPI */
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

static struct pt_rank found[LAUNCHERS];
static pt_u8 is_there[LAUNCHERS][VARIABLES]; /* in the environment: setenv without overwrite leaves it as it is */
/* So many may still give a rank: those within the one that gave it from outside. A batch job of Slurm has its number 0
 * in all workers that it starts. */
static int n_open = LAUNCHERS;

static void take(int launcher, int variable, const char *value)
{
    struct pt_rank *rank = &found[launcher];
    if (variable == RANK)
        rank->rank_plus_1 = number_of(value, 1);
    else if (variable == LOCAL_RANK)
        rank->local_rank_plus_1 = number_of(value, 1);
    else
        rank->world_size = number_of(value, 0);
}

static void find(const char *entry, int replaces)
{
    const char *value;
    for (int i = 0; i < n_open; i++)
        for (int j = 0; j < VARIABLES; j++) {
            if (!is_variable(entry, launchers[i][j], &value))
                continue;
            if (value && (replaces || !is_there[i][j]))
                take(i, j, value);
            is_there[i][j] = !!value;
        }
}

static void choose(void)
{
    for (int i = 0; i < LAUNCHERS; i++)
        if (found[i].rank_plus_1) {
            pt_rank = found[i];
            return;
        }
}

void pt_rank_read(char **environment)
{
    for (char **entry = environment; entry && *entry; entry++)
        find(*entry, 1);
    choose();
    for (int i = LAUNCHERS; i--;)
        if (found[i].rank_plus_1)
            n_open = i;
}

void pt_rank_note(const char *entry, int replaces)
{
    find(entry, replaces);
    choose();
}

void pt_rank_note_group(pt_u32 rank, pt_u32 size)
{
    if (found[0].rank_plus_1 || rank >= RANK_LIMIT)
        return;
    found[0].rank_plus_1 = rank + 1;
    found[0].world_size = size;
    choose();
}

void pt_rank_note_none(void)
{
    __builtin_memset(is_there, 0, sizeof is_there);
}
