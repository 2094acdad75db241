# tessera::tessera   the library: needs xsimd and Boost.Hana
find_package(xtl QUIET)  # a link dependency of some packages of xsimd
find_package(xsimd REQUIRED)
find_package(Boost 1.81 REQUIRED)

add_library(tessera INTERFACE)
add_library(tessera::tessera ALIAS tessera)
target_compile_features(tessera INTERFACE cxx_std_20)
# Same numbers everywhere: no compiler may add a fused multiply-add of its own.
target_compile_options(tessera INTERFACE -ffp-contract=off)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.hpp")
target_sources(tessera INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
target_link_libraries(tessera INTERFACE xsimd Boost::headers)
