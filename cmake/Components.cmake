# tessera::tessera needs xsimd and Boost.Hana. What needs more is a component of its own, so that a
# program has the dependencies of what it includes:
#   tessera::bridge   xtensor: include/tessera/bridge and data
#   tessera::io       nlohmann-json: include/tessera/io
#   tessera::text     those of io, PCRE2 and utf8proc: include/tessera/text
#   tessera::train    both, and threads: include/tessera/train
#   tessera::program  these, CLI11 and yaml-cpp: include/tessera/program
#   tessera::track    those of train, and Boost's Beast: include/tessera/track
#   tessera::optimize those of train, and SQLite: include/tessera/optimize
#   tessera::generate those of io, and threads: include/tessera/generate
#   tessera::serve    those of train, and Boost's Beast: include/tessera/serve
#   tessera::group    those of generate, and Boost's Beast: include/tessera/group
# Who asks for one has those that it needs, too.
include(cmake/tesseraComponents.cmake)
if(PROJECT_IS_TOP_LEVEL)
  set(TESSERA_COMPONENTS "${tessera_all_components}" CACHE STRING
    "Components besides tessera::tessera")
else()
  set(TESSERA_COMPONENTS "" CACHE STRING
    "Components besides tessera::tessera: ${tessera_all_components}")
  tessera_say_unoptimized()
endif()
foreach(component IN LISTS TESSERA_COMPONENTS)
  if(NOT component IN_LIST tessera_all_components)
    message(FATAL_ERROR
      "tessera: TESSERA_COMPONENTS names ${component}; there are ${tessera_all_components}")
  endif()
endforeach()
tessera_with_needed(TESSERA_COMPONENTS ${TESSERA_COMPONENTS})

