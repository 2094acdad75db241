// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf.hpp>
#include <tessera/io/gguf/blocks.hpp>
#include <tessera/io/safetensors.hpp>
#include <tessera/io/weight_names.hpp>

#include <algorithm>
#include <optional>

/// The tensors of a file as the parameters of a model.
namespace tessera {

/// Parameters by their names: looks into a file where the bytes are the same, else kept here.
///
/// A move keeps what is seen; what is not kept must live as long.
class arranged_weights {
 public:
  arranged_weights() = default;
  arranged_weights(safetensors tensors, std::vector<std::vector<std::byte>> kept)
      : kept_(std::move(kept)), tensors_(std::move(tensors)) {}
  arranged_weights(arranged_weights&&) = default;
  auto operator=(arranged_weights&&) -> arranged_weights& = default;

  /// For load_parameters and check_parameters.
  [[nodiscard]] auto tensors() const -> safetensors const& { return tensors_; }
  /// The bytes of what is kept here.
  [[nodiscard]] auto kept_bytes() const -> std::size_t {
    auto result = std::size_t{0};
    for (auto const& each : kept_) result += each.size();
    return result;
  }

 private:
  std::vector<std::vector<std::byte>> kept_;
  safetensors tensors_;
};

namespace detail {

/// Makes arranged_weights out of the tensors of a file, by a layout.
class weight_arranger {
 public:
  weight_arranger(safetensors const& file, weight_layout const& layout, model_config const& config)
      : layout_(layout), config_(config) {
    strip_ = not layout.has_prefix && not file.contains(std::string{layout.first});
    add_ =
        layout.has_prefix && not layout.prefix.empty() && file.contains(std::string{layout.first});
    auto count = std::size_t{0};
    for (auto const& [name, entry] : file.tensors()) {
      if (strip_ && layout.without_heads && not name.starts_with(layout.prefix)) continue;
      usual_[usual_name(name)] = &entry;
      ++count;
    }
    if (usual_.size() != count)
      throw safetensors_error("has two tensors that are one of the model by their names");
  }
  [[nodiscard]] auto arranged() && -> arranged_weights {
    for (auto const& [name, entry] : usual_) add_tensor(name, *entry);
    check_tied_head();
    return {safetensors::of(std::move(entries_)), std::move(kept_)};
  }

