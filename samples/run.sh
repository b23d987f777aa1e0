#!/usr/bin/env bash
# Installs what is missing (Debian 12 or 13, as root or with sudo), builds ovir, and shows it at work on the samples.
# Fails unless the picture of a seven is recognised, the faulty model refused, and each operation's result as expected.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=samples/setup.sh
source samples/setup.sh

ensure_packages "${build_packages[@]}"
cmake --preset release
cmake --build --preset release

PATH=$PWD/build/release/app:$PATH
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

title() { printf '\n=== %s\n' "$*"; }
fail() { echo "samples/run.sh: $*" >&2; exit 1; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}
# The shape and the values of an .npy file, without what may vary in its header.
npy_content() {
  LC_ALL=C grep -aom 1 '([0-9, ]*)' "$1" | tr -d ' '
  tail -c "+$((11 + $(od -An -tu2 -j8 -N2 "$1")))" "$1"
}

title "which digit is on the picture?"
show ovir run samples/digits/digits.xml -i image=@samples/digits/7.png --top 3 --labels samples/digits/labels.txt |
  tee "$out/top.txt"
read -r recognised < <(tail -n +2 "$out/top.txt" | grep -Fwof samples/digits/labels.txt) ||
  fail "no label among the output"
[[ $recognised == seven ]] || fail "7.png was taken for a $recognised"

title "checking a sound model"
show ovir check samples/digits/digits.xml

title "checking a faulty one"
status=0
show ovir check samples/broken/broken.xml || status=$?
echo "(exit code $status)"
((status == 3)) || fail "ovir check should have left with 3"
show ovir edit samples/broken/broken.xml --fix -o "$out/fixed.xml"
show ovir check "$out/fixed.xml"

title "looking inside: the tensor behind relu2"
show ovir run samples/digits/digits.xml -i image=@samples/digits/7.png --dump relu2 --dump-to "$out/dump/"
show ls -l "$out/dump"
show cat "$out/dump/manifest.json"

# operation NAME INPUT...: runs samples/NAME on its INPUT.npy files and holds the result against expected.npy.
operation() {
  local name=$1 input command=(ovir run "samples/$1/$1.xml")
  for input in "${@:2}"; do
    command+=(-i "$input=@samples/$name/$input.npy")
  done
  title "one operation: $name"
  show "${command[@]}"
  "${command[@]}" -o "$out/$name/"
  cmp <(npy_content "$out/$name/0.npy") <(npy_content "samples/$name/expected.npy") ||
    fail "$name: the output is not what samples/$name/expected.npy holds"
}
operation roll data
operation strided_slice data
operation gather_elements data indices
operation reshape data

title "all results as expected"
echo "7.png was recognised: $recognised"
