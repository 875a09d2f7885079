# SPDX-License-Identifier: MIT
"""Threads that wait in every kind of Python function, so that another reader of stacks can be held against ours."""
import ctypes
import functools
import os
import threading

never, _keep = os.pipe()
LIBC = ctypes.CDLL(None)


def settle():
    for _ in range(300):
        os.stat("/")


def wait_here():
    settle()
    started.release()
    os.read(never, 1)


class Loader:
    def __getitem__(self, index):
        return wait_here() if index else self[index + 1]

    @classmethod
    def of_class(cls):
        return cls()[0]

    @property
    def batch(self):
        return self.of_class()


def in_method():
    return Loader().batch


def generate():
    yield wait_here()


def in_generator():
    return next(generate())


def in_comprehension():
    return [wait_here() for _ in range(2)]


def in_lambda():
    return (lambda: wait_here())()


def in_recursion(depth=40):
    return in_recursion(depth - 1) if depth else wait_here()


def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper


@logged
def in_wrapper():
    return wait_here()


def in_callback_of_c():
    """Python, C, Python: qsort calls back."""
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def compare(*_):
        wait_here()
        return 0
    LIBC.qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare)


def in_exec():
    exec(compile("wait_here()", "<made>", "exec"), globals())


def in_sorted():
    return sorted([1, 2], key=lambda _: wait_here())


def in_with():
    class Context:
        def __enter__(self):
            wait_here()

        def __exit__(self, *_):
            pass
    with Context():
        pass


def in_except():
    try:
        raise ValueError
    except ValueError:
        wait_here()


started = threading.Semaphore(0)
functions = [in_method, in_generator, in_comprehension, in_lambda, in_recursion, in_wrapper, in_callback_of_c, in_exec, in_sorted,
             in_with, in_except]
for one in functions:
    threading.Thread(target=one, name=one.__name__, daemon=True).start()
    started.acquire()
settle()
print("ready", flush=True)
os.read(never, 1)
