# shellcheck shell=bash disable=SC2034
# What building ovir needs on Debian 12 or 13. Sourced by samples/run.sh and tests/run.sh:
#   ensure_packages "${build_packages[@]}" "${test_packages[@]}"

build_packages=(
  g++ cmake ninja-build pkg-config ccache
  libpugixml-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev zlib1g-dev
  libdnnl-dev libre2-dev libspng-dev libturbojpeg0-dev
)
test_packages=(catch2 python3-jsonschema)

# Installs those of the named packages that are missing, and touches nothing when all are there.
ensure_packages() {
  local package missing=() as_root=()
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: the equivalents of these packages must be installed: $*" >&2
    return
  fi
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { echo "run this as root once, to install: ${missing[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}
