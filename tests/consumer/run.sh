#!/usr/bin/env bash
# Installs the library into the build tree and builds and runs a program that uses it, found by find_package and by
# pkg-config.
#   run.sh BUILD_FOLDER MODEL.xml [COMPILER_FLAG...]      a sanitized library needs its program sanitized too
set -euo pipefail
build=$1 model=$2
export CXXFLAGS="${*:3}"
source=$(dirname "${BASH_SOURCE[0]}")
prefix=$build/installed
rm -rf "$prefix" "$build/consumer"
cmake --install "$build" --prefix "$prefix" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ovir.pc)")
export PKG_CONFIG_PATH
for by_pkg_config in OFF ON; do
  cmake -G Ninja -S "$source" -B "$build/consumer/$by_pkg_config" -DBY_PKG_CONFIG=$by_pkg_config \
    -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$build/consumer/$by_pkg_config" >/dev/null
  "$build/consumer/$by_pkg_config/consumer" "$model"
done
# The program that lib/README.md shows.
sed -n '/^```cpp$/,/^```$/{/^```/!p}' "$source/../../lib/README.md" >"$build/consumer/readme.cpp"
read -ra flags <<<"$(pkg-config --cflags --libs ovir)"
read -ra more <<<"$CXXFLAGS"
flags+=("${more[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir ovir)")
c++ "$build/consumer/readme.cpp" "${flags[@]}" -o "$build/consumer/readme"
"$build/consumer/readme" "$model"
