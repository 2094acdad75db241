# tessera_model(<target> <config.json> [WEIGHTS <matrices>[/<embedding>]...] [EXACT]
#               [CONTEXT <tokens>] [LANES <sequences>] [ROWS <tokens>])
#
# Compiles the model that a config.json of transformers describes into a program: its table
# tessera::compiled_models() (generate/compiled_model.hpp) has an entry for each of the WEIGHTS, by
# which a GGUF file of llama, qwen2 or qwen3 is run. The words are f32, f16, bf16, q4_0, q4_1 and
# q8_0, and the embedding's are the matrices' unless said. Blocks and bf16 are multiplied as they are
# stored, and what attention remembers is kept as f16; with EXACT there is an entry beside each that
# widens them, and keeps floats.
#
#   CONTEXT  tokens of a sequence: as many as the config has, or fewer (2048)
#   LANES    sequences at a time (8)
#   ROWS     tokens of a step (32)
#
# A config of bert gives vectors of sentences for folders of transformers; it takes no WEIGHTS.
# Every entry is a source file of its own, which g++ compiles in half a minute or so. A program has
# one table, its own or that of one OBJECT library.
function(tessera_model target config)
  cmake_parse_arguments(PARSE_ARGV 2 arg "EXACT" "CONTEXT;LANES;ROWS" "WEIGHTS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tessera_model: got ${arg_UNPARSED_ARGUMENTS}, which is no option")
  endif()
  # Of two libraries with a table a linker would take one, and say nothing.
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(EXECUTABLE|OBJECT_LIBRARY)$")
    message(FATAL_ERROR
      "tessera_model: expected a program or an OBJECT library, ${target} is of type ${type}")
  endif()
  get_filename_component(path "${config}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  file(READ "${path}" text)
  tessera_config_value(family "${text}" "${path}" model_type "")
  if(family MATCHES "^(llama|qwen2|qwen3)$")
    if(NOT arg_WEIGHTS)
      message(FATAL_ERROR "tessera_model: expected WEIGHTS for ${config}, got none")
    endif()
    tessera_rotary_entries()
  elseif(family STREQUAL "bert")
    if(arg_WEIGHTS OR arg_EXACT OR arg_CONTEXT OR arg_LANES OR arg_ROWS)
      message(FATAL_ERROR "tessera_model: ${config} is of bert, which takes no options")
    endif()
    tessera_bert_entry()
  else()
    message(FATAL_ERROR "tessera_model: expected a model_type of llama, qwen2, qwen3 or bert in "
      "${config}, got ${family}")
  endif()
  tessera_write_table()
endfunction()

# A member of a JSON object, or the default where it has none; an empty default is none.
function(tessera_config_value result text path name default)
  string(JSON value ERROR_VARIABLE missing GET "${text}" ${name})
  if(missing OR value STREQUAL "")
    if(default STREQUAL "")
      message(FATAL_ERROR "tessera_model: ${path} has no ${name}")
    endif()
    set(value "${default}")
  elseif(value STREQUAL "ON" OR value STREQUAL "OFF")  # string(JSON)'s words for true and false
    string(REPLACE ON true value "${value}")
    string(REPLACE OFF false value "${value}")
  endif()
  if(NOT value MATCHES "^[A-Za-z0-9_.+-]+$")
    message(FATAL_ERROR "tessera_model: ${path}: ${name}: expected a number or a word, got ${value}")
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# Stops where a member is no number from 1.
function(tessera_config_count name value path)
  if(NOT value MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR
      "tessera_model: ${path}: expected a number from 1 for ${name}, got ${value}")
  endif()
endfunction()

# Reads the members that `names` lists, each as name or name=default, into variables of their names.
macro(tessera_config_values)
  foreach(item ${ARGN})
    string(REPLACE "=" ";" item "${item};")
    list(GET item 0 item_name)
    list(GET item 1 item_default)
    tessera_config_value(${item_name} "${text}" "${path}" ${item_name} "${item_default}")
  endforeach()
endmacro()

# The C++ type of a word of WEIGHTS.
function(tessera_weights_type result word exact)
  if(word MATCHES "^(q4_0|q4_1|q8_0|bf16)$")
    set(type "tessera::${word}")
    if(NOT exact)
      set(type "tessera::as_stored<${type}>")
    endif()
  elseif(word STREQUAL "f16")
    set(type tessera::f16)
  elseif(word STREQUAL "f32")
    set(type float)
  else()
    message(FATAL_ERROR
      "tessera_model: expected WEIGHTS of f32, f16, bf16, q4_0, q4_1 or q8_0, got ${word}")
  endif()
  set(${result} "${type}" PARENT_SCOPE)
endfunction()

# How positions are turned: rope_parameters of newer files, or rope_theta and rope_scaling of older
# ones. Sets rope_theta and, as an initializer in C++, rope_scaling.
macro(tessera_rope)
  tessera_config_values(rope_theta=10000.0 partial_rotary_factor=1)
  set(rope "")
  foreach(name rope_scaling rope_parameters)
    string(JSON found ERROR_VARIABLE none GET "${text}" ${name})
    if(NOT none AND found AND NOT found STREQUAL "{}")
      if(rope)  # of both transformers takes rope_scaling alone
        message(FATAL_ERROR
          "tessera_model: ${path}: expected no rope_scaling beside rope_parameters, got one")
      endif()
      set(rope "${found}")
    endif()
  endforeach()
  set(rope_scaling "{}")
  if(rope)
    tessera_config_value(rope_type "${rope}" "${path}" type default)
    tessera_config_value(rope_type "${rope}" "${path}" rope_type ${rope_type})
    tessera_config_value(rope_theta "${rope}" "${path}" rope_theta ${rope_theta})
    if(rope_type STREQUAL "linear" OR rope_type STREQUAL "llama3")
      tessera_config_value(factor "${rope}" "${path}" factor "")
      set(rope_scaling ".kind = tessera::rotary_kind::${rope_type}, .factor = ${factor}")
    elseif(NOT rope_type STREQUAL "default")
      message(FATAL_ERROR "tessera_model: ${path}: expected a rope_type of default, linear or "
        "llama3, got ${rope_type}")
    endif()
    if(rope_type STREQUAL "llama3")
      tessera_config_value(low "${rope}" "${path}" low_freq_factor "")
      tessera_config_value(high "${rope}" "${path}" high_freq_factor "")
      tessera_config_value(trained "${rope}" "${path}" original_max_position_embeddings "")
      string(APPEND rope_scaling
        ", .low_factor = ${low}, .high_factor = ${high}, .context = ${trained}")
    endif()
    if(NOT rope_type STREQUAL "default")
      set(rope_scaling "{${rope_scaling}}")
    endif()
    tessera_config_value(partial_rotary_factor "${rope}" "${path}" partial_rotary_factor
      ${partial_rotary_factor})
  endif()
  if(NOT partial_rotary_factor MATCHES "^1(\\.0*)?$")
    message(FATAL_ERROR "tessera_model: ${path}: expected a partial_rotary_factor of 1, got "
      "${partial_rotary_factor}")
  endif()
endmacro()

macro(tessera_rotary_entries)
  tessera_config_values(vocab_size hidden_size num_hidden_layers num_attention_heads
    intermediate_size max_position_embeddings rms_norm_eps=1e-6
    tie_word_embeddings=false attention_bias=false)
  set(kv_heads ${num_attention_heads})
  string(JSON found ERROR_VARIABLE missing GET "${text}" num_key_value_heads)
  if(missing AND family MATCHES "^qwen")  # as transformers' Qwen2Config and Qwen3Config
    set(kv_heads 32)
  endif()
  tessera_config_values(num_key_value_heads=${kv_heads})
  foreach(name vocab_size hidden_size num_hidden_layers num_attention_heads num_key_value_heads
      intermediate_size max_position_embeddings)
    tessera_config_count(${name} "${${name}}" "${path}")
  endforeach()
  set(head_dim 128)
  string(JSON found ERROR_VARIABLE missing GET "${text}" head_dim)
  if(missing AND NOT family STREQUAL "qwen3")
    math(EXPR head_dim "${hidden_size} / ${num_attention_heads}")
    math(EXPR rest "${hidden_size} % ${num_attention_heads}")
    if(rest)
      message(FATAL_ERROR "tessera_model: ${path}: expected a hidden_size that is a multiple of "
        "num_attention_heads, got ${hidden_size} and ${num_attention_heads}")
    endif()
  endif()
  tessera_config_values(head_dim=${head_dim})
  tessera_config_count(head_dim "${head_dim}" "${path}")
  foreach(fact hidden_act=silu use_sliding_window=false is_causal=true)
    tessera_config_values(${fact})
    string(REPLACE "=" ";" words "${fact}")
    list(GET words 0 name)
    list(GET words 1 wanted)
    if(NOT "${${name}}" STREQUAL "${wanted}")
      message(FATAL_ERROR
        "tessera_model: ${path}: expected a ${name} of ${wanted}, got ${${name}}")
    endif()
  endforeach()
  tessera_rope()
  set(qkv_bias ${attention_bias})
  set(qk_norm false)
  set(neighbours false)
  if(family STREQUAL "qwen2")
    set(qkv_bias true)
  elseif(family STREQUAL "qwen3")
    set(qk_norm true)
  else()
    set(neighbours true)  # so GGUF files of llama have them
  endif()
  set(context 2048)
  if(context GREATER max_position_embeddings)
    set(context ${max_position_embeddings})
  endif()
  set(lanes 8)
  set(rows 32)
  foreach(name CONTEXT LANES ROWS)
    if(DEFINED arg_${name})
      if(NOT arg_${name} MATCHES "^[1-9][0-9]*$")
        message(FATAL_ERROR
          "tessera_model: ${config}: expected a number from 1 for ${name}, got ${arg_${name}}")
      endif()
      string(TOLOWER "${name}" lower)
      set(${lower} "${arg_${name}}")
    endif()
  endforeach()
  if(context GREATER max_position_embeddings)
    message(FATAL_ERROR "tessera_model: expected a CONTEXT of at most ${max_position_embeddings}, "
      "max_position_embeddings of ${config}, got ${context}")
  endif()
  set(forms false)
  if(arg_EXACT)
    list(APPEND forms true)
  endif()
  foreach(weights IN LISTS arg_WEIGHTS)
    if(NOT weights MATCHES "^[^/]+(/[^/]+)?$")
      message(FATAL_ERROR "tessera_model: ${config}: expected WEIGHTS of the matrices, or of these "
        "and the embedding as in q4_1/q8_0, got ${weights}")
    endif()
    string(REPLACE "/" ";" words "${weights};${weights}")
    list(GET words 0 matrix_word)
    list(GET words 1 table_word)
    foreach(exact IN LISTS forms)
      if(exact AND NOT matrix_word MATCHES "^(q|bf16)")
        continue()
      endif()
      if("bf16" IN_LIST words AND NOT exact)
        foreach(width hidden_size intermediate_size)
          math(EXPR rest "${${width}} % 16")
          if(rest)
            message(FATAL_ERROR "tessera_model: ${config}: expected multiples of 16 for bf16, got "
              "${width} ${${width}}")
          endif()
        endforeach()
      endif()
      tessera_weights_type(matrix ${matrix_word} ${exact})
      set(exact_table ${exact})  # matrices in floats go with a table in floats
      if(matrix_word MATCHES "^f")
        set(exact_table true)
      endif()
      tessera_weights_type(table ${table_word} ${exact_table})
      tessera_add_entry("#include <tessera/generate/compiled_llama.hpp>" "
  static constexpr auto options = tessera::llama_options{.vocabulary = ${vocab_size},
                                                         .width = ${hidden_size},
                                                         .blocks = ${num_hidden_layers},
                                                         .heads = ${num_attention_heads},
                                                         .kv_heads = ${num_key_value_heads},
                                                         .head_width = ${head_dim},
                                                         .hidden = ${intermediate_size},
                                                         .context = ${context},
                                                         .rotary_base = ${rope_theta},
                                                         .scaling = ${rope_scaling},
                                                         .epsilon = ${rms_norm_eps},
                                                         .tied = ${tie_word_embeddings},
                                                         .qkv_bias = ${qkv_bias},
                                                         .qk_norm = ${qk_norm},
                                                         .interleaved = ${neighbours}};
  return tessera::compile_llama<tessera::model_family::${family}, options, ${matrix}, ${table},
                                ${lanes}, ${rows}>(\"${config}\");")
    endforeach()
  endforeach()
endmacro()

macro(tessera_bert_entry)
  tessera_config_values(vocab_size hidden_size num_hidden_layers num_attention_heads
    intermediate_size max_position_embeddings type_vocab_size layer_norm_eps=1e-12)
  tessera_add_entry("#include <tessera/generate/compiled_bert.hpp>" "
  static constexpr auto options = tessera::bert_options{.vocabulary = ${vocab_size},
                                                        .width = ${hidden_size},
                                                        .blocks = ${num_hidden_layers},
                                                        .heads = ${num_attention_heads},
                                                        .hidden = ${intermediate_size},
                                                        .context = ${max_position_embeddings},
                                                        .types = ${type_vocab_size},
                                                        .epsilon = ${layer_norm_eps}};
  return tessera::compile_bert<options>(\"${config}\");")
endmacro()

# One source file for one entry of the target's table.
function(tessera_add_entry include body)
  get_target_property(count ${target} TESSERA_MODELS)
  if(NOT count)
    set(count 0)
  endif()
  get_target_property(folder ${target} BINARY_DIR)
  string(APPEND folder "/${target}_models")
  file(CONFIGURE OUTPUT "${folder}/model_${count}.cpp" @ONLY CONTENT
    "// Written by tessera_model.
${include}

auto tessera_model_${count}() -> tessera::compiled_model {${body}
}
")
  target_sources(${target} PRIVATE "${folder}/model_${count}.cpp")
  math(EXPR count "${count} + 1")
  set_target_properties(${target} PROPERTIES TESSERA_MODELS ${count})
endfunction()

function(tessera_write_table)
  get_target_property(count ${target} TESSERA_MODELS)
  get_target_property(folder ${target} BINARY_DIR)
  string(APPEND folder "/${target}_models")
  set(declarations)
  set(calls)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(APPEND declarations "auto tessera_model_${i}() -> tessera::compiled_model;\n")
    string(APPEND calls "  result.push_back(tessera_model_${i}());\n")
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/table.cpp" @ONLY CONTENT
    "// Written by tessera_model.
#include <tessera/generate/compiled_model.hpp>

${declarations}
auto tessera::compiled_models() -> std::vector<compiled_model> {
  auto result = std::vector<compiled_model>{};
${calls}  return result;
}
")
  target_sources(${target} PRIVATE "${folder}/table.cpp")
endfunction()
