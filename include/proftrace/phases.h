/* SPDX-License-Identifier: MIT
 *
 * phases.h - the phases of a training that the library sees by itself in Python, and what phase_begin (object, name)
 * and phase_end (amount, object) say of each. Ids are in traces: never reused.
 *
 * - loader_start: a pass over a data loader begins, its workers start. name: the data set's class, object: the loader,
 *   at the end its iterator, amount: workers, or PT_WORKERS_UNKNOWN
 * - data_wait: the loop asks for its next batch. object: the iterator, amount: samples in the batch
 * - worker_fetch: samples are read and put together to a batch, in a worker or in the main process. amount: samples
 * - transfer: a batch or a model goes to a device. object: the model, 0 = a batch
 * - forward: the outermost module is called. object: the model in it, without what compiles or distributes it, name:
 * its class, amount: 1 = in evaluation mode
 * - backward: gradients are computed. name: grad = by torch.autograd.grad
 * - zero_grad: gradients are reset. object: the optimizer, or the module
 * - optimizer_step: an optimizer changes the parameters. object: the optimizer, name: its class
 * - grad_scaling: a GradScaler steps. object: the optimizer, amount: 1 = it skipped the step
 * - collective: ranks talk to each other. name: all_reduce, broadcast, barrier ...
 * - checkpoint: a state is saved or loaded. name: save, load
 * - compile: a compiler of the framework at work. name: dynamo (object: the code, so one that comes again is compiled
 *   again; amount: graph breaks in it), inductor (amount: graphs that were found in its cache)
 * - import: the outermost import of a module that was not loaded. name: which
 * - garbage_collection: CPython's cyclic collector, but not of the youngest only. amount: the generation
 * - validation: a validation pass, where a framework says so
 * - train_step: a step that a framework makes in one call: forward, backward and update (Keras)
 * - profiler: torch.profiler starts or ends for PROFTRACE_WINDOW. name: start, write, or why there is no window
 * - function: a function of PROFTRACE_PYTHON_FUNCTIONS. name: which
 */
#ifndef PROFTRACE_PHASES_H
#define PROFTRACE_PHASES_H

/* clang-format off */
#define PT_PHASES(PHASE)                                                                                               \
    PHASE(1, loader_start) PHASE(2, data_wait) PHASE(3, worker_fetch) PHASE(4, transfer)                               \
    PHASE(5, forward) PHASE(6, backward) PHASE(7, zero_grad) PHASE(8, optimizer_step)                                  \
    PHASE(9, grad_scaling) PHASE(10, collective) PHASE(11, checkpoint) PHASE(12, compile)                              \
    PHASE(13, import) PHASE(14, garbage_collection) PHASE(15, validation) PHASE(16, function)                           \
    PHASE(17, train_step) PHASE(18, profiler)
/* clang-format on */

/* Data come ahead of the training, but by whose work nobody can ask: tf.data. */
#define PT_WORKERS_UNKNOWN 0xffffffffu

enum pt_phase {
#define PT_PHASE_ID(id, name) PT_PHASE_##name = (id),
    PT_PHASES(PT_PHASE_ID)
#undef PT_PHASE_ID
};

/* As units.def names constants. */
#define PT_PHASE_NAME(id, name) NAME(name, id)

enum pt_phase_outcome {
    PT_PHASE_DONE = 0,
    PT_PHASE_RAISED = 1,    /* an exception came out of it */
    PT_PHASE_EXHAUSTED = 2, /* data_wait: StopIteration, the pass is over */
};

#endif
