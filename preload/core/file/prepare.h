/* SPDX-License-Identifier: MIT
 *
 * prepare.h - made ahead of need: what could not be had later, or not without making others wait. Callable anywhere.
 */
#ifndef PT_CORE_FILE_PREPARE_H
#define PT_CORE_FILE_PREPARE_H

/* The calling thread is about to create another. Makes room for it when there is none, so that not each of a crowd that
 * comes at once has to. */
void pt_thread_expect(void);
/* Soon the file cannot be opened any more: make room for which it need not be. */
void pt_ring_prepare(void);

/* The same before a filter, under which the file cannot grow at all. */
void pt_sandbox_prepare(void);

/* Make sure that the process has a file of its own: what comes does not fit the head. */
void pt_own_file_prepare(void);

#endif
