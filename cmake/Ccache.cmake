# Our own builds go through ccache where it is installed; a launcher named by the user stands. The
# headers that tests have parsed once are cached by what they contain, not by when it was parsed.
find_program(TESSERA_CCACHE ccache)
mark_as_advanced(TESSERA_CCACHE)
if(TESSERA_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env "CCACHE_SLOPPINESS=pch_defines,time_macros" "${TESSERA_CCACHE}")
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>"
                      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
