/* SPDX-License-Identifier: MIT
 *
 * decode_pool.h - blocks decoded ahead by a few threads, with a bound on how many decoded blocks are in memory.
 */
#ifndef PT_MERGE_DECODE_POOL_H
#define PT_MERGE_DECODE_POOL_H

#include "decode/decode.h"

enum pt_job_state { PT_JOB_IDLE, PT_JOB_QUEUED, PT_JOB_RUNNING, PT_JOB_DONE };

/* The one block of a source that may be decoded ahead. */
struct pt_job {
    const struct pt_decode_source *source;
    size_t block;
    enum pt_job_state state; /* the workers' and the merging thread's, under the pool's lock */
    bool is_asked;           /* and not taken yet: the merging thread's alone */
    int result;
    struct pt_batch *batch;
    struct pt_job *next; /* in the queue */
    pt_u64 asked;        /* how many blocks had been asked for, with this one */
};

struct pt_decode_pool;
/* `blocks` = how many there are to decode: for a few no thread is started. */
struct pt_decode_pool *pt_decode_pool_new(size_t blocks);
void pt_decode_pool_free(struct pt_decode_pool *pool);

/* Ask for a block ahead; refused silently when enough blocks are decoded already. */
void pt_decode_pool_ask(struct pt_decode_pool *pool, struct pt_job *job, const struct pt_decode_source *source,
                        size_t block);
/* Get a block: from its job when it was asked for ahead, else decoded here. -1 = damaged; the batch must be given
 * back also then. */
int pt_decode_pool_take(struct pt_decode_pool *pool, struct pt_job *job, const struct pt_decode_source *source,
                        size_t block, struct pt_batch **ret_batch);
void pt_decode_pool_give_back(struct pt_decode_pool *pool, struct pt_batch *batch);

#endif
