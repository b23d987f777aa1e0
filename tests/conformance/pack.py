#!/usr/bin/env python3
"""Chooses the part of the corpus that travels with the repository and packs it: data/<kind>/<group>.tgz.

  pack.py CORPUS      (the folder that holds cases/, shapes/ and negative/)

All core cases of the seed operations, the smallest of the others: one of static shape, one dynamic, one more where
there are. The same corpus gives the same bytes.
"""
import collections, gzip, io, json, re, shutil, sys, tarfile
from pathlib import Path

SEEDS = ("Roll", "StridedSlice", "GatherElements", "Reshape")


def size(folder):
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def pack(target, root, folders):
    """The folders as one archive with nothing in it that depends on the day or the machine."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(f for folder in folders for f in folder.rglob("*") if f.is_file()):
            entry = tarfile.TarInfo(str(path.relative_to(root)))
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(buffer.getvalue(), 9, mtime=0))


def choose(cases, tiers):
    """The smallest of static and of dynamic shapes, and the smallest that is neither of them."""
    ranked = sorted(cases, key=lambda c: (tiers[c] != "core", size(c), c.name))
    dynamic = [c for c in ranked if "dyn" in c.name][:1]
    static = [c for c in ranked if "dyn" not in c.name and "empty" not in c.name][:2]
    return static + dynamic


def main():
    corpus, data = Path(sys.argv[1]), Path(__file__).parent / "data"
    shutil.rmtree(data, ignore_errors=True)
    tiers = {corpus / "cases" / line.split("\t")[0]: line.split("\t")[7]
             for line in (corpus / "cases" / "INDEX.tsv").read_text().splitlines()[1:]}
    for group in sorted(p for p in (corpus / "cases").iterdir() if p.is_dir()):
        cases = [c for c in group.iterdir() if (c / "expected").exists()]
        seed = group.name.split("-")[0] in SEEDS
        chosen = [c for c in cases if tiers[c] == "core" and size(c) < 20000] if seed else choose(cases, tiers)
        if chosen:
            pack(data / "cases" / f"{group.name}.tgz", corpus / "cases", chosen)
    shapes = []
    for group in sorted(p for p in (corpus / "shapes").iterdir() if p.is_dir()):
        cases = sorted(group.iterdir(), key=lambda c: (size(c), c.name))
        shapes += cases if group.name.split("-")[0] in SEEDS else cases[:1]
    pack(data / "shapes" / "shapes.tgz", corpus / "shapes", shapes)
    # One of each kind of fault: the name's last words.
    kinds = collections.defaultdict(list)
    for case in sorted(p for p in (corpus / "negative").iterdir() if p.is_dir()):
        reason = json.loads((case / "why.json").read_text())["reason"]
        kinds[re.sub(r"[\W\d]+", " ", reason)[:30]].append(case)
    smallest = [min(cases, key=lambda c: (size(c), c.name)) for cases in kinds.values()]
    pack(data / "negative" / "negative.tgz", corpus / "negative", smallest)


if __name__ == "__main__":
    main()
