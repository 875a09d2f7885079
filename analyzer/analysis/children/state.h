/* SPDX-License-Identifier: MIT
 *
 * children/state.h - what is gathered of each process and stage.
 */
#ifndef PT_ANALYSIS_CHILDREN_STATE_H
#define PT_ANALYSIS_CHILDREN_STATE_H

#include "facts/state.h"
#include "facts/path/split_time.h"
#include "facts/workers.h"
#include "analysis/io/file_coverage.h"
#include "util/id_map.h"

struct pt_children_process { /* one process, its main thread */
    bool is_worker, has_workers;
    bool serves;        /* a client, over a connection that was accepted */
    bool needs_earlier; /* of a command: what another one of the same process has made before */
    bool has_waited;    /* for commands, and that is not all that it did */
    double fork_ns;     /* that making it took */
    pt_i64 ready_ns;  /* of a worker: when it last opened a module or library before its parent had anything from it */
    pt_i64 loaded_ns; /* of a worker: the same, without what it imports half a second and more after the last of it */
    pt_i64 asked_ns;  /* of a worker: when its main thread first asked for work, or for the lock of its queue */
    pt_i64 last_sent_ns; /* of a worker: when its main thread last gave something to another process */
    pt_i64 last_fork_ns; /* end of the last fork of its main thread */
    pt_i64 first_worker_ns, first_command_ns, last_command_end_ns; /* of children that are no workers */
    pt_u32 n_workers;
    double idle_ns, file_ns, other_ns; /* waits for work or room, files, network and sleep */
    pt_i64 waited_ns, waited_until_ns; /* of a parent: for its workers, in all, and when last */
    double lock_ns;                    /* for locks that others hold, or for the last thread at a barrier */
    pt_u64 batches_received;           /* messages that its main thread took from workers */
    /* Of a worker, which others it works beside: those that its parent started with it, before it took anything from
     * one of them, and that answer by the same queue. */
    pt_u32 batch_of_starts, results; /* results: the channel by which its parent got something first; 0 = none */
    pt_u64 n_results;                /* how often its parent got something */
    /* Of a parent. */
    pt_i64 last_start_ns;
    pt_u32 n_batches_of_starts;
    pt_u32 n_apart;    /* forks after it had received something */
    bool has_received; /* from a worker, since it started the last one */
    bool has_taken;    /* from a worker, at any time; once all is known */
    bool loads;        /* likewise: from one that takes nothing from workers of its own */
};

struct pt_child_command {
    const char *text;
    pt_u32 stage;
    pt_u64 waits, ns;
};

struct pt_children_stage {
    struct pt_time_union wait, with_forks;
    struct pt_split_time child; /* waits for commands */
    pt_u64 batches_received, child_waits;
    pt_u64 batches_of_loader; /* that came from workers, by phases: whichever thread took them */
    pt_i64 concurrent_ns;     /* of child: more than one child ran */
    pt_i64 unknown_ns;        /* for commands of which there is no trace */
    pt_u64 forks_of_all;
    struct { /* of large processes that do not take data from their workers */
        pt_u64 n, rss_bytes;
        double ns, longest_ns;
    } forks;
};

struct pt_children_wait {
    const struct pt_process *process;
    pt_i64 from_ns, until_ns;
};

/* When main threads waited for their workers; bounded. */
struct pt_children_waits {
    PT_VEC(struct pt_children_wait);
};

/* What one worker has read of one file, by descriptors. */
struct pt_children_read {
    const struct pt_process *process;
    const char *path; /* absolute: equal ones have equal addresses; NULL = no data */
    pt_u32 opens;
    pt_u64 reads, jumps, bytes, position_bytes; /* jumps: reads elsewhere than where the last one ended */
    struct pt_coverage coverage;
    pt_i64 first_ns, last_ns;
    struct {
        pt_u32 maker, batch_of_starts, results;
    } pool; /* once all is known */
};

struct pt_children_reads {
    PT_VEC(struct pt_children_read);
    struct pt_id_map by_path; /* process, path id -> index, plus 1 */
};

struct pt_children {
    struct pt_profile *profile;
    const struct pt_facts *facts;
    struct pt_children_process *processes;
    struct pt_children_stage *stages;
    bool *wait_for_waiters; /* by index of a process: for a worker that waits for its commands, which is no command */
    struct {
        PT_VEC(struct pt_child_command);
    } commands;
    bool *hears;         /* by number of a thread: it has waited for data, which may be what workers send */
    bool *takes_results; /* likewise: it has read what a worker sent */
    struct pt_children_waits pools;
    struct pt_children_reads reads;
    struct pt_map by_command; /* stage, interned text */
    struct pt_intern texts;
    pt_u64 waits_with_siblings;
    struct pt_map makers; /* absolute path -> index of the process that made the file last, plus 1 */
    pt_u32 n_makers;
    const struct pt_process *wrote; /* last, as a stream, and the id of its path */
    pt_u32 wrote_path;
};

/* A process that has taken this many messages from its workers loads data with them: DataLoader. */
enum { PT_MIN_BATCHES_FOR_LOADER = 10 };

#endif
