#!/usr/bin/env bash
# Holds the C++ sources to .clang-format. Skipped (exit 77) without clang-format 14: other versions format differently.
#   format.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
for tool in clang-format-14 clang-format; do
  if command -v "$tool" >/dev/null && [[ $("$tool" --version) == *"version 14."* ]]; then
    find lib app tests -name '*.cpp' -o -name '*.hpp' -o -name '*.inl' | xargs "$tool" --dry-run --Werror
    exit
  fi
done
echo "skipped: clang-format 14 was not found; on Debian 12: apt-get install clang-format-14"
exit 77
