# Runs one case of tests/package/CMakeLists.txt; stops with an error where it does not hold.
set(consumer_source "${source}/tests/consumer")
set(installation "${work}/installation")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(install_library)
  run("${CMAKE_COMMAND}" --install "${build}" --prefix "${installation}")
endfunction()

set(configure "${CMAKE_COMMAND}" -G "${generator}" -S "${consumer_source}"
  "-DCMAKE_CXX_COMPILER=${compiler}")

function(build_and_run folder)
  run("${CMAKE_COMMAND}" --build "${folder}")
  execute_process(COMMAND "${folder}/consumer" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL "18241 parameters\n")
    message(FATAL_ERROR "the consumer printed: ${output}")
  endif()
endfunction()

# Configuring must stop and say what `expected` matches; CMake's line breaks count as spaces.
function(must_not_configure folder expected)
  execute_process(COMMAND ${configure} -B "${folder}" ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " text "${output}")
  if(result EQUAL 0 OR NOT text MATCHES "${expected}")
    message(FATAL_ERROR "configuring should have stopped with \"${expected}\":\n${output}")
  endif()
endfunction()

# Configuring must say, or not say, what `sentence` matches.
function(says folder sentence wanted)
  execute_process(COMMAND ${configure} -B "${folder}" ${ARGN}
    OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[ \n]+" " " text "${output}")
  set(said NO)
  if(text MATCHES "${sentence}")
    set(said YES)
  endif()
  if(NOT said STREQUAL wanted)
    message(FATAL_ERROR "\"${sentence}\": expected ${wanted}, got ${said}:\n${output}")
  endif()
endfunction()

# A repository of the headers that the system has, under the address that is fetched from.
function(make_repository path tag include system)
  set(folder "${work}/repositories/${path}")
  foreach(part IN LISTS ARGN)
    get_filename_component(parent "${folder}/${include}/${part}" DIRECTORY)
    file(COPY "${system}/${part}" DESTINATION "${parent}" FOLLOW_SYMLINK_CHAIN)
  endforeach()
  run("${git}" init --quiet "${folder}")
  run("${git}" -C "${folder}" add .)
  run("${git}" -C "${folder}" -c user.name=test -c user.email=test@localhost
      commit --quiet --message headers)
  run("${git}" -C "${folder}" tag "${tag}")
endfunction()

if(case STREQUAL "installed")
  install_library()
  run(${configure} -B "${work}/build" "-DCMAKE_PREFIX_PATH=${installation}"
    "-DCONSUMER_COMPONENTS=program")
  build_and_run("${work}/build")

elseif(case STREQUAL "outside")
  install_library()
  run("${CMAKE_COMMAND}" -G "${generator}" -S "${source}/tests/outside" -B "${work}/build"
    "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_PREFIX_PATH=${installation}"
    -DCMAKE_BUILD_TYPE=Release)
  run("${CMAKE_COMMAND}" --build "${work}/build")
  run("${work}/build/outside")

elseif(case STREQUAL "fetched")
  run(${configure} -B "${work}/build" "-DTESSERA_SOURCE=${source}"
    "-DCONSUMER_COMPONENTS=bridge\;io\;train")
  build_and_run("${work}/build")

elseif(case STREQUAL "fetched_alone")
  include("${source}/cmake/tesseraComponents.cmake")
  foreach(component IN LISTS tessera_all_components)
    set(folder "${work}/${component}")
    run(${configure} -B "${folder}" "-DTESSERA_SOURCE=${source}"
      "-DCONSUMER_COMPONENTS=${component}")
    run("${CMAKE_COMMAND}" --build "${folder}" --target empty)
  endforeach()

elseif(case STREQUAL "unoptimized")
  install_library()
  set(optimized "CMAKE_BUILD_TYPE is not set")
  set(target "CMAKE_CXX_FLAGS has no -march")
  foreach(where "-DTESSERA_SOURCE=${source}" "-DCMAKE_PREFIX_PATH=${installation}")
    says("${work}/plain" "${optimized}.*${target}" YES "${where}")
    says("${work}/release" "${optimized}" NO "${where}" -DCMAKE_BUILD_TYPE=Release)
    says("${work}/flags" "${optimized}|${target}" NO "${where}"
      "-DCMAKE_CXX_FLAGS=-O1 -march=x86-64-v3")
    file(REMOVE_RECURSE "${work}/plain" "${work}/release" "${work}/flags")
  endforeach()

elseif(case STREQUAL "models")
  # What transformers 5.24 writes of these, and older versions; the values are those of the text.
  set(sizes "\"vocab_size\": 96, \"hidden_size\": 48, \"num_hidden_layers\": 2, \"num_attention_heads\": 4")
  string(APPEND sizes ", \"intermediate_size\": 80, \"max_position_embeddings\": 64")
  set(llama3 "\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0")
  string(APPEND llama3 ", \"original_max_position_embeddings\": 16")
  set(config "${work}/config.json")
  set(from_source "-DTESSERA_SOURCE=${source}" -DCONSUMER_COMPONENTS=generate)
  function(writes model rope wanted)
    file(WRITE "${config}" "{\"model_type\": \"${model}\", ${sizes}${rope}}")
    run(${configure} -B "${work}/build" ${from_source} "-DCONSUMER_MODEL=${config}\;WEIGHTS\;f32")
    file(READ "${work}/build/empty_models/model_0.cpp" text)
    string(REGEX REPLACE "[ \n]+" " " text "${text}")
    string(FIND "${text}" "${wanted}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "expected ${wanted} of ${model}${rope}, got ${text}")
    endif()
  endfunction()
  writes(llama ", \"partial_rotary_factor\": 1.0" ".rotary_base = 10000.0, .scaling = {},")
  writes(llama "" ".rotary_base = 10000.0, .scaling = {},")
  writes(qwen2 ", \"rope_parameters\": {\"rope_theta\": 1000000.0, \"rope_type\": \"default\"}"
    ".rotary_base = 1000000.0, .scaling = {},")
  writes(qwen3 ", \"rope_theta\": 1000000, \"rope_scaling\": null" ".rotary_base = 1000000, .scaling = {},")
  set(wanted "{.kind = tessera::rotary_kind::llama3, .factor = 8.0, .low_factor = 1.0")
  string(APPEND wanted ", .high_factor = 4.0, .context = 16},")
  writes(llama ", \"rope_parameters\": {\"rope_theta\": 500000.0, ${llama3}}"
    ".rotary_base = 500000.0, .scaling = ${wanted}")
  writes(llama ", \"rope_theta\": 500000.0, \"rope_scaling\": {${llama3}}"
    ".rotary_base = 500000.0, .scaling = ${wanted}")
  writes(llama ", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}"
    ".scaling = {.kind = tessera::rotary_kind::linear, .factor = 2.0},")

  function(refuses rope options expected)
    file(WRITE "${config}" "{\"model_type\": \"llama\", ${sizes}${rope}}")
    must_not_configure("${work}/build" "${expected}" ${from_source}
      "-DCONSUMER_MODEL=${config}\;${options}")
  endfunction()
  refuses(", \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2.0}" "WEIGHTS\;f32"
    "expected a rope_type of default, linear or llama3, got yarn")
  refuses(", \"rope_parameters\": {\"rope_type\": \"linear\"}" "WEIGHTS\;f32" "has no factor")
  refuses(", \"partial_rotary_factor\": 0.5" "WEIGHTS\;f32" "partial_rotary_factor of 1, got 0.5")
  refuses(", \"rope_parameters\": {\"rope_type\": \"default\", \"partial_rotary_factor\": 0.25}"
    "WEIGHTS\;f32" "partial_rotary_factor of 1, got 0.25")
  refuses(", \"rope_parameters\": {\"rope_type\": \"default\"}, \"rope_scaling\": {\"rope_type\": \"yarn\"}"
    "WEIGHTS\;f32" "no rope_scaling beside rope_parameters")
  refuses(", \"use_sliding_window\": true" "WEIGHTS\;f32" "a use_sliding_window of false, got true")
  refuses(", \"hidden_act\": \"gelu\"" "WEIGHTS\;f32" "a hidden_act of silu, got gelu")
  refuses(", \"is_causal\": false" "WEIGHTS\;f32" "an? is_causal of true, got false")
  function(refuses_heads heads expected)
    string(REPLACE "\"num_attention_heads\": 4" "\"num_attention_heads\": ${heads}" sizes "${sizes}")
    refuses("" "WEIGHTS\;f32" "${expected}")
  endfunction()
  refuses_heads(0 "expected a number from 1 for num_attention_heads, got 0")
  refuses_heads(5 "expected a hidden_size that is a multiple of num_attention_heads, got 48 and 5")
  must_not_configure("${work}/library" "expected a program or an OBJECT library, empty is of type STATIC_LIBRARY"
    ${from_source} "-DCONSUMER_MODEL=${config}\;WEIGHTS\;f32" -DCONSUMER_LIBRARY=ON)
  refuses("" "WEIGHTS\;f32\;CONTEXT\;65" "expected a CONTEXT of at most 64, .*, got 65")
  refuses("" "WEIGHTS\;f32\;CONTEXT\;all" "expected a number from 1 for CONTEXT, got all")
  refuses("" "WEIGHTS\;q8_0/q4_1/f32" "as in q4_1/q8_0, got q8_0/q4_1/f32")
  refuses("" "WEIGHTS\;q4_k" "expected WEIGHTS of f32, f16, bf16, q4_0, q4_1 or q8_0, got q4_k")

elseif(case STREQUAL "fetched_dependencies")
  if(NOT git OR headers MATCHES "NOTFOUND")
    message("skipped: git and all of ${headers} are needed")
    return()
  endif()
  list(GET headers 0 xsimd)
  list(GET headers 1 hana)
  list(GET headers 2 xtl)
  list(GET headers 3 xtensor)
  list(GET headers 4 json)
  list(GET headers 5 catch)
  make_repository(xtensor-stack/xsimd.git 8.1.0 include "${xsimd}" xsimd)
  make_repository(boostorg/hana.git boost-1.81.0 include "${hana}" boost/hana boost/hana.hpp)
  make_repository(xtensor-stack/xtl.git 0.7.2 include "${xtl}" xtl)
  make_repository(xtensor-stack/xtensor.git 0.24.3 include "${xtensor}" xtensor)
  make_repository(nlohmann/json.git v3.11.2 include "${json}" nlohmann)
  make_repository(catchorg/Catch2.git v2.13.10 single_include "${catch}" catch2)
  set(ENV{GIT_CONFIG_COUNT} 1)
  set(ENV{GIT_CONFIG_KEY_0} "url.file://${work}/repositories/.insteadOf")
  set(ENV{GIT_CONFIG_VALUE_0} "https://github.com/")
  run(${configure} -B "${work}/build" "-DTESSERA_SOURCE=${source}"
    -DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=NEVER "-DCONSUMER_COMPONENTS=bridge\;io\;train")
  build_and_run("${work}/build")
  run("${CMAKE_COMMAND}" -G "${generator}" -S "${source}" -B "${work}/tests"
    "-DCMAKE_CXX_COMPILER=${compiler}" -DTESSERA_BUILD_EXAMPLES=OFF
    "-DTESSERA_COMPONENTS=bridge\;io\;train" -DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=NEVER)
  run("${CMAKE_COMMAND}" --build "${work}/tests" --target test_main)

elseif(case STREQUAL "missing_dependency")
  install_library()
  set(without_xtensor "-DCMAKE_PREFIX_PATH=${installation}" -DCMAKE_DISABLE_FIND_PACKAGE_xtensor=ON)
  run(${configure} -B "${work}/not_asked" ${without_xtensor})
  must_not_configure("${work}/asked"
    "component bridge needs xtensor 0\\.24 or newer, which was not found"
    ${without_xtensor} -DCONSUMER_COMPONENTS=bridge)
  must_not_configure("${work}/needed"
    "component train needs component bridge, which needs xtensor 0\\.24 or newer, which was not found"
    ${without_xtensor} -DCONSUMER_COMPONENTS=train)
  must_not_configure("${work}/needed_twice" "component serve needs component train, which needs component bridge"
    ${without_xtensor} -DCONSUMER_COMPONENTS=serve)
  run(${configure} -B "${work}/optional" ${without_xtensor}
    "-DCONSUMER_COMPONENTS=io\;OPTIONAL_COMPONENTS\;train" -DCONSUMER_LINKS=io)
  set(without_yaml "-DCMAKE_PREFIX_PATH=${installation}" -DCMAKE_DISABLE_FIND_PACKAGE_yaml-cpp=ON)
  run(${configure} -B "${work}/train_alone" ${without_yaml} -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
    -DCONSUMER_COMPONENTS=train)
  must_not_configure("${work}/program"
    "component program needs yaml-cpp 0\\.7 or newer, which was not found"
    ${without_yaml} -DCONSUMER_COMPONENTS=program)
  must_not_configure("${work}/unknown" "component cinema is not part of this installation"
    "-DCMAKE_PREFIX_PATH=${installation}" -DCONSUMER_COMPONENTS=cinema)
  must_not_configure("${work}/unknown_source" "TESSERA_COMPONENTS names cinema"
    "-DTESSERA_SOURCE=${source}" -DCONSUMER_COMPONENTS=cinema)

else()
  message(FATAL_ERROR "no case ${case}")
endif()