# tessera_component(<name> [FOLDERS <floors>...] [LINKS <targets>...]
#                   [PACKAGES "<package> <version>"...] [NOT_INSTALLED])
# The headers in FOLDERS belong to the component, all others to the library itself. PACKAGES are
# looked for by tesseraConfig.cmake before the installed component is loaded; one that is
# NOT_INSTALLED is for this build alone.
set_property(GLOBAL PROPERTY tessera_requirements "")
function(tessera_component name)
  cmake_parse_arguments(arg "NOT_INSTALLED" "" "FOLDERS;LINKS;PACKAGES" ${ARGN})
  set(root "${PROJECT_SOURCE_DIR}/include")
  set(headers)
  if(name STREQUAL tessera)
    set(target tessera)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${root}/*.hpp")
    list(FILTER headers EXCLUDE REGEX "^${root}/tessera/(bridge|data|io|text|train|program|track|optimize|generate|serve|group)/")
    # Files themselves need no other package, and bridge writes them without io.
    list(APPEND headers "${root}/tessera/io/file.hpp")
  else()
    set(target tessera_${name})
    foreach(folder IN LISTS arg_FOLDERS)
      file(GLOB_RECURSE found CONFIGURE_DEPENDS "${root}/tessera/${folder}/*.hpp")
      list(APPEND headers ${found})
      list(REMOVE_ITEM headers "${root}/tessera/io/file.hpp")
    endforeach()
  endif()

  add_library(${target} INTERFACE)
  add_library(tessera::${name} ALIAS ${target})
  target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS "${root}" FILES ${headers})
  target_link_libraries(${target} INTERFACE ${arg_LINKS})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(TESSERA_INSTALL AND NOT arg_NOT_INSTALLED)
    set_property(GLOBAL APPEND_STRING PROPERTY tessera_requirements
      "set(tessera_${name}_requires \"${arg_PACKAGES}\")\n")
    install(TARGETS ${target} EXPORT tessera_${name}
      FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT tessera_${name} NAMESPACE tessera:: FILE tessera_${name}.cmake
      DESTINATION "${CMAKE_INSTALL_DATADIR}/cmake/tessera")
  endif()
endfunction()

tessera_dependency(xsimd VERSION 8.1 TARGET xsimd
  REPOSITORY https://github.com/xtensor-stack/xsimd.git TAG 8.1.0 HEADERS include)
include(cmake/tesseraXsimd.cmake)
# Of Boost only Hana, which needs nothing else of it.
tessera_dependency(Boost VERSION 1.81 TARGET Boost::headers
  REPOSITORY https://github.com/boostorg/hana.git TAG boost-1.81.0 HEADERS include)
tessera_component(tessera LINKS xsimd Boost::headers PACKAGES "xsimd 8.1" "Boost 1.81")
target_compile_features(tessera INTERFACE cxx_std_20)
# Same numbers everywhere: no compiler may add a fused multiply-add of its own.
target_compile_options(tessera INTERFACE -ffp-contract=off)

if("bridge" IN_LIST TESSERA_COMPONENTS)
  tessera_dependency(xtl VERSION 0.7 TARGET xtl
    REPOSITORY https://github.com/xtensor-stack/xtl.git TAG 0.7.2 HEADERS include)
  tessera_dependency(xtensor VERSION 0.24 TARGET xtensor DEPENDS xtl
    REPOSITORY https://github.com/xtensor-stack/xtensor.git TAG 0.24.3 HEADERS include)
  tessera_component(bridge FOLDERS bridge data LINKS tessera xtensor PACKAGES "xtensor 0.24")
  # The layout of xtensor's fixed tensors depends on it: one answer for every translation unit.
  target_compile_definitions(tessera_bridge INTERFACE XTENSOR_USE_XSIMD)
endif()

if("io" IN_LIST TESSERA_COMPONENTS)
  tessera_dependency(nlohmann_json VERSION 3.10 TARGET nlohmann_json::nlohmann_json
    REPOSITORY https://github.com/nlohmann/json.git TAG v3.11.2 HEADERS include)
  tessera_component(io FOLDERS io
    LINKS tessera nlohmann_json::nlohmann_json PACKAGES "nlohmann_json 3.10")
endif()

if("text" IN_LIST TESSERA_COMPONENTS)
  include(cmake/tesseraText.cmake)
  # As with yaml-cpp: what was fetched is built here, and no package could name it.
  set(installed)
  if(NOT TARGET tessera::pcre2)
    set(installed NOT_INSTALLED)
    set(PCRE2_SUPPORT_JIT ON CACHE BOOL "")
    set(PCRE2_BUILD_PCRE2GREP OFF CACHE BOOL "")
    set(PCRE2_BUILD_TESTS OFF CACHE BOOL "")
    tessera_dependency(pcre2 TARGET pcre2-8-static
      REPOSITORY https://github.com/PCRE2Project/pcre2.git TAG pcre2-10.42)
    add_library(tessera::pcre2 ALIAS pcre2-8-static)
  endif()
  if(NOT TARGET tessera::utf8proc)
    set(installed NOT_INSTALLED)
    tessera_dependency(utf8proc TARGET utf8proc
      REPOSITORY https://github.com/JuliaStrings/utf8proc.git TAG v2.8.0)
    add_library(tessera::utf8proc ALIAS utf8proc)
  endif()
  tessera_component(text FOLDERS text ${installed} LINKS tessera_io tessera::pcre2 tessera::utf8proc)
  target_compile_definitions(tessera_text INTERFACE PCRE2_CODE_UNIT_WIDTH=8)
endif()

if("train" IN_LIST TESSERA_COMPONENTS)
  find_package(Threads REQUIRED)
  tessera_component(train FOLDERS train
    LINKS tessera_bridge tessera_io Threads::Threads PACKAGES "Threads")
endif()

if("program" IN_LIST TESSERA_COMPONENTS)
  tessera_dependency(CLI11 VERSION 2.1 TARGET CLI11::CLI11
    REPOSITORY https://github.com/CLIUtils/CLI11.git TAG v2.1.2 HEADERS include)
  tessera_dependency(yaml-cpp VERSION 0.7 TARGET yaml-cpp
    REPOSITORY https://github.com/jbeder/yaml-cpp.git TAG yaml-cpp-0.7.0)
  # yaml-cpp is a library: one that was fetched is built here, and no package could name it.
  set(installed NOT_INSTALLED)
  get_target_property(yaml_was_found yaml-cpp IMPORTED)
  if(yaml_was_found)
    set(installed)
  endif()
  tessera_component(program FOLDERS program ${installed}
    LINKS tessera_train CLI11::CLI11 yaml-cpp PACKAGES "CLI11 2.1" "yaml-cpp 0.7")
endif()

if("generate" IN_LIST TESSERA_COMPONENTS)
  find_package(Threads REQUIRED)
  include(cmake/tesseraModel.cmake)
  tessera_component(generate FOLDERS generate
    LINKS tessera_io Threads::Threads PACKAGES "Threads")
endif()

# Beast is headers alone, and needs all of Boost's.
get_property(tessera_has_hana_alone GLOBAL PROPERTY tessera_fetched_Boost)
foreach(component track serve group)
  if(component IN_LIST TESSERA_COMPONENTS AND tessera_has_hana_alone)
    message(FATAL_ERROR
      "tessera: the component ${component} needs Boost 1.81 as a whole, and none was found; install \
it, or name components without it in TESSERA_COMPONENTS")
  endif()
endforeach()
foreach(component track serve)
  if(component IN_LIST TESSERA_COMPONENTS)
    tessera_component(${component} FOLDERS ${component}
      LINKS tessera_train Boost::headers PACKAGES "Boost 1.81")
  endif()
endforeach()
if("serve" IN_LIST TESSERA_COMPONENTS)
  target_link_libraries(tessera_serve INTERFACE tessera_generate)
endif()

if("optimize" IN_LIST TESSERA_COMPONENTS)
  find_package(SQLite3 3.35 REQUIRED)
  tessera_component(optimize FOLDERS optimize
    LINKS tessera_train SQLite::SQLite3 PACKAGES "SQLite3 3.35")
endif()

if("group" IN_LIST TESSERA_COMPONENTS)
  find_package(Threads REQUIRED)
  tessera_component(group FOLDERS group
    LINKS tessera_generate Boost::headers Threads::Threads PACKAGES "Boost 1.81" "Threads")
endif()
