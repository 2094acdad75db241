# Third-party libraries: found where the system has them, fetched where it has not. CMake's own
# switches hold: FETCHCONTENT_TRY_FIND_PACKAGE_MODE=NEVER fetches always,
# FETCHCONTENT_SOURCE_DIR_<PACKAGE> names a copy at hand, and FETCHCONTENT_FULLY_DISCONNECTED
# fetches never.
include(FetchContent)

# tessera_dependency(<package> TARGET <target> REPOSITORY <url> TAG <release>
#                    [VERSION <least>] [HEADERS <folder>] [DEPENDS <targets>...])
# makes <target> exist. With HEADERS that folder of the fetched repository is all that is used of
# it; without, the repository's own CMake project makes the target. A release is named by its tag;
# the hash of its archive would pin it harder, but can only be written where the archive is at hand.
function(tessera_dependency package)
  cmake_parse_arguments(arg "" "TARGET;VERSION;REPOSITORY;TAG;HEADERS" "DEPENDS" ${ARGN})
  if(TARGET ${arg_TARGET})
    return()
  endif()
  set(own_project)
  if(arg_HEADERS)
    set(own_project SOURCE_SUBDIR no-project-only-headers)
  endif()
  FetchContent_Declare(${package}
    GIT_REPOSITORY ${arg_REPOSITORY} GIT_TAG ${arg_TAG} GIT_SHALLOW ON ${own_project} SYSTEM
    FIND_PACKAGE_ARGS ${arg_VERSION} CONFIG GLOBAL)
  FetchContent_MakeAvailable(${package})
  if(TARGET ${arg_TARGET})
    return()
  endif()

  string(TOLOWER ${package} lower)
  set(headers "${${lower}_SOURCE_DIR}/${arg_HEADERS}")
  if(NOT arg_HEADERS OR NOT IS_DIRECTORY "${headers}")
    if(NOT ${lower}_SOURCE_DIR OR NOT IS_DIRECTORY "${${lower}_SOURCE_DIR}")
      message(FATAL_ERROR
        "tessera: ${package} was not found, and ${arg_TAG} from ${arg_REPOSITORY} not fetched")
    endif()
    message(FATAL_ERROR
      "tessera: ${package} ${arg_TAG} from ${arg_REPOSITORY} has no ${arg_TARGET}")
  endif()
  message(STATUS "tessera: ${package} ${arg_TAG} is used from ${${lower}_SOURCE_DIR}")
  set_property(GLOBAL PROPERTY tessera_fetched_${package} ON)
  add_library(${arg_TARGET} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${arg_TARGET} SYSTEM INTERFACE "${headers}")
  target_link_libraries(${arg_TARGET} INTERFACE ${arg_DEPENDS})
endfunction()