 private:
  /// A name with the prefix that the parameters have, and the endings of today.
  [[nodiscard]] auto usual_name(std::string const& name) const -> std::string {
    auto result = name;
    if (add_ && not name.starts_with(layout_.prefix) && not name.starts_with("lm_head."))
      result.insert(0, layout_.prefix);
    if (strip_ && name.starts_with(layout_.prefix)) result.erase(0, layout_.prefix.size());
    for (auto const& [old, now] :
         {std::pair{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}})
      if (result.ends_with(old))
        result.replace(result.size() - std::strlen(old), std::string::npos, now);
    return result;
  }
  void add_tensor(std::string const& name, tensor_entry const& entry) {
    for (auto const pattern : layout_.dropped)
      if (fit_name(pattern, name)) return;
    auto used = false;
    for (auto const& rule : layout_.rules)
      for (auto const* const ending : {".weight", ".bias"})
        if (name.ends_with(ending)) {
          auto const stem = std::string_view{name}.substr(0, name.size() - std::strlen(ending));
          for (auto i = std::size_t{0}; i < rule.tensors.size() && not rule.tensors[i].empty(); ++i)
            if (auto const block = fit_name(rule.tensors[i], stem)) {
              used = true;
              if (i == 0) add_parameter(rule, *block, ending);
            }
        }
    if (used) return;
    if (layout_.all_by_rules)
      throw safetensors_error("has a tensor " + json_text(name) +
                              ", which no model of the family " +
                              std::string{name_of(config_.family)} + " has");
    put(name, entry);
  }
  void put(std::string const& name, tensor_entry entry) {
    if (name == head && config_.tied) {
      tied_head_ = std::move(entry);
      return;
    }
    if (not entries_.emplace(name, std::move(entry)).second)
      throw safetensors_error("has two tensors that are " + json_text(name) + " of the model");
  }
  /// Of two that differ, transformers takes both, whatever the configuration says.
  void check_tied_head() const {
    auto const embedding = entries_.find(std::string{layout_.prefix} + std::string{layout_.first});
    if (not tied_head_ || embedding == entries_.end()) return;
    auto const& [name, want] = *embedding;
    if (tied_head_->type != want.type || tied_head_->shape != want.shape ||
        not std::ranges::equal(tied_head_->bytes, want.bytes))
      throw safetensors_error(json_text(head) + " is not " + json_text(name) +
                              ", which a tied head is: expected a model and a configuration whose "
                              "head is not tied");
  }
  void add_parameter(weight_rule const& rule, std::uint64_t block, std::string const& ending) {
    auto const name = name_in_block(rule.parameter, block) + ending;
    auto sources = std::vector<tensor_entry>{};
    for (auto const stem : rule.tensors)
      if (not stem.empty()) sources.push_back(source(name_in_block(stem, block) + ending));
    auto entry = sources.front();
    if (sources.size() > 1) entry = joined(name, sources);
    if (rule.change == weight_change::transposed && entry.shape.size() == 2)
      entry = transposed(name, entry);
    if (rule.change == weight_change::query_rows) entry = turned(name, entry, config_.heads);
    if (rule.change == weight_change::key_rows) entry = turned(name, entry, config_.kv_heads);
    if (rule.parts > 1) entry = part_of(name, entry, rule.part, rule.parts);
    put(name, std::move(entry));
  }
  [[nodiscard]] auto source(std::string const& name) const -> tensor_entry {
    auto const found = usual_.find(name);
    if (found == usual_.end()) throw safetensors_error("has no tensor " + json_text(name));
    return *found->second;
  }

  // -- changes, each of bytes of its own ---------------------------------------------------------
  [[nodiscard]] auto kept(tensor_entry entry, std::vector<std::byte> bytes) -> tensor_entry {
    entry.bytes = kept_.emplace_back(std::move(bytes));
    return entry;
  }
  [[nodiscard]] static auto row_bytes(std::string const& name, tensor_entry const& entry)
      -> std::size_t {
    if (entry.shape.empty() || entry.shape[0] == 0)
      throw safetensors_error(json_text(name) + ": expected rows, got shape " +
                              to_string(entry.shape));
    return entry.bytes.size() / static_cast<std::size_t>(entry.shape[0]);
  }
  [[nodiscard]] auto joined(std::string const& name, std::vector<tensor_entry> const& sources)
      -> tensor_entry {
    auto entry = sources.front();
    auto bytes = std::vector<std::byte>{};
    auto rows = std::uint64_t{0};
    for (auto const& each : sources) {
      if (each.type != entry.type || each.shape.size() != entry.shape.size() ||
          row_bytes(name, each) != row_bytes(name, entry))
        throw safetensors_error(json_text(name) + ": expected rows of one length and type, got " +
                                to_string(entry.shape) + " and " + to_string(each.shape));
      bytes.insert(bytes.end(), each.bytes.begin(), each.bytes.end());
      rows += each.shape[0];
    }
    entry.shape[0] = rows;
    return kept(std::move(entry), std::move(bytes));
  }
  [[nodiscard]] auto transposed(std::string const& name, tensor_entry entry) -> tensor_entry {
    auto const size = bits_of(entry.type) / 8;
    if (size == 0)
      throw safetensors_error(json_text(name) + ": expected numbers of whole bytes, got " +
                              std::string{name_of(entry.type)});
    auto const rows = static_cast<std::size_t>(entry.shape[0]);
    auto const columns = static_cast<std::size_t>(entry.shape[1]);
    auto bytes = std::vector<std::byte>(entry.bytes.size());
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto c = std::size_t{0}; c < columns; ++c)
        std::memcpy(bytes.data() + (c * rows + r) * size,
                    entry.bytes.data() + (r * columns + c) * size, size);
    std::swap(entry.shape[0], entry.shape[1]);
    return kept(std::move(entry), std::move(bytes));
  }
  [[nodiscard]] auto turned(std::string const& name, tensor_entry entry, std::uint64_t heads)
      -> tensor_entry {
    auto const length = row_bytes(name, entry);
    auto const rows = entry.shape[0];
    if (heads == 0 || rows % (2 * heads) != 0)
      throw safetensors_error(json_text(name) + ": expected rows in pairs for " +
                              std::to_string(heads) + " heads, got shape " +
                              to_string(entry.shape));
    auto bytes = std::vector<std::byte>(entry.bytes.size());
    for (auto row = std::uint64_t{0}; row < rows; ++row)
      std::memcpy(
          bytes.data() + static_cast<std::size_t>(row) * length,
          entry.bytes.data() + static_cast<std::size_t>(row_in_file(row, rows, heads)) * length,
          length);
    return kept(std::move(entry), std::move(bytes));
  }
  [[nodiscard]] static auto part_of(std::string const& name, tensor_entry entry, unsigned part,
                                    unsigned parts) -> tensor_entry {
    auto const length = row_bytes(name, entry);
    if (entry.shape[0] % parts != 0)
      throw safetensors_error(json_text(name) + ": expected rows in " + std::to_string(parts) +
                              " parts, got shape " + to_string(entry.shape));
    entry.shape[0] /= parts;
    auto const bytes = static_cast<std::size_t>(entry.shape[0]) * length;
    entry.bytes = entry.bytes.subspan(part * bytes, bytes);
    return entry;
  }

