#!/usr/bin/env python3
"""Times of ovir against OpenVINO, alternating in the same run, as one table.

  compare.py                                  the nets of nets.py: one-shot, memory and steady state
  compare.py FOLDER...                        other models: folders with model.xml, model.bin and the inputs,
                                              inputs/<parameter>.npy or, of a model with states or open
                                              sizes, inputs/<step>/<parameter>.npy
  compare.py --only resnet50,unet --steady    some, and only a part of the table
  compare.py --threads 1 --processor          processor time instead of the clock's: for a machine that others use
  compare.py --busy                           while other processes keep all cores busy; see `slower` below
  compare.py --precision bf16                 ovir with --precision bf16, OpenVINO at its own default
  compare.py --onnxruntime                    also onnxruntime, where onnx_rival.py exports the net, always in f32

one-shot: from the start of the process to its end, outputs written; MB: the peak of its resident memory.
steady:   an inference after many, `ovir bench` and OpenVINO taking turns; of models with states tokens a second, of
          others with inputs by step the mean of all steps.
ready:    of the same plan for many inferences, from the model's file to the end of the first one (of the first steps).
onnxruntime: an inference of onnxruntime by one of ovir, taking turns with both.
slower:   with --busy: the time of an inference by that on the quiet machine, of ovir and of OpenVINO. Of single runs
          also how many ms more: most of OpenVINO's is computed by one thread, which other work hinders less.
Ratios are rival / ovir, above 1 ovir is the better; of minima, in brackets of medians. OpenVINO is stopped where a
single run takes it over a minute and over 100 times as long: then the ratio is "> 100", and not in the mean.
`apart`: the largest difference of the outputs of both, as a part of the largest value.

OpenVINO runs through its C++ API (rival.cpp), built here against its wheel, onnxruntime in this Python; both are
installed in a virtual environment (--venv) where this Python has none.
"""
import argparse, ast, json, os, signal, statistics, subprocess, sys, tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"

