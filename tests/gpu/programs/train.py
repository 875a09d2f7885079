# SPDX-License-Identifier: MIT
"""A small torch training on the GPU, for `tests/gpu`: prints one line of JSON about itself.

    train.py STEPS [--profile FROM UNTIL]     with torch.profiler over these steps
    train.py STEPS --workers N                with DataLoader workers
"""
import argparse
import json
import os
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def model():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3), torch.nn.ReLU(),
                               torch.nn.Flatten(), torch.nn.Linear(64 * 28 * 28, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))


def profiled(prof):
    """Count and microseconds of the kernels that torch.profiler saw; its ranges ("Optimizer.step#SGD.step") are on the device, too."""
    kernels = [e for e in prof.events() if e.device_type == torch.autograd.DeviceType.CUDA and "mem" not in e.name.lower() and
               not getattr(e, "is_user_annotation", False)]
    return {"kernels": len(kernels), "kernel_us": sum(e.device_time for e in kernels)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("--profile", type=int, nargs=2)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(256, 3, 32, 32), torch.randint(0, 10, (256,)))
    loader = DataLoader(data, batch_size=64, num_workers=args.workers, persistent_workers=args.workers > 0)
    net, loss_of = model().cuda(), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    out, prof, step = {"pid": os.getpid()}, None, 0
    begin = cpu = None
    while step < args.steps:
        for images, labels in loader:
            if step == min(20, args.steps // 2):  # warm by now
                torch.cuda.synchronize()
                begin, cpu = time.perf_counter(), time.process_time()
            if args.profile and step == args.profile[0]:
                torch.cuda.synchronize()
                prof = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA])
                prof.start()
            if args.profile and step == args.profile[1]:
                torch.cuda.synchronize()
                prof.stop()
                out["profiler"] = profiled(prof)
            optimizer.zero_grad()
            loss = loss_of(net(images.cuda()), labels.cuda())
            loss.backward()
            optimizer.step()
            step += 1
            if step == args.steps:
                break
    torch.cuda.synchronize()
    out.update(steps=step, wall_s=time.perf_counter() - begin, cpu_s=time.process_time() - cpu, loss=float(loss))
    print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
