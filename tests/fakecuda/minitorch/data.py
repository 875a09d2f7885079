# SPDX-License-Identifier: MIT
"""A DataLoader: workers by fork or spawn, each with a queue of indices and a pipe for its batches."""
import multiprocessing
import os
import pickle
import signal

from minitorch import causes


def work(indices, results, n_bytes, planted, folder):
    """A worker: for each index a batch of bytes, and what its planted causes truly cost."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for cause in planted:
        causes.prepare(cause, folder)
    results.send_bytes(pickle.dumps({"pid": os.getpid()}))  # ready
    while True:
        index = indices.recv()
        if index is None:
            return
        spans = [(cause, *span) for cause, ns in planted.items() for span in causes.plant(cause, ns, folder)]
        results.send_bytes(pickle.dumps({"index": index, "pid": os.getpid(), "spans": spans, "data": bytes(n_bytes)}))


class DataLoader:
    """Batches in order, round robin over the workers, `prefetch` ahead for each; without workers it loads itself."""

    def __init__(self, n_batches, n_bytes, n_workers=0, start="fork", planted=None, prefetch=1, folder="."):
        self.n_batches, self.n_bytes, self.prefetch = n_batches, n_bytes, prefetch
        self.workers, self.waits, self.spans = [], [], []
        context = multiprocessing.get_context(start) if n_workers else None
        for _ in range(n_workers):
            indices_out, indices_in = context.Pipe(duplex=False)
            results_out, results_in = context.Pipe(duplex=False)
            process = context.Process(target=work, daemon=True, name="DataLoader worker",
                                      args=(indices_out, results_in, n_bytes, planted or {}, folder))
            process.start()
            indices_out.close()
            results_in.close()
            self.workers.append((process, indices_in, results_out))
        self.pids = [pickle.loads(results.recv_bytes())["pid"] for _, _, results in self.workers]

    def __iter__(self):
        if not self.workers:
            for _ in range(self.n_batches):
                yield bytes(self.n_bytes)
            return
        sent = 0
        for _ in range(self.prefetch * len(self.workers)):
            sent = self._send(sent)
        for index in range(self.n_batches):
            start = causes.now_ns()
            received = self.workers[index % len(self.workers)][2].recv_bytes()
            self.waits.append((start, causes.now_ns()))
            batch = pickle.loads(received)
            self.spans += [(batch["pid"], *span) for span in batch["spans"]]
            start = causes.now_ns()
            sent = self._send(sent)
            self.waits.append((start, causes.now_ns()))  # on a busy machine the worker takes the CPU of the one that wakes it
            yield batch["data"]

    def _send(self, index):
        if index < self.n_batches:
            self.workers[index % len(self.workers)][1].send(index)
        return index + 1

    def close(self):
        for process, indices, _ in self.workers:
            indices.send(None)
            process.join()
