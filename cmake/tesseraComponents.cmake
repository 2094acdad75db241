# The components besides tessera::tessera, each behind those that it needs. Used by the build and by
# find_package(tessera).
set(tessera_all_components bridge io text train program track optimize generate serve group)

# tessera_with_needed(<result> <components>...): these and all that they need, in the order above;
# what is no component comes last. tessera_needs() sets what each needs itself.
macro(tessera_needs)
  set(tessera_text_needs io)
  set(tessera_train_needs bridge io)
  set(tessera_program_needs train)
  set(tessera_track_needs train)
  set(tessera_optimize_needs train)
  set(tessera_generate_needs io)
  set(tessera_serve_needs train generate)
  set(tessera_group_needs generate)
endmacro()
function(tessera_with_needed result)
  tessera_needs()
  set(wanted ${ARGN})
  set(ordered)
  set(last_first)
  foreach(component IN LISTS tessera_all_components)
    list(PREPEND last_first ${component})
  endforeach()
  foreach(component IN LISTS last_first)
    if(component IN_LIST wanted)
      list(PREPEND ordered ${component})
      list(APPEND wanted ${tessera_${component}_needs})
    endif()
  endforeach()
  list(APPEND ordered ${wanted})
  list(REMOVE_DUPLICATES ordered)
  set(${result} ${ordered} PARENT_SCOPE)
endfunction()

# Says where nobody has chosen how programs are compiled: not optimized, or for any processor.
function(tessera_say_unoptimized)
  get_property(several_types GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT several_types AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CXX_FLAGS MATCHES "-O")
    message(WARNING "tessera: CMAKE_BUILD_TYPE is not set: nothing is optimized, and programs are "
      "many times slower. Configure with -DCMAKE_BUILD_TYPE=Release")
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CMAKE_CXX_FLAGS MATCHES "-march=")
    message(STATUS "tessera: CMAKE_CXX_FLAGS has no -march: where a target has none either "
      "(target_compile_options(app PRIVATE -march=x86-64-v3)), it is compiled for any processor, "
      "and many times slower")
  endif()
endfunction()
