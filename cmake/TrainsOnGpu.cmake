# tessera_trains_on_gpu(<application> [<files.cu>...]): on_gpu.cu, and those, where CUDA is asked for;
# else without_gpu.cpp.
function(tessera_trains_on_gpu application)
  if(TESSERA_CUDA)
    foreach(source on_gpu.cu ${ARGN})
      tessera_cuda_part(${application} ${source})
    endforeach()
  else()
    target_sources(${application} PRIVATE without_gpu.cpp)
  endif()
endfunction()
