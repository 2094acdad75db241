# tessera_compile_fail_tests(<folder>) registers two tests for every <folder>/<stem>.cpp:
#   fail.<stem>.control  the file as it stands compiles, so that it cannot rot;
#   fail.<stem>          with TESSERA_MUST_FAIL it stops and says what its EXPECT lines say.
# The compiler is called directly: the tests run side by side, and nothing else prints.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(TESSERA_COMPILE_FAIL "${CMAKE_CURRENT_LIST_DIR}/checks/compile_fail.py")

function(tessera_compile_fail_tests folder)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  set(folders "$<TARGET_PROPERTY:tessera,INTERFACE_INCLUDE_DIRECTORIES>")
  set(compile "${CMAKE_CXX_COMPILER}" -std=c++20 -march=${TESSERA_OWN_ARCH} -fsyntax-only
    "$<TARGET_PROPERTY:tessera,INTERFACE_COMPILE_OPTIONS>" "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>")
  foreach(source IN LISTS sources)
    get_filename_component(stem "${source}" NAME_WE)
    add_test(NAME fail.${stem}.control COMMAND_EXPAND_LISTS
      COMMAND "${Python3_EXECUTABLE}" "${TESSERA_COMPILE_FAIL}" control "${source}" ${compile})
    add_test(NAME fail.${stem} COMMAND_EXPAND_LISTS
      COMMAND "${Python3_EXECUTABLE}" "${TESSERA_COMPILE_FAIL}" must_fail "${source}" ${compile})
    set_tests_properties(fail.${stem}.control fail.${stem} PROPERTIES LABELS fail)
  endforeach()
endfunction()
