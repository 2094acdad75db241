// SPDX-License-Identifier: MIT
// tokenize <tokenizer.json> <text> <rounds> <to>: the number of tokens, then MB/s of processor time
// for each round of encode and one of decode, one figure a line. What is decoded goes to a file.
#include <tessera/text/tokenizer_file.hpp>

#include <cstdio>
#include <ctime>
#include <fstream>

namespace {

auto rate(std::size_t bytes, auto const& work) -> double {
  auto const begun = std::clock();
  work();
  auto const seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  return static_cast<double>(bytes) / seconds / 1e6;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  auto const t = tessera::load_tokenizer(words[1]);
  auto file = tessera::detail::input_file(words[2]);
  auto const bytes = file.read(file.size());
  auto const text = std::string_view{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  auto e = t.encode(text);
  std::printf("%zu\n", e.size());
  for (auto i = std::stoi(words[3]); i > 0; --i)
    std::printf("%.2f\n", rate(text.size(), [&] { e = t.encode(text); }));
  auto decoded = std::string{};
  std::printf("%.2f\n", rate(text.size(), [&] { decoded = t.decode(e.ids, false); }));
  return std::ofstream(words[4], std::ios::binary) << decoded ? 0 : 1;
}
