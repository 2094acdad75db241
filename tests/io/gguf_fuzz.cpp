// SPDX-License-Identifier: MIT
// Bytes of any kind are read or refused; all that is handed out lies within them, and what is read
// is written back and read again, the same.
#include <tessera/io/gguf/writer.hpp>

#include <cstdlib>

using namespace tessera;

namespace {
void want(bool holds) {
  if (not holds) std::abort();
}
template <class T> void touch(gguf_writer& writer, gguf_pair const& pair) {
  auto const key = std::string{pair.key};
  if (key == "general.alignment") return;
  if (auto const list = pair.value.as_array<T>()) writer.set_array(key, *list);
  if (not pair.value.is_array() && pair.value.type() == gguf_type_of<T>()) {
    auto const value = pair.value.as<T>();
    want(value.has_value());
    writer.set(key, *value);
  }
}
template <class... T> void copy_pairs(gguf const& file, gguf_writer& writer) {
  for (auto const& pair : file.metadata()) (touch<T>(writer, pair), ...);
}
void copy_tensors(gguf const& file, std::span<std::byte const> bytes, gguf_writer& writer) {
  for (auto const& t : file.tensors()) {
    want(file.find_tensor(t.name) == &t);
    want(t.bytes.data() >= bytes.data() &&
         t.bytes.data() + t.bytes.size() <= bytes.data() + bytes.size());
    if (not is_readable(*t.type) || t.name.size() >= gguf::longest_name) continue;
    auto const type = static_cast<ggml_type>(t.type->number);
    auto numbers = std::vector<float>(static_cast<std::size_t>(t.size()));
    decode_numbers(type, file.data(t), numbers);
    writer.add(std::string{t.name}, type, t.shape(), t.bytes);
  }
}
void check(std::span<std::byte const> bytes) {
  auto const file = gguf(bytes, "fuzz");
  auto writer = gguf_writer{};
  copy_pairs<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
             float, bool, std::string_view, std::uint64_t, std::int64_t, double>(file, writer);
  copy_tensors(file, bytes, writer);
  auto const header = writer.header();
  auto whole = detail::gguf_bytes{};
  for (auto const part : writer.parts(header)) whole.append(part);
  auto const again = gguf(whole, "again");
  for (auto const& t : again.tensors()) {
    auto const* const before = file.find_tensor(t.name);
    want(before != nullptr && before->shape() == t.shape() && before->type == t.type);
    want(std::ranges::equal(before->bytes, t.bytes));
  }
  for (auto const& [key, value] : again.metadata()) {
    auto const* const before = file.find_value(key);
    want(before != nullptr && before->type() == value.type() && before->size() == value.size());
    want(std::ranges::equal(before->bytes(), value.bytes()));
  }
}
}  // namespace

extern "C" auto LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) -> int {
  auto const bytes = std::as_bytes(std::span{data, size});
  // As it comes, and behind a start that fits: the first two bytes are the counts, and data follow.
  auto framed = detail::gguf_bytes{};
  framed.append(std::as_bytes(std::span{"GGUF", 4}));
  framed.append_value(std::uint32_t{3});
  framed.append_value(std::uint64_t{size > 0 ? data[0] % 8U : 0U});
  framed.append_value(std::uint64_t{size > 1 ? data[1] % 8U : 0U});
  framed.append(bytes.subspan(std::min<std::size_t>(2, size)));
  framed.resize(framed.size() + 256);
  for (auto const each : {bytes, std::span<std::byte const>{framed}}) {
    try {
      check(each);
    } catch (file_error const&) {
    }
  }
  return 0;
}
