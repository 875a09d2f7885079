# SPDX-License-Identifier: MIT
# PROFTRACE_PYTHON_FUNCTIONS=module:function,...: each call of these as a phase. From CPython 3.12 on by sys.monitoring: a
# code object that is not meant is looked at once, and calls are found whoever holds the function. Before, and for
# functions that are not Python's, by a function that stands in its place from when its module has run. What can be called
# and is no function (a class, an object, what lru_cache makes) stays: programs do more with it than call it.


def read_names(text):
    """{module: [function, ...]}"""
    found = {}
    for item in text.split(","):
        module, _, function = item.strip().partition(":")
        if module and function:
            found.setdefault(module, []).append(function)
    return found


IS_FUNCTION = 1  # CO_OPTIMIZED: the body of a class, which has the class's name, is none
IN_PIECES = 0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines: programs ask whether a function is one


def is_meant(code, scope):
    module = scope.get("__name__")
    if code.co_qualname in named.get(module, ()):
        return True
    if module != "__main__":
        return False
    file = scope.get("__file__") or ""
    return code.co_qualname in named.get(file.rpartition("/")[2].rpartition(".")[0], ())


def monitor(monitoring, frame_of):
    """False: all ids of tools are taken."""
    events = monitoring.events
    tool = next((i for i in (4, 3, 2) if monitoring.get_tool(i) is None), None)
    if tool is None:
        return False
    qualified = {function for functions in named.values() for function in functions}
    found = {}  # {id: (code, label)}: equal ones (of a module that is imported again) are told apart, and none gets the id of one that is gone

    def starts(code, offset):
        held = found.get(id(code))
        if held is None:
            if code.co_qualname not in qualified or not code.co_flags & IS_FUNCTION or not is_meant(code, frame_of(1).f_globals):
                return monitoring.DISABLE
            held = found[id(code)] = code, code.co_qualname
            monitoring.set_local_events(tool, code, events.PY_RESUME | events.PY_RETURN | events.PY_YIELD)
            monitoring.set_events(tool, events.PY_START | events.PY_UNWIND | events.PY_THROW)
        begin(FUNCTION, *held)

    def resumes(code, *_):
        if id(code) in found:
            begin(FUNCTION, *found[id(code)])

    def ends(code, *_):
        if id(code) in found:
            end()

    def unwinds(code, *_):
        if id(code) in found:
            end(0, RAISED)

    monitoring.use_tool_id(tool, "proftrace")
    for event, function in ((events.PY_START, starts), (events.PY_RESUME, resumes), (events.PY_THROW, resumes), (events.PY_RETURN, ends),
                            (events.PY_YIELD, ends), (events.PY_UNWIND, unwinds)):
        monitoring.register_callback(tool, event, function)
    monitoring.set_events(tool, events.PY_START)
    return True


def around(original, label, ours=Ours(begin=begin, end=end), FUNCTION=FUNCTION, RAISED=RAISED):
    def named_function(*args, **kwargs):
        if not ours:
            return original(*args, **kwargs)
        try:
            ours.begin(FUNCTION, original, label)
            result = original(*args, **kwargs)
        except BaseException:
            ours.end(0, RAISED)
            raise
        ours.end()
        return result

    return stand_before(original, named_function)


def replace_named(module):
    for function in named.get(module.__name__, ()):
        try:
            replace_one(module, function)
        except Exception as error:  # there is no such one
            if is_theirs(error):
                raise


def may_be_replaced(original, in_class):
    """What a function of ours can stand for: in a class it is bound to the object, and so must be what it replaces."""
    kind = type(original).__name__
    return kind in ("method_descriptor", "wrapper_descriptor", "cython_function_or_method", "fused_cython_function") or (
        kind == "builtin_function_or_method" and not in_class)


def replace_one(module, function):
    *classes, name = function.split(".")
    owner = module
    for part in classes:
        owner = owner.__dict__[part]
    held = owner.__dict__[name]
    original = held.__func__ if isinstance(held, (staticmethod, classmethod)) else held
    is_python = type(original) is type(replace_one)
    runs_in_pieces = is_python and original.__code__.co_flags & IN_PIECES
    if runs_in_pieces or (is_monitored if is_python else not may_be_replaced(original, classes and original is held)):
        return
    ours = around(original, function)
    setattr(owner, name, ours if original is held else type(held)(ours))


named = read_names(functions)
is_monitored = hasattr(modules["sys"], "monitoring") and monitor(modules["sys"].monitoring, modules["sys"]._getframe)
after_import = replace_named
for name in named:
    watched.setdefault(name, None)
