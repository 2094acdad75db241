# PCRE2 and utf8proc, as tessera::pcre2 and tessera::utf8proc where the system has them: not every
# system has a CMake package of them. Used by the build and by find_package(tessera).
function(tessera_text_library target library header)
  if(TARGET ${target})
    return()
  endif()
  find_library(TESSERA_${library}_LIBRARY ${library})
  find_path(TESSERA_${library}_INCLUDE ${header})
  mark_as_advanced(TESSERA_${library}_LIBRARY TESSERA_${library}_INCLUDE)
  if(TESSERA_${library}_LIBRARY AND TESSERA_${library}_INCLUDE)
    add_library(${target} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION "${TESSERA_${library}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${TESSERA_${library}_INCLUDE}")
  endif()
endfunction()
tessera_text_library(tessera::pcre2 pcre2-8 pcre2.h)
tessera_text_library(tessera::utf8proc utf8proc utf8proc.h)
