#!/usr/bin/env bash
# Installs what is missing (Debian 12 or 13, as root or with sudo), builds ovir with its tests, and runs them all.
#   tests/run.sh [OPTIONS OF CTEST]      e.g. -L fast
# The counts are left in build/ci/tests.xml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=samples/setup.sh
source samples/setup.sh

ensure_packages "${build_packages[@]}" "${test_packages[@]}"
rm -f build/ci/tests.xml
cmake --preset ci
cmake --build --preset ci
ctest --preset ci --parallel 2 --output-on-failure --output-junit tests.xml "$@"
