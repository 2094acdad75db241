# What our own programs are built for: TESSERA_ARCH is x86-64-v2, -v3 or -v4; "auto" is the highest
# level that this machine runs.
set(TESSERA_ARCH "auto" CACHE STRING "Instruction set of our own tests, examples and benchmarks")
set(TESSERA_ARCH_LEVELS x86-64-v2 x86-64-v3 x86-64-v4)

function(tessera_arch_of_this_machine result)
  set(level "x86-64-v2")
  if(EXISTS "/proc/cpuinfo")
    file(STRINGS "/proc/cpuinfo" flags REGEX "^flags" LIMIT_COUNT 1)
    if(flags MATCHES " avx2 " AND flags MATCHES " fma " AND flags MATCHES " bmi2 ")
      set(level "x86-64-v3")
      if(flags MATCHES " avx512f " AND flags MATCHES " avx512bw " AND flags MATCHES " avx512cd "
         AND flags MATCHES " avx512dq " AND flags MATCHES " avx512vl ")
        set(level "x86-64-v4")
      endif()
    endif()
  endif()
  set(${result} "${level}" PARENT_SCOPE)
endfunction()

tessera_arch_of_this_machine(TESSERA_NATIVE_ARCH)
if(TESSERA_ARCH STREQUAL "auto")
  set(TESSERA_OWN_ARCH "${TESSERA_NATIVE_ARCH}")
else()
  set(TESSERA_OWN_ARCH "${TESSERA_ARCH}")
endif()
message(STATUS "tessera: own programs are built for ${TESSERA_OWN_ARCH}, "
               "this machine runs up to ${TESSERA_NATIVE_ARCH}")
