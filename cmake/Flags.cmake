# tessera_flags_of(<target> <result>): the compiler flags of a program that links the target, for
# tests that call a compiler themselves (with COMMAND_EXPAND_LISTS).
function(tessera_flags_of target result)
  set(folders "$<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>")
  set(${result} -std=c++20 "$<TARGET_PROPERTY:${target},INTERFACE_COMPILE_OPTIONS>"
    "$<$<BOOL:${folders}>:-I$<JOIN:$<REMOVE_DUPLICATES:${folders}>,$<SEMICOLON>-I>>"
    "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},$<SEMICOLON>-D>>" PARENT_SCOPE)
endfunction()
