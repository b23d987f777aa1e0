#!/usr/bin/env python3
"""One-shot time of `ovir run` against OpenVINO, alternating in the same run, as ratios.

  bench.py --ovir build/release/app/ovir FOLDER...     (folders with model.xml, model.bin and inputs/<parameter>.npy)

ovir: from the start of the process to its end, outputs written. OpenVINO: from read_model to the outputs in f32 with as
many threads, in a process of its own whose start and imports are not counted, so the comparison favours it.
Needs openvino and numpy. Prints the median of each and the ratio; above 1 ovir is the faster.
"""
import argparse, os, statistics, subprocess, sys, tempfile, time
from pathlib import Path

RIVAL = """
import sys, time, numpy as np, openvino as ov
folder, threads = sys.argv[1], int(sys.argv[2])
names = sys.argv[3:]
inputs = {name: np.load(f"{folder}/inputs/{name}.npy") for name in names}
start = time.perf_counter()
core = ov.Core()
core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads})
model = core.read_model(f"{folder}/model.xml")
by_name = {}
for parameter in model.inputs:
    for name in list(parameter.names) + [parameter.node.friendly_name]:
        by_name[name] = parameter
compiled = core.compile_model(model, "CPU")
def key(port):
    return port.any_name if port.names else port.get_node().get_friendly_name()
compiled({key(by_name[name]): value for name, value in inputs.items()})
print(time.perf_counter() - start)
"""


def ovir_once(ovir, folder, names, threads):
    """Seconds and peak resident megabytes."""
    with tempfile.TemporaryDirectory() as out:
        command = [ovir, "run", f"{folder}/model.xml", "--threads", str(threads), "-o", f"{out}/"]
        for name in names:
            command += ["-i", f"{name}=@{folder}/inputs/{name}.npy"]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
        return time.perf_counter() - start, usage.ru_maxrss / 1024


def rival_once(folder, names, threads):
    command = [sys.executable, "-c", RIVAL, str(folder), str(threads), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--ovir", default="build/release/app/ovir")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print(f"{'model':32} {'ovir ms':>9} {'MB':>6} {'OpenVINO ms':>12} {'ratio':>7}")
    ratios = []
    for folder in options.folders:
        names = sorted(path.stem for path in (folder / "inputs").glob("*.npy"))
        if not names:   # models with state have their inputs by step
            continue
        mine, memory, theirs = [], [], []
        for _ in range(options.rounds):
            seconds, megabytes = ovir_once(options.ovir, folder, names, options.threads)
            mine.append(seconds)
            memory.append(megabytes)
            theirs.append(rival_once(folder, names, options.threads))
        a, b = statistics.median(mine), statistics.median(theirs)
        ratios.append(b / a)
        print(f"{folder.name:32} {a * 1e3:9.1f} {max(memory):6.0f} {b * 1e3:12.1f} {b / a:7.2f}", flush=True)
    if ratios:
        print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
