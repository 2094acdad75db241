#!/bin/sh
# Sets up a Debian 12 machine and runs one job; every step prints one line, with its seconds.
#   sh cmake/bootstrap.sh demo   trains the frequency filter, prints its table, names its plots
#   sh cmake/bootstrap.sh test   builds and passes the tests with g++ 12 and clang++ 19
# Only what is missing is installed, as root or by sudo. What a step prints is kept in build/*.log.
set -eu
CDPATH='' cd -- "$(dirname "$0")/.."

tools="cmake ninja-build g++-12"
headers="libxsimd-dev libboost1.81-dev libxtensor-dev nlohmann-json3-dev
         libyaml-cpp-dev libcli11-dev libsqlite3-dev zlib1g-dev
         libpcre2-dev libutf8proc-dev libncurses-dev"
case "${1-}" in
  demo) needed="$tools $headers gnuplot-nox" ;;
  test) needed="$tools $headers catch2 python3 python3-venv git gnuplot-nox
                clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19
                libbenchmark-dev libeigen3-dev
                gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib
                qemu-system-arm chromium prometheus" ;;
  *) sed -n '2,5s/^# *//p' cmake/bootstrap.sh >&2; exit 2 ;;
esac
mkdir -p build
cores=$(getconf _NPROCESSORS_ONLN)
: "${CTEST_PARALLEL_LEVEL:=$cores}" "${CMAKE_BUILD_PARALLEL_LEVEL:=$cores}"
export CTEST_PARALLEL_LEVEL CMAKE_BUILD_PARALLEL_LEVEL

# step <name> <command>...: the output goes to build/<name>.log, whose end is shown on failure.
step() {
  name=$1; shift
  begun=$(date +%s)
  if "$@" >"build/$name.log" 2>&1 </dev/null; then
    printf '%-10s %4d s\n' "$name" "$(($(date +%s) - begun))"
  else
    printf '%-10s %4d s, failed; the end of build/%s.log:\n' \
      "$name" "$(($(date +%s) - begun))" "$name"
    tail -n 60 "build/$name.log"
    exit 1
  fi
}

install_packages() {
  [ "$(id -u)" = 0 ] && sudo= || sudo=sudo
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086  # the list is meant to be split
  $sudo apt-get update &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

missing=
for package in $needed; do
  case "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || :)" in
    installed) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -z "$missing" ] || step packages install_packages

# The device compiler: one that the machine has, or PyPI's, in build/nvcc.
install_nvcc() {
  python3 -m venv build/nvcc &&
    build/nvcc/bin/pip install -r tests/targets/cuda/requirements.txt &&
    cp tests/targets/cuda/requirements.txt build/nvcc/installed.txt
}
if [ "$1" = test ] && ! cmp -s tests/targets/cuda/requirements.txt build/nvcc/installed.txt &&
  ! PATH="$PATH:/usr/local/cuda/bin" nvcc --version 2>/dev/null | grep -q 'release 13'; then
  step nvcc install_nvcc
fi

# What reads the files that are written here, from PyPI, in build/readers: it comes while tests are
# built, which wait for it before they run.
install_readers() {
  build/readers/bin/pip install -r tests/readers/requirements.txt &&
    cp tests/readers/requirements.txt build/readers/installed.txt
}
readers=
if [ "$1" = test ] && ! cmp -s tests/readers/requirements.txt build/readers/installed.txt; then
  step venv python3 -m venv build/readers
  step readers install_readers &
  readers=$!
fi
build_and_test() {
  cmake --preset "$1" && cmake --build --preset "$1" || return
  [ -z "$readers" ] || wait "$readers" || return
  readers=
  ctest --preset "$1"
}

case "$1" in
  demo)
    step configure cmake --preset demo
    step build cmake --build --preset demo --target frequency
    frequency=build/demo/examples/frequency/frequency
    step training "$frequency" train --mode stateful --seed 1 --output build/demo/frequency
    step plots "$frequency" plot build/demo/frequency
    sed -n '/^best of epoch/,$p' build/training.log
    cat build/plots.log
    ;;
  test)
    for compiler in gcc clang; do
      step "$compiler" build_and_test "$compiler"
      grep -E 'tests passed|^Total Test time' "build/$compiler.log"
    done
    ;;
esac
