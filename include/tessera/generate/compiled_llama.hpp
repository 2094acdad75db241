// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/compiled_model.hpp>
#include <tessera/io/llama_file.hpp>

namespace tessera::detail {

/// The name of a type of tensors in files.
template <class Stored> [[nodiscard]] constexpr auto name_in_files() -> char const* {
  using format = block_format_of<Stored>;
  if constexpr (std::same_as<Stored, bf16> || std::same_as<format, bf16_pairs>)
    return "BF16";
  else if constexpr (std::same_as<format, q4_0>)
    return "Q4_0";
  else if constexpr (std::same_as<format, q4_1>)
    return "Q4_1";
  else if constexpr (std::same_as<format, q8_0>)
    return "Q8_0";
  else if constexpr (std::same_as<Stored, f16>)
    return "F16";
  else {
    static_assert(std::same_as<Stored, float>, "compile_llama: no file has such weights");
    return "F32";
  }
}

}  // namespace tessera::detail

namespace tessera::detail::inline TESSERA_TARGET {

/// compile_llama, by options as they are.
template <model_family Family, llama_options Options, class Matrix, class Table, std::size_t Lanes,
          std::size_t Rows>
[[nodiscard]] auto compile_llama_with(std::string_view config) -> compiled_model {
  using model = llama<Options>;
  constexpr auto heads = Options.kv_heads == 0 ? Options.heads : Options.kv_heads;
  constexpr auto head_width =
      Options.head_width == 0 ? Options.width / Options.heads : Options.head_width;
  using P = parameters_of<model, mapped<float, Matrix, default_backend, Table>>;
  struct held {
    std::shared_ptr<open_gguf const> file;
    P parameters;
  };
  auto open = [](std::shared_ptr<open_gguf const> file) -> opened_lanes {
    auto whole = std::make_shared<held>(held{std::move(file), {}});
    load_llama<Options>(whole->file->content, whole->parameters);
    auto const parameters = std::shared_ptr<P const>(whole, &whole->parameters);
    using backend =
        std::conditional_t<is_pairs<Matrix> || is_pairs<Table>, relaxed, default_backend>;
    using lanes = streamed_lanes<model, Lanes, Rows, P, backend>;
    auto result = opened_lanes{};
    result.model = std::make_unique<lanes>(parameters, Options.context);
    result.parameter_bytes = sizeof(P);
    result.stream_bytes = lanes::bytes;
    result.token_bytes = 2 * heads * head_width * Options.blocks *
                         (Options.half_cache ? sizeof(f16) : sizeof(float));
    result.token_runs = 2 * Options.blocks;
    result.attention_bytes =
        sizeof(attention_fn::workspace<tensor<float, shape<Rows, Options.width>>, Options.context,
                                       head_width>);
    return result;
  };
  return {.config = std::string{config},
          .description = described_model(Family, Options),
          .matrices = name_in_files<Matrix>(),
          .embedding = name_in_files<Table>(),
          .exact = not is_as_stored<Matrix> && storable_as<as_stored<Matrix>, float>,
          .open_lanes = open};
}

}  // namespace tessera::detail::inline TESSERA_TARGET

namespace tessera::inline TESSERA_TARGET {

/// A model of the families llama, qwen2 and qwen3 with weights as a GGUF file has them: matrices of
/// Matrix and an embedding of Table, which are q4_0, q4_1, q8_0, bf16, as_stored of these, f16 or
/// float. As stored, where activations are rounded too, caches hold keys and values as f16, and
/// bf16 goes by the processor's matrix unit, where it has one (ops/simd/pair_product_by_tiles.hpp).
///
/// Cost    a step of up to Rows tokens is compiled once for each call of this
template <model_family Family, llama_options Options, class Matrix, class Table, std::size_t Lanes,
          std::size_t Rows>
[[nodiscard]] auto compile_llama(std::string_view config) -> compiled_model {
  constexpr auto with_cache = [] {
    auto o = Options;
    o.half_cache = o.half_cache || is_as_stored<Matrix>;
    return o;
  }();
  return detail::compile_llama_with<Family, with_cache, Matrix, Table, Lanes, Rows>(config);
}

}  // namespace tessera::inline TESSERA_TARGET
