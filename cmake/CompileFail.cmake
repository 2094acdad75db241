# tessera_compile_fail_tests(<folder>) registers two tests for every <folder>/<stem>.cpp:
#   fail.<stem>.control  the file as it stands compiles, so that it cannot rot: by g++, and by both
#                        where a line says COMPILER:
#   fail.<stem>          with TESSERA_MUST_FAIL it stops and says what its EXPECT lines say;
#                        only for this compiler, where a line says COMPILER: <CMake's id of it>.
# The compiler is called directly: the tests run side by side, and nothing else prints. A file that
# includes <tessera/tessera.hpp> is given it as parsed once, at build time.
include("${CMAKE_CURRENT_LIST_DIR}/Flags.cmake")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(TESSERA_COMPILE_FAIL "${CMAKE_CURRENT_LIST_DIR}/checks/compile_fail.py")

function(tessera_compile_fail_tests folder)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  tessera_flags_of(tessera flags)
  list(APPEND flags -march=${TESSERA_OWN_ARCH})
  set(library "${CMAKE_CURRENT_BINARY_DIR}/fail/library.hpp")
  set(parsed "${CMAKE_CURRENT_BINARY_DIR}/fail/tessera/tessera.hpp.gch")
  file(CONFIGURE OUTPUT "${library}" CONTENT "#include <tessera/tessera.hpp>\n")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/fail/tessera")
  add_custom_command(OUTPUT "${parsed}" COMMAND_EXPAND_LISTS VERBATIM
    COMMAND "${CMAKE_CXX_COMPILER}" ${flags} -x c++-header "${library}" -MD -MF "${parsed}.d"
      -o "${parsed}"
    DEPENDS "${library}" DEPFILE "${parsed}.d"
    COMMENT "Parsing tessera.hpp for the tests that must not compile")
  add_custom_target(fail_headers ALL DEPENDS "${parsed}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Found in front of the header itself; where it does not fit, the header is read.
    set(parsed_once -I "${CMAKE_CURRENT_BINARY_DIR}/fail")
  else()
    set(parsed_once -include-pch "${parsed}")
  endif()
  foreach(source IN LISTS sources)
    get_filename_component(stem "${source}" NAME_WE)
    file(STRINGS "${source}" includes REGEX "^#include <tessera/tessera.hpp>" LIMIT_COUNT 1)
    set(compile "${CMAKE_CXX_COMPILER}")
    if(includes)
      list(APPEND compile ${parsed_once})
    endif()
    list(APPEND compile ${flags} -fsyntax-only)
    file(STRINGS "${source}" only REGEX "COMPILER: " LIMIT_COUNT 1)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR only)
      add_test(NAME fail.${stem}.control COMMAND_EXPAND_LISTS
        COMMAND "${Python3_EXECUTABLE}" -B "${TESSERA_COMPILE_FAIL}" control "${source}" ${compile})
      set_tests_properties(fail.${stem}.control PROPERTIES LABELS fail)
    endif()
    if(only AND NOT only MATCHES "COMPILER: ${CMAKE_CXX_COMPILER_ID}$")
      continue()
    endif()
    add_test(NAME fail.${stem} COMMAND_EXPAND_LISTS
      COMMAND "${Python3_EXECUTABLE}" -B "${TESSERA_COMPILE_FAIL}" must_fail "${source}" ${compile})
    set_tests_properties(fail.${stem} PROPERTIES LABELS fail)
  endforeach()
endfunction()
