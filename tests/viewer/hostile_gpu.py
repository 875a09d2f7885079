# SPDX-License-Identifier: MIT
"""GPU records with anything in them, as a trace in text: whatever comes, every export has to be whole."""
import random

TEXTS = ["", "0", "0/1/7", "4294967295/4294967295/4294967295", "-1/-2/-3", "a/b/c", "0/3/", "9999999999999999999999/1/1", "0//",
         '\\"\\\\<name>', "_ZZZZ", "_Z3fooPf", "x" * 5000, "{", "{}", '{\\"id\\":1,\\"a\\":1e5,\\"b\\":\\"t\\",\\"c\\":-0.5}', "1,2",
         "1,1,1 256,1,1 32 0+1024", "99999999999,1,1 1,1,1 1 1+1"]
KINDS = [
    ('gpu_kernel correlation={n} queue="{t}" name="{t}" config="{t}"', True),
    ('gpu_copy kinds={h} correlation={n} queue="{t}" bytes={b}', True),
    ('gpu_set kinds={h} correlation={n} queue="{t}" bytes={b}', True),
    ('gpu_graph correlation={n} queue="{t}" graph={b}', True),
    ('gpu_graph_node correlation={n} node=0x1 graph={b}', False),
    ('gpu_sync kind={k} correlation={n} queue="{t}" event={n} event_correlation={n}', True),
    ('gpu_overhead kind={k} tid={n} correlation={n}', True),
    ('gpu_memory is_release={k} place="{t}" addr=0x10 bytes={b}', False),
    ('gpu_memory_pool operation={k} place="{t}" bytes={b} used_bytes={b}', False),
    ('gpu_device device={k} name="{t}" memory_bytes={b} properties="{t}"', False),
    ('gpu_lost reason="{t}" records={b}', False),
    ('gpu_tracing state={k} reason="{t}"', False),
    ('gpu_clock cupti_ns={b} realtime_ns={b}', False),
    ('cuda_call class={k} result={r} name="{t}" correlation={n} tid={tid}', True),
    ('range_open name="{t}" id=0x{n}', False),
    ('range_close id=0x{n}', False),
]


def write(path, seed, events=3000):
    chance, chance_of_records = random.Random(seed), random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write("proftrace-text 1 start_realtime_ns=1763640000000000123\n")
        file.write('process 100 ppid=1 uid=0 trace_id=0x64 start=0.000000000 end=1.000000000 state=exited exit_status=0 heap=off '
                   'heap_sample_bytes=0 cpu_ns=1 max_rss_bytes=1 boot="b" host="h" stage="s" comm="c" exe="/c" cwd="/" argc=1 '
                   'argv=["c"]\n')
        for slot, tid in enumerate((100, 101, 0x80000000)):
            file.write(f"thread 100/{tid} slot={slot} life=1 start=0.000000000\n")
        for _ in range(events):
            form, is_span = chance.choice(KINDS)
            at, long = chance.randrange(10**9), chance.choice([0, 1, 1000, chance.randrange(10**8)])
            what = form
            while "{" in what:
                for key, value in (("{n}", chance.randrange(1, 60)), ("{t}", None), ("{h}", hex(chance.randrange(1 << 23))),
                                   ("{b}", chance.choice([0, 1, 10**6, 2**62])), ("{k}", chance.randrange(0, 13)),
                                   ("{r}", chance.choice([0, -1, -999])), ("{tid}", chance.choice([0, 100, 101, 4000]))):
                    if key == "{t}":
                        value = chance.choice(TEXTS).replace("{", "\x00").replace("}", "\x01")
                    what = what.replace(key, str(value), 1)
            what = what.replace("\x00", "{").replace("\x01", "}")
            span = f" +0.{long:09d}" if is_span else ""
            if "gpu_sync" in what:  # where its event was recorded, which may also be said too late or of another one
                file.write(f'0.{max(at - chance_of_records.choice([0, 0, -1, 5]), 0):09d} 100/{0x80000000} gpu_event_record '
                           f'correlation={chance_of_records.randrange(1, 60)} event_correlation={chance_of_records.randrange(1, 60)} '
                           f'queue="{chance_of_records.choice(["0/1/7", "1/1/7", "-/-/-", "x", ""])}"\n')
            file.write(f"0.{at:09d}{span} 100/{0x80000000 if 'gpu' in what or 'cuda' in what else 100} {what}\n")
