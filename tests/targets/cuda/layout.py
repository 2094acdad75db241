# SPDX-License-Identifier: MIT
"""layout.py <object> <file.ptx>...: host and device code mean the same by a body.

nvcc 13 reads a program twice: its own front end makes the device code, the host compiler the host code. Where they
disagree, a GPU computes something else, or finds no kernel. This compares, without a GPU,

- the bodies that the host code of the object launches and those that the device code has: a shape that one of them
  counts otherwise, a specialization that it does not match, is another name. nvcc then leaves the stub of no kernel;
- the bytes of a body on the host, which stand in its kernel's name, and of the parameter that the device reads:
  members that are [[no_unique_address]] lie elsewhere there;
- and that no kernel traps, as one does in place of a call, or of a static array, that device code cannot reach. Those
  that check a number of their input may.
"""
import pathlib
import re
import subprocess
import sys

MAY_TRAP = ("embedding_number", "embedding_slope")
KERNEL = re.compile(r"\.entry (_ZN7tessera6device6detail10gpu_device(?:9run_value|12run_recorded)\w*)\((.*?)\n\)(.*?\n)\}\n", re.S)
failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        if failures < 10:
            print("FAILED:", what)


def matches(pattern, names):
    """The groups of the pattern in demangled names, without the spaces between two `>`."""
    filtered = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    found = [re.match(pattern, name) for name in re.sub("> (?=>)", ">", filtered.stdout).splitlines()]
    return [match.groups() for match in found if match]


symbols = subprocess.run(["nm", sys.argv[1]], capture_output=True, text=True, check=True).stdout
functions = {name.split(".")[0] for name in re.findall(r" [tTwW] (_ZN7tessera6device\S+)$", symbols, re.M)}
launched = {body for body, in matches(r"void tessera::device::gpu_device::queue::launch<(.*?) ?>\(", functions)}
launched |= {f"tessera::device::detail::gpu_device::for_each_body<{f}>"
             for f, in matches(r"void tessera::device::gpu_device::for_each<(.*?) ?>\(unsigned long", functions)}
check(launched, f"{sys.argv[1]} launches kernels")
check("__wrapper__device_stub_" not in symbols, f"{sys.argv[1]} has the stub of no kernel")
for path in sys.argv[2:]:
    text = pathlib.Path(path).read_text(encoding="utf-8")
    kernels = KERNEL.findall(text)
    pattern = r"void tessera::device::detail::gpu_device::run_(?:value<(.*), \d+ul|recorded<(.*?)) ?>\("
    bodies = {value or recorded for value, recorded in matches(pattern, [name for name, _, _ in kernels])}
    check(len(kernels) == text.count(".entry _ZN7tessera"), f"{path}: {len(kernels)} kernels of all were understood")
    check(launched <= bodies, f"{path}: the host launches what is not there: {sorted(launched - bodies)[:1]}")
    for name, parameters, body in kernels:
        check("trap;" not in body or any(one in name for one in MAY_TRAP), f"{path}: a trap in {name}")
        host = re.search(r"9run_value.*Lm(\d+)EEEvT_$", name)
        device = re.search(r"\.b8 \w+_param_0\[(\d+)\]", parameters)
        check("9run_value" not in name or (host and device and host[1] == device[1]),
              f"{path}: the host writes {host and host[1]} bytes, the device reads {device and device[1]}: {name}")
    print(f"{path}: {len(kernels)} kernels, {len(launched)} bodies that the host launches by name")
sys.exit(1 if failures else 0)
