// SPDX-License-Identifier: MIT
#include <tessera/io/gguf.hpp>
#include <tessera/io/hugging_face.hpp>

#include <cinttypes>

#include "commands.hpp"

namespace agents {

namespace {

namespace fs = std::filesystem;
using namespace tessera;

constexpr auto longest_text = std::size_t{60};
constexpr auto most_elements = std::size_t{4};

/// A text as JSON has it, cut where it is long.
[[nodiscard]] auto shortened_text(std::string_view text) -> std::string {
  if (text.size() <= longest_text) return json_text(text);
  return json_text(text.substr(0, longest_text)) + "... (" + std::to_string(text.size()) +
         " bytes)";
}
[[nodiscard]] auto described(std::string_view text) -> std::string { return shortened_text(text); }
[[nodiscard]] auto described(bool value) -> std::string { return value ? "true" : "false"; }
template <class T> [[nodiscard]] auto described(T value) -> std::string {
  if constexpr (std::integral<T>) return std::to_string(value);
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}

/// Writes a value where it is a T or an array of them.
template <class T> void describe_as(gguf_value const& value, std::string& text) {
  if (auto const list = value.as_array<T>()) {
    text = '[';
    auto written = std::size_t{0};
    for (auto const element : *list) {
      if (written == most_elements) break;
      text += (written++ == 0 ? "" : ", ") + described(element);
    }
    text += list->size() > written ? ", ...] (" + std::to_string(list->size()) + " elements)" : "]";
  } else if (not value.is_array() && value.type() == gguf_type_of<T>()) {
    if (auto const one = value.as<T>()) text = described(*one);
  }
}
template <class... T> [[nodiscard]] auto describe(gguf_value const& value) -> std::string {
  auto text = std::string{};
  (describe_as<T>(value, text), ...);
  return text;
}
[[nodiscard]] auto type_text(gguf_value const& value) -> std::string {
  auto const element = std::string{name_of(value.element())};
  return value.is_array() ? "array of " + element : element;
}

/// What tensors have together, by the names of their types.
class tensor_sums {
 public:
  void add(std::string_view type, std::uint64_t numbers, std::uint64_t bytes) {
    for (auto* const sum : {&sums_[std::string{type}], &all_}) {
      ++sum->tensors;
      sum->numbers += numbers;
      sum->bytes += bytes;
    }
  }
  void print() const {
    for (auto const& [type, sum] : sums_) print_line(type, sum);
    print_line("all", all_);
  }

 private:
  struct totals {
    std::uint64_t tensors = 0;
    std::uint64_t numbers = 0;
    std::uint64_t bytes = 0;
  };
  static void print_line(std::string const& type, totals const& s) {
    std::printf("  %-8s %6" PRIu64 " tensors %14" PRIu64 " parameters %14" PRIu64 " bytes\n",
                type.c_str(), s.tensors, s.numbers, s.bytes);
  }
  std::map<std::string, totals> sums_;
  totals all_;
};

void print_tensor(std::string_view name, std::string_view type,
                  std::vector<std::uint64_t> const& shape) {
  std::printf("  %s %s %s\n", json_escaped(name).c_str(), std::string{type}.c_str(),
              to_string(shape).c_str());
}

void inspect_gguf(fs::path const& path, bool each) {
  auto const mapped = mapped_file(path);
  auto const file = gguf(mapped);
  std::printf("%s: GGUF version 3, %zu bytes\nmetadata: %zu pairs\n", path.c_str(),
              mapped.bytes().size(), file.metadata().size());
  for (auto const& [key, value] : file.metadata())
    std::printf(
        "  %s (%s) = %s\n", json_escaped(key).c_str(), type_text(value).c_str(),
        describe<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                 std::int32_t, float, bool, std::string_view, std::uint64_t, std::int64_t, double>(
            value)
            .c_str());
  std::printf("tensors: %zu\n", file.tensors().size());
  auto sums = tensor_sums{};
  for (auto const& t : file.tensors()) {
    sums.add(t.type->name, t.size(), t.bytes.size());
    if (each) print_tensor(t.name, t.type->name, t.shape());
  }
  sums.print();
}
void print_safetensors(safetensors const& file, bool each) {
  std::printf("tensors: %zu\n", file.tensors().size());
  auto sums = tensor_sums{};
  for (auto const& [name, entry] : file.tensors()) {
    sums.add(name_of(entry.type), entry.size(), entry.bytes.size());
    if (each) print_tensor(name, name_of(entry.type), entry.shape);
  }
  sums.print();
}
void inspect_safetensors(fs::path const& path, bool each) {
  auto const mapped = mapped_file(path);
  try {
    auto const file = safetensors::look(mapped.bytes());
    std::printf("%s: safetensors, %zu bytes\nmetadata: %zu pairs\n", path.c_str(),
                mapped.bytes().size(), file.metadata().size());
    for (auto const& [key, value] : file.metadata())
      std::printf("  %s = %s\n", json_escaped(key).c_str(), shortened_text(value).c_str());
    print_safetensors(file, each);
  } catch (safetensors_error const& e) {
    throw file_error(path, e.what());
  }
}
void inspect_folder(fs::path const& path, bool each) {
  auto const folder = hugging_face_folder(path);
  auto const& c = folder.config();
  std::printf("%s: a folder of transformers\nmodel:\n", path.c_str());
  for_each_fact(c, [](std::string const& name, auto const& value) {
    std::printf("  %s = %s\n", name.c_str(), detail::described_value(value).c_str());
  });
  std::printf("  max_position_embeddings = %" PRIu64 "\n", c.context);
  print_safetensors(folder.weights(), each);
}
[[nodiscard]] auto inspect(fs::path const& path, bool each) -> int {
  if (fs::is_directory(path))
    inspect_folder(path, each);
  else if (path.extension() == ".safetensors")
    inspect_safetensors(path, each);
  else
    inspect_gguf(path, each);
  return 0;
}

}  // namespace

auto add_inspect(CLI::App& program) -> command {
  struct settings {
    std::string path;
    bool each = false;
  };
  auto* const app = program.add_subcommand("inspect", "print what is in a file or a folder");
  auto const s = std::make_shared<settings>();
  app->add_option("path", s->path, "a GGUF or safetensors file, or a folder of transformers")
      ->required();
  app->add_flag("--tensors", s->each, "each tensor, too");
  return {app, [s] { return inspect(s->path, s->each); }};
}

}  // namespace agents
