// SPDX-License-Identifier: MIT
#pragma once

#include <support/test.hpp>
#include <tessera/io/gguf/writer.hpp>
#include <tessera/io/llama_file.hpp>

/// A llama of 32 numbers, and GGUF files of it.
namespace test::small_llama {

using namespace tessera;

constexpr auto options = llama_options{.vocabulary = 32,
                                       .width = 32,
                                       .blocks = 2,
                                       .heads = 2,
                                       .kv_heads = 1,
                                       .hidden = 64,
                                       .context = 16,
                                       .epsilon = 1e-5,
                                       .tied = true,
                                       .interleaved = true};
using model = llama<options>;
using in_blocks = parameters_of<model, mapped<float, q4_1, default_backend, q8_0>>;
using in_numbers = parameters_of<model, owned<float>>;

/// What a file of the model above differs in.
struct changes {
  std::string family = "llama";
  std::string without = {};     ///< a tensor
  std::string transposed = {};  ///< a matrix
  std::uint32_t hidden = 64;
  ggml_type matrices = ggml_type::q4_1;
  ggml_type embedding = ggml_type::q8_0;
  bool another = false;    ///< a tensor of no model
  std::string other = {};  ///< a matrix of another type:
  ggml_type type_of_other = ggml_type::q8_0;
  std::vector<float> rope_factors = {};
};
[[nodiscard]] inline auto written(std::filesystem::path const& path, changes const& c = {})
    -> std::filesystem::path {
  auto writer = gguf_writer{};
  auto const set = [&](char const* key, auto value) { writer.set(c.family + key, value); };
  writer.set("general.architecture", std::string_view{c.family});
  set(".embedding_length", std::uint32_t{32});
  set(".block_count", std::uint32_t{2});
  set(".attention.head_count", std::uint32_t{2});
  set(".attention.head_count_kv", std::uint32_t{1});
  set(".feed_forward_length", c.hidden);
  set(".context_length", std::uint32_t{16});
  set(".attention.layer_norm_rms_epsilon", 1e-5F);
  writer.set_array("tokenizer.ggml.tokens", std::vector<std::string_view>(32, "a"));
  auto const p = std::make_unique<in_numbers>();
  test::fill_parameters(*p, 1, 0.6);
  for_each_parameter(
      [&](path_name const& parameter, auto const& w) {
        using S = shape_of<decltype(w)>;
        auto const name = *detail::name_in_gguf(model_family::llama, parameter.c_str());
        auto shape = file_shape<S>();
        auto const type = S::rank == 1                  ? ggml_type::f32
                          : name == "token_embd.weight" ? c.embedding
                          : name == c.other             ? c.type_of_other
                                                        : c.matrices;
        if (name == c.transposed) std::swap(shape[0], shape[1]);
        if (name != c.without) writer.add_numbers(name, type, shape, {w.data(), w.size()});
      },
      *p);
  if (c.another) writer.add_numbers("blk.0.more", ggml_type::f32, {1}, std::vector<float>{1});
  if (not c.rope_factors.empty())
    writer.add_numbers("rope_freqs.weight", ggml_type::f32, {c.rope_factors.size()},
                       c.rope_factors);
  save_gguf(path, writer);
  return path;
}

}  // namespace test::small_llama
