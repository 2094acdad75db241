// SPDX-License-Identifier: MIT
// Linked into every test with the options of its own instruction set, which the library of the test
// runner is not compiled with.
#include <cstdio>
#include <cstdlib>

namespace {

/// The instruction set this program was built for, where the machine has it not.
[[gnu::target("arch=x86-64")]] auto missing_instruction_set() -> char const* {
  __builtin_cpu_init();
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return "AVX-512";
#elif defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return "AVX2 and FMA";
#endif
  return nullptr;
}

/// Before anything else of the program runs, initialization of its globals too: the answer is
/// ctest's SKIP_RETURN_CODE.
[[gnu::target("arch=x86-64"), gnu::constructor(101)]] void skip_without_instruction_set() {
  if (auto const* missing = missing_instruction_set()) {
    std::printf("skipped: this machine has no %s\n", missing);
    std::fflush(stdout);
    std::_Exit(77);
  }
}

}  // namespace
