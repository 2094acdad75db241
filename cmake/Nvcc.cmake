# Device code for TESSERA_CUDA_ARCHITECTURES, and as PTX for what comes after them, by nvcc 13, the
# machine's or the one that bootstrap.sh puts into build/nvcc. CMake's own CUDA support is not used: 3.25 does not
# know the layout of the latter.
#   tessera_cuda_program(<target> <file.cu> [CUBLASLT] [KEEP <folder>] [<sources>...])
# makes a program, with products by cuBLASLt where that is said; its PTX stays in the folder.
#   tessera_cuda_part(<target> <file.cu> [CUBLASLT] [KEEP <folder>])
# adds a file to one that there is; it sees what the target's own sources see.
file(GLOB own "${PROJECT_SOURCE_DIR}/build/nvcc/lib/python3*/site-packages/nvidia/cu13/bin")
find_program(TESSERA_NVCC nvcc HINTS ${own} /usr/local/cuda/bin
  DOC "The CUDA compiler, 13 or later")
if(NOT TESSERA_NVCC)
  message(FATAL_ERROR "tessera: the preset cuda needs nvcc 13; sh cmake/bootstrap.sh test installs it")
endif()
cmake_path(GET TESSERA_NVCC PARENT_PATH toolkit)
cmake_path(GET toolkit PARENT_PATH toolkit)
find_library(TESSERA_CUDART cudart_static HINTS "${toolkit}/lib" "${toolkit}/lib64"
  "${toolkit}/targets/x86_64-linux/lib")
find_library(TESSERA_CUBLASLT_LIBRARY NAMES cublasLt libcublasLt.so.13
  HINTS "${toolkit}/lib" "${toolkit}/lib64" "${toolkit}/targets/x86_64-linux/lib" REQUIRED)
message(STATUS "tessera: device code by ${TESSERA_NVCC}")
find_path(TESSERA_NVCC_HANA boost/hana.hpp)

set(TESSERA_CUDA_ARCHITECTURES 80 90 CACHE STRING "GPUs that device code is compiled for, the least first")

# Multiply-adds are fused where the library says so, and nowhere else.
set(TESSERA_NVCC_FLAGS -std=c++20 -O2 --expt-relaxed-constexpr -fmad=false -diag-suppress 186,224,549,1675
  -ccbin "${CMAKE_CXX_COMPILER}" -Xcompiler=-march=${TESSERA_OWN_ARCH},-ffp-contract=off)

function(tessera_cuda_part target source)
  cmake_parse_arguments(arg "CUBLASLT" "KEEP" "" ${ARGN})
  cmake_path(GET source STEM stem)
  if(arg_KEEP)
    file(MAKE_DIRECTORY "${arg_KEEP}")
    set(keep --keep --keep-dir "${arg_KEEP}")
    set(tidy COMMAND find "${arg_KEEP}" -type f -not -name "*.ptx" -delete)
  endif()
  set(architectures)
  foreach(one IN LISTS TESSERA_CUDA_ARCHITECTURES)
    list(APPEND architectures -gencode arch=compute_${one},code=sm_${one})
  endforeach()
  list(GET TESSERA_CUDA_ARCHITECTURES -1 newest)
  list(LENGTH TESSERA_CUDA_ARCHITECTURES side_by_side)
  list(APPEND architectures -gencode arch=compute_${newest},code=compute_${newest} -t ${side_by_side})
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.${stem}.o")
  # Without those that have a comma, at which nvcc would cut them: lists that host code alone reads.
  set(definitions "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,EXCLUDE,[$<COMMA>]>")
  set(folders "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>")
  add_custom_command(OUTPUT "${object}"
    COMMAND "${TESSERA_NVCC}" ${TESSERA_NVCC_FLAGS} ${architectures}
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
      "-I${TESSERA_NVCC_HANA}" -MD -MF "${object}.d"
      ${keep} -c "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${object}" ${tidy}
    DEPENDS "${source}" DEPFILE "${object}.d" COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "nvcc ${source}")
  find_package(Threads REQUIRED)
  target_sources(${target} PRIVATE "${object}")
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE "${TESSERA_CUDART}" Threads::Threads ${CMAKE_DL_LIBS} rt)
  if(arg_CUBLASLT)
    target_compile_definitions(${target} PRIVATE TESSERA_CUBLASLT=1)
    target_link_libraries(${target} PRIVATE "${TESSERA_CUBLASLT_LIBRARY}")
  endif()
endfunction()

function(tessera_cuda_program target source)
  cmake_parse_arguments(arg "CUBLASLT" "KEEP" "" ${ARGN})
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE tessera::tessera)
  tessera_cuda_part(${target} "${source}" ${ARGN})
endfunction()
