# tessera_compile_fail_tests(<folder>) registers two tests for every <folder>/<stem>.cpp:
#   fail.<stem>.control  the file as it stands compiles, so that it cannot rot;
#   fail.<stem>          with TESSERA_MUST_FAIL it stops and says what its EXPECT lines say;
#                        only for this compiler, where a line says COMPILER: <CMake's id of it>.
# The compiler is called directly: the tests run side by side, and nothing else prints.
include("${CMAKE_CURRENT_LIST_DIR}/Flags.cmake")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(TESSERA_COMPILE_FAIL "${CMAKE_CURRENT_LIST_DIR}/checks/compile_fail.py")

function(tessera_compile_fail_tests folder)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  tessera_flags_of(tessera flags)
  set(compile "${CMAKE_CXX_COMPILER}" ${flags} -march=${TESSERA_OWN_ARCH} -fsyntax-only)
  foreach(source IN LISTS sources)
    get_filename_component(stem "${source}" NAME_WE)
    add_test(NAME fail.${stem}.control COMMAND_EXPAND_LISTS
      COMMAND "${Python3_EXECUTABLE}" -B "${TESSERA_COMPILE_FAIL}" control "${source}" ${compile})
    set_tests_properties(fail.${stem}.control PROPERTIES LABELS fail)
    file(STRINGS "${source}" only REGEX "COMPILER: " LIMIT_COUNT 1)
    if(only AND NOT only MATCHES "COMPILER: ${CMAKE_CXX_COMPILER_ID}$")
      continue()
    endif()
    add_test(NAME fail.${stem} COMMAND_EXPAND_LISTS
      COMMAND "${Python3_EXECUTABLE}" -B "${TESSERA_COMPILE_FAIL}" must_fail "${source}" ${compile})
    set_tests_properties(fail.${stem} PROPERTIES LABELS fail)
  endforeach()
endfunction()