# A small process that starts a program and reports on it: the peak of a process counts that of what it was forked from.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
null = os.open(os.devnull, os.O_WRONLY)
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, usage = os.wait4(process, 0)
print(os.waitstatus_to_exitcode(status), time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


class Net:
    """A model and its inputs by step."""
    def __init__(self, folder, steps=None):
        self.name, self.model = folder.name, folder / "model.xml"
        inputs = folder / "inputs"
        numbered = sorted((p for p in inputs.glob("*") if p.is_dir() and p.name.isdigit()), key=lambda p: int(p.name))
        self.by_step = bool(numbered)
        # By parameter, whose name may have slashes in it.
        self.steps = [{str(path.relative_to(step).with_suffix("")): path for path in sorted(step.rglob("*.npy"))}
                      for step in numbered or [inputs]]
        self.words = []
        for name in self.steps[0]:
            self.words += ["-i", f"{name}=@{inputs}/{'{step}/' if numbered else ''}{name}.npy"]

    def lines(self):
        """The steps as rival.cpp reads them."""
        lines = []
        for step in self.steps:
            lines.append("step")
            for name, path in step.items():
                with open(path, "rb") as file:   # a .npy of version 1
                    head = file.read(10)
                    offset = 10 + int.from_bytes(head[8:10], "little")
                    about = ast.literal_eval(file.read(offset - 10).decode())
                kind = {"f": "f", "i": "i", "u": "u", "b": "boolean"}[about["descr"][1]]
                kind = kind if kind == "boolean" else f"{kind}{8 * int(about['descr'][2:])}"
                lines.append(f"{name}\t{kind}\t{','.join(map(str, about['shape']))}\t{path}\t{offset}")
        return "\n".join([*lines, "go", ""])


class Processes:
    """Both programs, with the options of the comparison."""
    def __init__(self, options, rival):
        self.options, self.rival = options, rival

    def how(self, net):
        """--precision for ovir and OpenVINO's hint."""
        precision = self.options.precision
        if "int8" in net.name and precision == "f32" and self.options.int8:
            precision = "int8"
        hint = "f32" if self.options.precision == "f32" else ""
        return (["--precision", precision] if precision != "f32" else []), hint

    def ovir(self, command, net, *more):
        steps = ["--steps", str(len(net.steps))] if net.by_step else []
        return [self.options.ovir, command, str(net.model), "-q", "--threads", str(self.options.threads), *net.words,
                *steps, *self.how(net)[0], *more]

    def openvino(self, net, results):
        return [self.rival, str(net.model), str(self.options.threads), self.how(net)[1], str(results)]

    def once(self, command, text="", limit=None):
        """Seconds from start to end, and the peak of the memory in MB; None where it took more than `limit` seconds."""
        process = subprocess.Popen([sys.executable, "-I", "-S", "-c", LAUNCHER, *command], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        try:
            printed, _ = process.communicate(text, limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
        status, clock, processor, memory = map(float, printed.split())
        if status:
            raise RuntimeError(f"{' '.join(command)}: exit {status:.0f}")
        return processor if self.options.processor else clock, memory / 1024


def outputs_of_rival(folder):
    import numpy as np
    for path in sorted(Path(folder).glob("*.txt")):
        kind, *dims = path.read_text().split()
        kinds = {"f32": "f4", "f16": "f2", "f64": "f8", "boolean": "?", "bf16": "u2"}
        dtype = np.dtype(kinds.get(kind, kind[0] + str(int(kind[1:]) // 8) if kind[1:].isdigit() else "u1"))
        yield path.stem, np.fromfile(path.with_suffix(".raw"), dtype).reshape([int(d) for d in dims])


def apart(mine, theirs):
    import numpy as np
    worst = 0.0
    for name, b in outputs_of_rival(theirs):
        a, b = np.load(Path(mine) / f"{name}.npy").astype(np.float64), b.astype(np.float64)
        if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return float("inf")
        both = np.isfinite(a)
        if both.any():
            worst = max(worst, np.abs(a - b)[both].max() / max(np.abs(b[both]).max(), 1e-30))
    return worst


def one_shot(net, run):
    """The cells of a row, and the ratio."""
    mine, theirs, busy = [], [], []
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
        command = run.ovir("run", net, "-o", f"{a}/{{step}}/" if net.by_step else f"{a}/")
        for _ in range(run.options.rounds):
            mine.append(run.once(command))
            limit = max(60, 100 * mine[-1][0])
            theirs.append(run.once(run.openvino(net, b), net.lines(), limit))
            if theirs[-1] is None:
                return {"one-shot": f"**> {limit / mine[-1][0]:.0f}**",
                        "ms": f"{mine[-1][0] * 1e3:.1f} / > {limit * 1e3:.0f}", "MB": f"{mine[-1][1]:.0f} /"}, {}
        difference = apart(f"{a}/{len(net.steps) - 1}" if net.by_step else a, b)
        if run.options.busy:
            with Busy():
                busy = [(run.once(command)[0], run.once(run.openvino(net, b), net.lines())[0])
                        for _ in range(run.options.rounds)]
    (own, own_memory), (rivals, memory) = (map(list, zip(*times)) for times in (mine, theirs))
    ratio = min(rivals) / min(own)
    cells = {"one-shot": f"**{ratio:.2f}** ({statistics.median(rivals) / statistics.median(own):.2f})",
             "ms": f"{min(own) * 1e3:.1f} / {min(rivals) * 1e3:.1f}",
             "MB": f"{max(own_memory):.0f} / {max(memory):.0f}",
             "memory": f"{max(own_memory) / max(memory):.2f}",
             "apart": f"{difference:.0e}"}
    if busy:
        cells["one-shot slower"] = " / ".join(slower(b, q) for b, q in zip(map(list, zip(*busy)), (own, rivals)))
    return cells, {"one-shot": ratio, "memory": max(own_memory) / max(memory)}


def slower(busy, quiet):
    """Medians of seconds: by how much, and how many times."""
    more = statistics.median(busy) - statistics.median(quiet)
    return f"+{more * 1e3:.0f} ms ({1 + more / statistics.median(quiet):.1f})"


class Rival:
    """OpenVINO, compiled and ready to measure when asked."""
    def __init__(self, net, run, results):
        self.process = subprocess.Popen(run.openvino(net, results), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.process.stdin.write(net.lines())
        self.process.stdin.flush()
        self.ready_ms = float(self.process.stdout.readline() or "nan") * 1e3

    def measure(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        processor, tokens, *times = map(float, self.process.stdout.readline().split())
        return {"min_ms": min(times) * 1e3, "median_ms": statistics.median(times) * 1e3,
                "processor_ms": processor * 1e3, "per_second": len(times) / sum(times),
                **({"tokens_per_second": tokens} if tokens else {})}

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def taking_turns(net, run, rivals, rounds):
    """Results of ovir, and of each rival."""
    mine, theirs = [], [[] for _ in rivals]
    for _ in range(rounds):
        command = run.ovir("bench", net, "--format", "json", "-t", str(run.options.seconds))
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(result.stderr)
        mine.append(json.loads(result.stdout))
        for rival, results in zip(rivals, theirs):
            results.append(rival.measure(run.options.seconds))
    return mine, *theirs


def best(results, options, by_step):
    """What the ratios are of, the smaller the better: of the best and of the median round."""
    if options.processor:
        values = [r["processor_ms"] for r in results]
    elif by_step:  # steps differ in size: all of them count
        values = [1e3 / r.get("tokens_per_second", r["per_second"]) for r in results]
    else:
        return min(r["min_ms"] for r in results), statistics.median(r["median_ms"] for r in results)
    return min(values), statistics.median(values)


class Busy:
    """A process for each core that computes all the time."""
    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def onnxruntime_of(net, run):
    """The net in onnxruntime, in a list, which is empty where it is not asked for or not exported."""
    if not run.options.onnxruntime or net.by_step:
        return []
    import onnx_rival
    try:
        return [onnx_rival.Onnxruntime(net, run.options.threads)]
    except onnx_rival.NotExported as error:
        print(f"{net.name}: no onnxruntime: {error}", file=sys.stderr)
        return []


def steady(net, run):
    options = run.options
    with tempfile.TemporaryDirectory() as b:
        rival = Rival(net, run, b)
        mine, *theirs = taking_turns(net, run, [rival, *onnxruntime_of(net, run)], options.rounds)
        quiet, others = [best(r, options, net.by_step) for r in (mine, theirs[0])], theirs[1:]
        cells = {}
        if options.busy:
            with Busy():
                busy = [best(r, options, net.by_step) for r in taking_turns(net, run, [rival], options.rounds)]
            cells["slower"] = " / ".join(f"{b[1] / q[1]:.1f}" for b, q in zip(busy, quiet))
        rival.close()
    (own, own_median), (rivals, median) = quiet
    cells["steady"] = f"**{rivals / own:.2f}** ({median / own_median:.2f})"
    by_token = "tokens_per_second" in mine[0] and not options.processor
    unit = (lambda ms: f"{1e3 / ms:.0f} tokens/s") if by_token else "{:.2f}".format
    cells["ms an inference"] = f"{unit(own)} / {unit(rivals)}"
    ready = statistics.median(r["load_ms"] + r["compile_ms"] + r["first_ms"] for r in mine)
    cells["ready"] = f"**{rival.ready_ms / ready:.2f}**"
    cells["ms to the first"] = f"{ready:.0f} / {rival.ready_ms:.0f}"
    ratios = {"steady": rivals / own, "ready": rival.ready_ms / ready}
    for result in others:
        third, third_median = best(result, options, net.by_step)
        ratios["onnxruntime"] = third / own
        cells["onnxruntime"] = f"**{third / own:.2f}** ({third_median / own_median:.2f})"
    return cells, ratios


def python_with_rivals(venv, onnxruntime):
    """A Python that has them: this one, or that of `venv`, into which they are installed."""
    wanted = {"openvino": "openvino==2026.4.1", "numpy": "numpy"}
    if onnxruntime:
        wanted.update({"onnx": "onnx==1.23.2", "onnxruntime": "onnxruntime==1.31.1"})
    own = str(venv / "bin" / "python")
    for python in sys.executable, own:
        if Path(python).exists() and not subprocess.run([python, "-c", f"import {', '.join(wanted)}"],
                                                        stderr=subprocess.DEVNULL).returncode:
            return python
    if not Path(own).exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    subprocess.run([own, "-m", "pip", "install", "-q", *wanted.values()], check=True)
    return own


def build_rival():
    import openvino
    wheel, source, program = Path(openvino.__file__).parent, HERE / "rival.cpp", BUILD / "rival"
    library = next((wheel / "libs").glob("libopenvino.so.*"))
    if not program.exists() or program.stat().st_mtime < max(source.stat().st_mtime, library.stat().st_mtime):
        program.parent.mkdir(exist_ok=True)
        subprocess.run(["c++", "-std=c++17", "-O1", f"-I{wheel}/include", str(source), str(library),
                        f"-Wl,-rpath,{wheel}/libs", "-o", str(program)], check=True)
    return str(program)


def nets_of(options, python):
    folders = options.folders
    only = [name for name in options.only.split(",") if name]
    if not folders:
        import nets
        known = [*nets.NETS, "chain"]
        wanted = [name for name in only or known if name in known]
        missing = [name for name in wanted if not (options.nets / name / "model.xml").exists()]
        if missing:
            subprocess.run([python, str(HERE / "nets.py"), str(options.nets), *missing], check=True)
        folders = [options.nets / name for name in wanted]
    return [Net(folder) for folder in folders if not only or folder.name in only]


def table(rows, columns):
    print(f"| net | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells.get(column, '') for column in columns)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--ovir", default=str(BUILD / "release/app/ovir"))
    parser.add_argument("--nets", type=Path, default=BUILD / "nets", help="where nets.py writes")
    parser.add_argument("--venv", type=Path, default=BUILD / "venv")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="of a round of the steady state")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="f32", help="f32, or bf16 or int8 against OpenVINO's default")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--onnxruntime", action="store_true")
    parser.add_argument("--one-shot", action="store_true")
    parser.add_argument("--steady", action="store_true")
    options = parser.parse_args()
    options.ovir = os.path.abspath(options.ovir)
    python = python_with_rivals(options.venv, options.onnxruntime)
    if os.path.realpath(python) != os.path.realpath(sys.executable) and "OVIR_COMPARE" not in os.environ:
        os.execve(python, [python, *sys.argv], {**os.environ, "OVIR_COMPARE": "1"})
    words = subprocess.run([options.ovir, "help", "bench"], capture_output=True, text=True).stdout
    options.int8 = "int8" in words
    run = Processes(options, build_rival())
    rows, ratios = [], {}
    for net in nets_of(options, python):
        cells = {}
        for part, wanted in (one_shot, not options.steady), (steady, not options.one_shot and net.name != "chain"):
            if not wanted:
                continue
            try:
                more, numbers = part(net, run)
            except (RuntimeError, OSError, ValueError) as error:   # one of both that ended
                more, numbers = {}, {}
                print(f"{net.name}: {error}", file=sys.stderr)
            cells.update(more)
            for column, ratio in numbers.items():
                ratios.setdefault(column, []).append(ratio)
        rows.append((net.name, cells))
        print(net.name, *(f"{k}: {v}" for k, v in cells.items()), sep="  ", file=sys.stderr, flush=True)
    if not rows:
        sys.exit("no net to compare")
    means = {column: f"**{statistics.geometric_mean(values):.2f}**" for column, values in ratios.items()}
    columns = [c for c in ("one-shot", "ms", "memory", "MB", "steady", "ms an inference", "ready",
                            "ms to the first", "onnxruntime", "slower", "one-shot slower", "apart")
               if any(c in cells for _, cells in rows)]
    table([*rows, ("geometric mean", means)], columns)


if __name__ == "__main__":
    main()
