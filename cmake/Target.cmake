# What our own programs are built for: TESSERA_ARCH is x86-64-v2, -v3 or -v4; "auto" is the highest
# level that this machine runs. Products of bytes (VNNI) and of pairs of bf16 are no part of a level:
# programs that multiply weights in blocks are built with them where "auto" finds them, or where
# TESSERA_ARCH is x86-64-v3-vnni, x86-64-v4-vnni or x86-64-v4-bf16, which has both.
#   TESSERA_OWN_ARCH            the level, for -march
#   TESSERA_OWN_BLOCK_OPTIONS   the options of programs that multiply weights in blocks
set(TESSERA_ARCH "auto" CACHE STRING "Instruction set of our own tests, examples and benchmarks")
set(TESSERA_ARCH_LEVELS x86-64-v2 x86-64-v3 x86-64-v4)

# The highest level that this machine runs, and what it has beside it: OFF, vnni, or bf16, which is
# VNNI, too.
function(tessera_arch_of_this_machine level_result beside_result)
  set(level "x86-64-v2")
  set(beside OFF)
  if(EXISTS "/proc/cpuinfo")
    file(STRINGS "/proc/cpuinfo" flags REGEX "^flags" LIMIT_COUNT 1)
    string(APPEND flags " ")
    if(flags MATCHES " avx2 " AND flags MATCHES " fma " AND flags MATCHES " bmi2 ")
      set(level "x86-64-v3")
      set(vnni avx_vnni)
      if(flags MATCHES " avx512f " AND flags MATCHES " avx512bw " AND flags MATCHES " avx512cd "
         AND flags MATCHES " avx512dq " AND flags MATCHES " avx512vl ")
        set(level "x86-64-v4")
        set(vnni avx512_vnni)
      endif()
      if(flags MATCHES " ${vnni} ")
        set(beside vnni)
        if(level STREQUAL "x86-64-v4" AND flags MATCHES " avx512_bf16 ")
          set(beside bf16)
        endif()
      endif()
    endif()
  endif()
  set(${level_result} "${level}" PARENT_SCOPE)
  set(${beside_result} "${beside}" PARENT_SCOPE)
endfunction()

tessera_arch_of_this_machine(TESSERA_NATIVE_ARCH TESSERA_NATIVE_BESIDE)
set(beside "${TESSERA_NATIVE_BESIDE}")
set(TESSERA_OWN_ARCH "${TESSERA_NATIVE_ARCH}")
if(NOT TESSERA_ARCH STREQUAL "auto")
  set(beside OFF)
  if(TESSERA_ARCH MATCHES "^(.*)-(vnni|bf16)$")
    set(TESSERA_OWN_ARCH "${CMAKE_MATCH_1}")
    set(beside "${CMAKE_MATCH_2}")
  else()
    set(TESSERA_OWN_ARCH "${TESSERA_ARCH}")
  endif()
endif()
set(TESSERA_OWN_BLOCK_OPTIONS -march=${TESSERA_OWN_ARCH})
if(beside AND TESSERA_OWN_ARCH STREQUAL "x86-64-v4")
  list(APPEND TESSERA_OWN_BLOCK_OPTIONS -mavx512vnni)
  if(beside STREQUAL "bf16")
    list(APPEND TESSERA_OWN_BLOCK_OPTIONS -mavx512bf16)
  endif()
elseif(beside STREQUAL "vnni" AND TESSERA_OWN_ARCH STREQUAL "x86-64-v3")
  list(APPEND TESSERA_OWN_BLOCK_OPTIONS -mavxvnni)
elseif(beside)
  message(FATAL_ERROR "tessera: expected VNNI of x86-64-v3 or x86-64-v4, or bf16 of x86-64-v4, got "
    "${TESSERA_ARCH}")
endif()
message(STATUS "tessera: own programs are built for ${TESSERA_OWN_ARCH}, products of blocks with "
               "${TESSERA_OWN_BLOCK_OPTIONS}, this machine runs up to ${TESSERA_NATIVE_ARCH}")
