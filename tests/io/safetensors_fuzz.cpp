// SPDX-License-Identifier: MIT
// Bytes of any kind are read or refused; what is read is written back and read again, the same.
#include <tessera/io/safetensors.hpp>

#include <cstdlib>

using namespace tessera;

namespace {
void check(std::vector<std::byte> bytes) {
  auto const file = safetensors::parse(std::move(bytes));
  auto writer = safetensors_writer{};
  for (auto const& [name, entry] : file.tensors())
    writer.add(name, entry.type, entry.shape, entry.bytes);
  for (auto const& [key, value] : file.metadata()) writer.set_metadata(key, value);
  auto const again = safetensors::parse(writer.bytes());
  if (again.metadata() != file.metadata()) std::abort();
  for (auto const& [name, entry] : file.tensors()) {
    auto const& other = again[name];
    if (entry.type != other.type || entry.shape != other.shape) std::abort();
    if (not std::equal(entry.bytes.begin(), entry.bytes.end(), other.bytes.begin(),
                       other.bytes.end()))
      std::abort();
  }
}
}  // namespace

extern "C" auto LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) -> int {
  auto const* const bytes = reinterpret_cast<std::byte const*>(data);
  // As it comes, and as the header of a file whose length and data fit.
  auto framed = std::vector<std::byte>(8);
  for (auto i = 0U; i < 8; ++i) framed[i] = static_cast<std::byte>(std::uint64_t{size} >> (8 * i));
  framed.insert(framed.end(), bytes, bytes + size);
  framed.resize(framed.size() + 8);
  for (auto file : {std::vector<std::byte>(bytes, bytes + size), framed}) {
    try {
      check(std::move(file));
    } catch (safetensors_error const&) {
    }
  }
  return 0;
}
