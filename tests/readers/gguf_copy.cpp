// SPDX-License-Identifier: MIT
// gguf_copy <from> <to> <numbers>: the metadata of a GGUF file, and its tensors' numbers as floats,
// stored anew in the types that they had; and all those floats one after another.
#include <tessera/io/gguf/writer.hpp>

#include <cstdio>

using namespace tessera;

namespace {

template <class T> void copy_if(gguf_writer& to, gguf_pair const& pair) {
  auto const key = std::string{pair.key};
  if (auto const list = pair.value.as_array<T>()) to.set_array(key, *list);
  if (pair.value.is_array() || pair.value.type() != gguf_type_of<T>()) return;
  if (auto const value = pair.value.as<T>()) to.set(key, *value);
}
template <class... T> void copy_as(gguf_writer& to, gguf_pair const& pair) {
  (copy_if<T>(to, pair), ...);
}
void copy(char const* from, char const* to, char const* numbers) {
  auto const mapped = mapped_file(from);
  auto const file = gguf(mapped);
  auto content = gguf_writer{};
  for (auto const& pair : file.metadata())
    if (pair.key == "general.alignment")
      content.set_alignment(file.get<std::uint32_t>(pair.key));
    else
      copy_as<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
              float, bool, std::string_view, std::uint64_t, std::int64_t, double>(content, pair);
  auto all = std::vector<float>{};
  for (auto const& t : file.tensors()) {
    auto const type = static_cast<ggml_type>(t.type->number);
    auto values = std::vector<float>(static_cast<std::size_t>(t.size()));
    decode_numbers(type, file.data(t), values);
    content.add_numbers(std::string{t.name}, type, t.shape(), values);
    all.insert(all.end(), values.begin(), values.end());
  }
  save_gguf(to, content);
  write_file(numbers, {std::as_bytes(std::span{all})});
}

}  // namespace

auto main(int count, char** arguments) -> int {
  try {
    if (count != 4) throw std::invalid_argument("expected: gguf_copy <from> <to> <numbers>");
    copy(arguments[1], arguments[2], arguments[3]);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
