# SPDX-License-Identifier: MIT
"""What ran and beside what: the processor, its caches, its instruction set and who else works."""
import os
import pathlib
import subprocess
import time

LEVELS = {"x86-64-v2": "SSE4.2", "x86-64-v3": "AVX2", "x86-64-v4": "AVX-512"}


def flags():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split())
    return set()


def processor():
    said = {}
    for line in subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines():
        key, _, value = line.partition(":")
        said[key.strip()] = value.strip()
    return (f"{said.get('Model name', 'unknown')} (family {said.get('CPU family', '?')}, model "
            f"{said.get('Model', '?')}), {os.cpu_count()} cores")


def caches():
    found = []
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip()
                             for name in ("level", "type", "size"))
        found.append(f"L{level}{'' if kind == 'Unified' else kind[0].lower()} {size}")
    return ", ".join(found)


def siblings(thread, root=pathlib.Path("/sys/devices/system/cpu")):
    """The threads of a thread's core."""
    file = root / f"cpu{thread}" / "topology" / "thread_siblings_list"
    if not file.exists():
        return {thread}
    found = set()
    for part in file.read_text().strip().split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def apart(allowed, siblings_of=siblings):
    """The allowed threads; the last ones are one of each core."""
    one_of_each = {max(siblings_of(thread) & set(allowed)) for thread in allowed}
    return sorted(set(allowed) - one_of_each) + sorted(one_of_each)


def threads(used, siblings_of=siblings):
    """On what is measured, and whether cores have several threads."""
    smt = max(len(siblings_of(thread)) for thread in used)
    cores = len({min(siblings_of(thread)) for thread in used})
    return (f"{', '.join(map(str, used))} of {cores} core{'s' if cores > 1 else ''}, SMT "
            f"{f'on, {smt} threads a core' if smt > 1 else 'off'}")


def cached(build, variable):
    """A variable of CMake's cache."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(variable + ":"):
            return line.split("=", 1)[1]
    return ""


def level(build):
    """The instruction set that the programs are built for."""
    asked = cached(build, "TESSERA_ARCH")
    if asked in LEVELS:
        return asked
    has = flags()
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= has:
        return "x86-64-v4"
    return "x86-64-v3" if {"avx2", "fma", "bmi2"} <= has else "x86-64-v2"


def compiler(build):
    name = cached(build, "CMAKE_CXX_COMPILER")
    return subprocess.run([name, "--version"], capture_output=True, text=True).stdout.split("\n")[0]


class Others:
    """Processor time that other processes take, in cores."""

    def __init__(self):
        self.tick = os.sysconf("SC_CLK_TCK")
        self.restart()

    def _busy(self):
        user, nice, system, _, _, irq, soft, steal = (
            int(n) for n in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
        own = os.times()
        return ((user + nice + system + irq + soft + steal) / self.tick -
                own.user - own.system - own.children_user - own.children_system)

    def restart(self):
        self.busy, self.at = self._busy(), time.time()

    def cores(self):
        """Since the last restart; what children did counts when they have ended."""
        return max(0.0, (self._busy() - self.busy) / max(1e-3, time.time() - self.at))


def load_now(seconds=2.0):
    others = Others()
    time.sleep(seconds)
    return others.cores()
