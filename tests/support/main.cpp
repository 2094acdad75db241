// SPDX-License-Identifier: MIT
#define CATCH_CONFIG_RUNNER
#include <support/catch.hpp>

#include <cstdio>

namespace {

/// The instruction set this program was built for, checked before anything of it runs: the answer
/// is ctest's SKIP_RETURN_CODE where the machine has it not.
[[gnu::target("arch=x86-64")]] auto missing_instruction_set() -> char const* {
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return "AVX-512";
#elif defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return "AVX2 and FMA";
#endif
  return nullptr;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  if (auto const* missing = missing_instruction_set()) {
    std::printf("skipped: this machine has no %s\n", missing);
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
