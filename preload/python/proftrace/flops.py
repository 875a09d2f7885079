# SPDX-License-Identifier: MIT
"""Floating point operations of what PyTorch computes, by its own counter (torch.utils.flop_counter, from 2.1 on), and the parameters
of the modules that were called. PyTorch is used where the program has imported it, never imported."""
from __future__ import annotations

import sys
from math import nan
from typing import Any, Dict

from .quiet import exists


class Flops:
    def __init__(self) -> None:
        self.total: float = nan
        self.parameters = 0
        self.reason = "PyTorch is not imported"
        self._counter: Any = None
        self._hook: Any = None
        self._seen: Dict[int, int] = {}
        self._is_whole = True

    def start(self) -> None:
        torch = sys.modules.get("torch")
        if torch is None:
            return
        try:
            from torch.utils.flop_counter import FlopCounterMode  # type: ignore[import-not-found,unused-ignore]
            from torch.nn.modules.module import register_module_forward_hook  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            self.reason = f"PyTorch {torch.__version__} counts no operations: 2.1 and later do"
            return
        flops = self

        class Counter(FlopCounterMode):  # type: ignore[misc,unused-ignore]
            def _count_flops(self, func_packet: Any, out: Any, *arguments: Any) -> Any:
                try:
                    return super()._count_flops(func_packet, out, *arguments)  # type: ignore[no-untyped-call,unused-ignore]
                except Exception as error:  # of a shape that it did not expect: no reason for the program's forward to end
                    flops.reason = f"PyTorch's counter failed at {func_packet}: {type(error).__name__} {error}"
                    flops._is_whole = False
                    return out

        try:
            # Its first operator imports hundreds of modules, for seconds: that is no work of the part.
            with FlopCounterMode(display=False):
                torch.zeros(1, 1, device="cpu") @ torch.zeros(1, 1, device="cpu")
            self._hook = register_module_forward_hook(self._called)
            counter: Any = Counter(display=False)
            counter.__enter__()
            self._counter = counter
        except Exception as error:
            self.reason = f"PyTorch's counter did not start: {type(error).__name__} {error}"

    def _called(self, module: Any, inputs: Any, output: Any) -> None:
        """Behind a call, when lazy modules know their parameters. Not by a method of the module, which may be the program's."""
        for parameter in (module.__dict__.get("_parameters") or {}).values():
            try:
                self._seen[id(parameter)] = parameter.numel()
            except Exception:  # it has no size yet, or it is None
                pass

    def stop(self) -> None:
        hook, counter, self._hook, self._counter = self._hook, self._counter, None, None
        if hook is not None:
            hook.remove()
        if counter is None:
            return
        try:
            counter.__exit__(None, None, None)
            if self._is_whole:
                self.total = int(counter.get_total_flops())
                self.parameters = sum(self._seen.values())
        except Exception as error:
            self.reason = f"PyTorch's counter did not end: {type(error).__name__} {error}"


class Gpu:
    """What PyTorch holds on the GPUs of a program that uses one already."""

    @staticmethod
    def cuda() -> Any:
        cuda = getattr(sys.modules.get("torch"), "cuda", None)
        try:
            # Asked first: is_available() loads the driver where the program has not yet, and it cannot be forked any more then.
            return cuda if cuda is not None and cuda.is_initialized() and cuda.is_available() else None
        except Exception:
            return None

    @classmethod
    def is_likely(cls) -> bool:
        """Whether the program uses one, or may do so any time."""
        version = getattr(sys.modules.get("torch"), "version", None)
        return bool(cls.cuda() or (getattr(version, "cuda", None) and exists("/dev/nvidiactl")))

    @staticmethod
    def why_not() -> str:
        return "PyTorch is not imported" if "torch" not in sys.modules else "the program does not use a GPU"

    @classmethod
    def held_mb(cls) -> float:
        cuda = cls.cuda()
        return sum(cuda.memory_allocated(i) for i in range(cuda.device_count())) / 2**20 if cuda else nan

    @classmethod
    def peak_mb(cls) -> float:
        cuda = cls.cuda()
        return sum(cuda.max_memory_allocated(i) for i in range(cuda.device_count())) / 2**20 if cuda else nan

    @classmethod
    def memory_share(cls) -> float:
        """Of the fullest GPU, 0 to 1: what is in use by anybody."""
        cuda = cls.cuda()
        if not cuda:
            return nan
        both = [cuda.mem_get_info(i) for i in range(cuda.device_count())]
        return float(max((total - free) / total for free, total in both))

    @classmethod
    def utilization_percent(cls) -> float:
        """Now, the mean of those on which PyTorch has memory."""
        cuda = cls.cuda()
        try:
            used = [i for i in range(cuda.device_count()) if cuda.memory_reserved(i)] if cuda else []
            return sum(float(cuda.utilization(i)) for i in used) / len(used) if used else nan
        except Exception:  # it needs pynvml
            return nan
