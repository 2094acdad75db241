// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf/blocks.hpp>
#include <tessera/io/gguf/model.hpp>
#include <tessera/io/parameters.hpp>
#include <tessera/io/weight_names.hpp>
#include <tessera/models/llama.hpp>

/// Language models whose weights stand in a GGUF file, as they are stored there.
namespace tessera {

namespace detail {

/// What a file calls a parameter; nothing where its family has no such parameter.
[[nodiscard]] inline auto name_in_gguf(model_family family, std::string_view parameter)
    -> std::optional<std::string> {
  for (auto const* const ending : {".weight", ".bias"}) {
    if (not parameter.ends_with(ending)) continue;
    auto const stem = parameter.substr(0, parameter.size() - std::strlen(ending));
    for (auto const& rule : gguf_layout(family).rules)
      if (auto const block = fit_name(rule.parameter, stem))
        return name_in_block(rule.tensors[0], *block) + ending;
  }
  return std::nullopt;
}

/// One parameter out of a tensor of its shape: seen, or converted to what the storage holds.
template <class W> void take_gguf_tensor(gguf const& file, gguf_tensor const& t, W& w, bool set) {
  static_assert(not is_scaled<stored_of<W>>,
                "a GGUF file has no numbers of 8 bits with a scale for each output");
  if constexpr (seen_in_file<W>) {
    using Stored = typename W::stored_type;
    auto seen = W{};
    using in_file = std::conditional_t<is_pairs<Stored>, bf16, block_format_of<Stored>>;
    if constexpr (is_block<Stored>)
      seen.values = reinterpret_cast<Stored const*>(file.data<in_file>(t).data());
    else
      seen.values = file.data<Stored>(t).data();
    if (set) w = seen;
  } else {
    auto const bytes = file.data(t);
    if (not set) return;
    using T = scalar_of<W>;
    auto numbers = std::vector<float>(static_cast<std::size_t>(t.size()));
    decode_numbers(static_cast<ggml_type>(t.type->number), bytes, numbers);
    auto const values = std::vector<T>(numbers.begin(), numbers.end());
    if constexpr (stored_as_weights<W>)
      w.pack(weight_matrix<T>{values.data(), W::in, 1});
    else
      std::ranges::copy(values, w.data());
  }
}

/// The tensor of each parameter, all of which are in the file with their shapes, and no other.
template <class P>
[[nodiscard]] auto tensors_of_parameters(gguf const& file, model_family family, P const& p)
    -> std::vector<gguf_tensor const*> {
  auto result = std::vector<gguf_tensor const*>{};
  auto known = std::set<std::string_view>{};
  for_each_parameter(
      [&](auto const& path, auto const& w) {
        auto const name = name_in_gguf(family, path.c_str());
        if (not name)
          file.fail("no file of the family " + std::string{name_of(family)} + " has a tensor for " +
                    json_text(path.c_str()));
        auto const& t = file.tensor(*name);
        auto const want = file_shape<shape_of<decltype(w)>>();
        if (t.shape() != want)
          file.fail("tensor " + json_text(*name) + ": expected shape " + to_string(want) +
                    ", got " + to_string(t.shape()));
        known.insert(t.name);
        result.push_back(&t);
      },
      p);
  known.insert(rope_factors_name);  // read_model_config has read it
  for (auto const& t : file.tensors())
    if (not known.contains(t.name))
      file.fail("has a tensor " + quoted_name(t.name) + ", which the model has not");
  return result;
}

}  // namespace detail

/// Parameters of `llama<Options>` that see a GGUF file of the families llama, qwen2 or qwen3:
/// with mapped<float, q4_1, Backend, q8_0> its matrices stand in the file, and its other tensors
/// are copied; storages that own their matrices have them converted. All of them, or none where one
/// does not fit. What the file is mapped by must live as long as the parameters.
///
/// Cost    what is copied or converted; for SmolLM2-135M in blocks, 61 norms
/// Errors  file_error, which names every difference between the file's model and the options; or
///         the tensor that is missing, too many, of another shape, or stored otherwise than the
///         storage sees it. Files of llama have pairs of neighbours, those of the others halves:
///         `interleaved` says which, and another file is refused
template <llama_options Options, class P> void load_llama(gguf const& file, P& p) {
  auto const config = read_model_config(file);
  auto const neighbours = config.family == model_family::llama;
  if (not is_rotary(config.family))
    file.fail("expected a model of the family llama, qwen2 or qwen3, got " +
              std::string{name_of(config.family)});
  check_same_model(file.path(), described_model(config.family, Options), config);
  if (neighbours != Options.interleaved)
    file.fail(std::string{"expected a file whose rotary pairs are "} +
              (Options.interleaved ? "neighbours, as those of llama" : "halves") + ", got one of " +
              std::string{name_of(config.family)} + "; llama_options.interleaved says which");
  auto const tensors = detail::tensors_of_parameters(file, config.family, p);
  for (auto const set : {false, true}) {
    auto next = tensors.begin();
    for_each_parameter(
        [&](auto const&, auto& w) { detail::take_gguf_tensor(file, **next++, w, set); }, p);
  }
}

}  // namespace tessera
