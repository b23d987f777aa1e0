#!/usr/bin/env python3
"""Times of ovir against OpenVINO, alternating in the same run.

  compare.py                                  the nets of nets.py, one-shot and steady
  compare.py FOLDER...                        other models: folders with model.xml, model.bin and inputs/<parameter>.npy
  compare.py --only resnet50,unet --steady    some, and only one of the two tables
  compare.py --threads 1 --processor          processor time instead of the clock's: for a busy machine

one-shot: from the start of the process to its end, outputs written; OpenVINO from read_model to the outputs, in a
process of its own whose start and imports are not counted, which favors it.
steady:   an inference after many; `ovir bench` and OpenVINO's infer() take turns, half a second each.
Ratios are OpenVINO / ovir: above 1 ovir is the faster. The outputs of both are compared first: `apart` is the largest
difference, as a part of the largest value.

Makes a virtual environment with openvino and numpy (--venv) where this Python has none.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent

RIVAL = """
import sys, time, json, numpy as np, openvino as ov
folder, threads, precision, results = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
inputs = {name: np.load(f"{folder}/inputs/{name}.npy") for name in sys.argv[5:]}
start = time.perf_counter(), time.process_time()
core = ov.Core()
core.set_property("CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1})
if precision:
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": precision})
model = core.read_model(f"{folder}/model.xml")
request = core.compile_model(model, "CPU").create_infer_request()
for port in model.inputs:
    for name in [*port.names, port.node.friendly_name]:
        if name in inputs:
            request.set_tensor(port, ov.Tensor(inputs[name]))
            break
request.infer()
print(time.perf_counter() - start[0], time.process_time() - start[1], flush=True)
for i, port in enumerate(model.outputs):
    if results:
        np.save(f"{results}/{i}.npy", request.get_output_tensor(i).data)
print("ready", flush=True)
for line in sys.stdin:                       # seconds to measure for
    times, processor, end = [], time.process_time(), time.perf_counter() + float(line)
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        request.infer()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"times": times, "processor": (time.process_time() - processor) / len(times)}), flush=True)
"""


class Rival:
    """OpenVINO in a process of its own; after its first inference it measures when asked."""
    def __init__(self, python, folder, names, options, results=""):
        command = [python, "-c", RIVAL, str(folder), str(options.threads), options.rival_precision, str(results),
                   *names]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        clock, processor = map(float, self.process.stdout.readline().split())
        self.once = processor if options.processor else clock
        self.process.stdout.readline()

    def measure(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def given(folder, names):
    return [word for name in names for word in ("-i", f"{name}=@{folder}/inputs/{name}.npy")]


def once(folder, names, options, results, *more):
    command = [options.ovir, "run", f"{folder}/model.xml", "-q", "--threads", str(options.threads), "-o", f"{results}/",
               *given(folder, names), *more]
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
    clock = time.perf_counter() - start
    return usage.ru_utime + usage.ru_stime if options.processor else clock, usage.ru_maxrss / 1024


def bench(folder, names, options, seconds):
    command = [options.ovir, "bench", f"{folder}/model.xml", "-q", "--threads", str(options.threads), "--format",
               "json", "-t", str(seconds), *given(folder, names)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def apart(mine, theirs):
    import numpy as np
    worst = 0.0
    for path in sorted(Path(theirs).glob("*.npy")):
        a, b = np.load(Path(mine) / path.name).astype(np.float64), np.load(path).astype(np.float64)
        if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return float("inf")
        both = np.isfinite(a)
        if both.any():
            worst = max(worst, np.abs(a - b)[both].max() / max(np.abs(b[both]).max(), 1e-30))
    return worst


def table(title, rows, columns):
    print(f"\n{title}\n| net | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |")


def compare_once(python, folders, options):
    rows, ratios = [], []
    for folder, names in folders:
        mine, memory, theirs = [], [], []
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            for _ in range(options.rounds):
                seconds, megabytes = once(folder, names, options, a)
                mine.append(seconds)
                memory.append(megabytes)
                rival = Rival(python, folder, names, options, b)
                theirs.append(rival.once)
                rival.close()
            difference = apart(a, b)
        ratios.append(min(theirs) / min(mine))
        rows.append((folder.name, (f"{min(mine) * 1e3:.1f}", f"{min(theirs) * 1e3:.1f}", f"**{ratios[-1]:.2f}**",
                                   f"{statistics.median(theirs) / statistics.median(mine):.2f}",
                                   f"{max(memory):.0f}", f"{difference:.0e}")))
        print("one-shot", *rows[-1][1], rows[-1][0], file=sys.stderr, flush=True)
    table("One-shot", rows, ("ovir ms", "OpenVINO ms", "ratio of minima", "of medians", "ovir MB", "apart"))
    print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")


def compare_steady(python, folders, options):
    rows, ratios = [], []
    for folder, names in folders:
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            once(folder, names, options, f"{a}/{{step}}", "--steps", "2")   # planned as for many
            rival = Rival(python, folder, names, options, b)
            difference = apart(f"{a}/1", b)
            mine, theirs = [], []
            for _ in range(options.rounds):
                mine.append(bench(folder, names, options, 1))
                theirs.append(rival.measure(1))
            rival.close()
        if options.processor:
            a, b = [m["processor_ms"] for m in mine], [t["processor"] * 1e3 for t in theirs]
            own, rivals = (min(a), statistics.median(a)), (min(b), statistics.median(b))
        else:
            times = [t * 1e3 for each in theirs for t in each["times"]]
            own = min(m["min_ms"] for m in mine), statistics.median(m["median_ms"] for m in mine)
            rivals = min(times), statistics.median(times)
        ratios.append(rivals[0] / own[0])
        rows.append((folder.name, (f"{own[0]:.2f}", f"{rivals[0]:.2f}", f"**{ratios[-1]:.2f}**",
                                   f"{rivals[1] / own[1]:.2f}", f"{difference:.0e}")))
        print("steady", *rows[-1][1], rows[-1][0], file=sys.stderr, flush=True)
    table("Steady", rows, ("ovir ms", "OpenVINO ms", "ratio of minima", "of medians", "apart"))
    print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")


def python_with_openvino(venv):
    for python in sys.executable, str(venv / "bin" / "python"):
        if Path(python).exists() and not subprocess.run([python, "-c", "import openvino, numpy"],
                                                        stderr=subprocess.DEVNULL).returncode:
            return python
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    python = str(venv / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "openvino==2026.4.1", "numpy"], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--ovir", default=str(HERE.parents[1] / "build/release/app/ovir"))
    parser.add_argument("--nets", type=Path, default=HERE.parents[1] / "build/nets", help="where nets.py writes")
    parser.add_argument("--venv", type=Path, default=HERE.parents[1] / "build/venv")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rival-precision", default="f32", help="OpenVINO's precision hint; '': its own default")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--one-shot", action="store_true")
    parser.add_argument("--steady", action="store_true")
    options = parser.parse_args()
    python = python_with_openvino(options.venv)
    if os.path.realpath(python) != os.path.realpath(sys.executable) and "OVIR_COMPARE" not in os.environ:
        os.execve(python, [python, *sys.argv], {**os.environ, "OVIR_COMPARE": "1"})
    only = [name for name in options.only.split(",") if name]
    folders = options.folders
    if not folders:
        import nets
        wanted = only or list(nets.NETS)
        missing = [name for name in wanted if not (options.nets / name / "model.xml").exists()]
        if missing:
            subprocess.run([python, str(HERE / "nets.py"), str(options.nets), *missing], check=True)
        folders = [options.nets / name for name in wanted]
    chosen = []
    for folder in folders:
        names = sorted(path.stem for path in (folder / "inputs").glob("*.npy"))
        if names and (not only or folder.name in only):   # models with state have their inputs by step
            chosen.append((folder, names))
    if not chosen:
        sys.exit("no net to compare")
    if not options.steady:
        compare_once(python, chosen, options)
    if not options.one_shot:
        compare_steady(python, chosen, options)


if __name__ == "__main__":
    main()