  static constexpr auto head = "lm_head.weight";

  weight_layout layout_;
  model_config const& config_;
  bool strip_ = false;
  bool add_ = false;
  std::map<std::string, tensor_entry const*> usual_;
  std::map<std::string, tensor_entry> entries_;
  std::optional<tensor_entry> tied_head_;
  std::vector<std::vector<std::byte>> kept_;
};

}  // namespace detail

/// The parameters of a model out of the tensors of a file: renamed, transposed, their rows in the
/// order that transformers has, joined or split, as the layout says; a tied head and what is no
/// parameter left out.
///
/// Cost    what is changed is copied; what is not is seen in the file
/// Errors  safetensors_error, which names the tensor
[[nodiscard]] inline auto arrange_weights(safetensors const& file, weight_layout const& layout,
                                          model_config const& config) -> arranged_weights {
  return detail::weight_arranger(file, layout, config).arranged();
}

/// The tensors of a GGUF file as numbers: F32, F16 and BF16 as they stand, blocks as F32.
///
/// Cost    4 bytes for each number in blocks
/// Errors  file_error for a type that is known by name alone
[[nodiscard]] inline auto decode_tensors(gguf const& file) -> arranged_weights {
  auto kept = std::vector<std::vector<std::byte>>{};
  auto entries = std::map<std::string, tensor_entry>{};
  for (auto const& t : file.tensors()) {
    auto entry = tensor_entry{.shape = t.shape(), .bytes = file.data(t)};
    auto const type = static_cast<ggml_type>(t.type->number);
    if (type == ggml_type::f16) entry.type = dtype::f16;
    if (type == ggml_type::bf16) entry.type = dtype::bf16;
    if (t.type->numbers > 1) {
      auto const size = static_cast<std::size_t>(t.size());
      auto& bytes = kept.emplace_back(size * sizeof(float));
      decode_numbers(type, entry.bytes, {reinterpret_cast<float*>(bytes.data()), size});
      entry.bytes = bytes;
    }
    entries.emplace(t.name, std::move(entry));
  }
  return {safetensors::of(std::move(entries)), std::move(kept)};
}

}  // namespace tessera
