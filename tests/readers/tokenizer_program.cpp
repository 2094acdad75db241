// SPDX-License-Identifier: MIT
// tokenizer_program <tokenizer.json>: for each line, a JSON string, what its tokens are, as JSON.
#include <tessera/text/decode_stream.hpp>
#include <tessera/text/tokenizer_file.hpp>

#include <iostream>

using namespace tessera;

int main(int count, char** words) {
  if (count != 2) return 2;
  auto const t = load_tokenizer(words[1]);
  for (auto line = std::string{}; std::getline(std::cin, line);) {
    auto const e = t.encode(nlohmann::json::parse(line).get<std::string>());
    auto offsets = nlohmann::json::array();
    for (auto const& range : e.offsets) offsets.push_back({range.begin, range.end});
    auto stream = decode_stream(t, false);
    auto pieces = nlohmann::json::array();
    for (auto const id : e.ids) pieces.push_back(stream.put(id));
    pieces.push_back(stream.finish());
    std::cout << nlohmann::json{{"ids", e.ids},
                                {"offsets", offsets},
                                {"types", e.type_ids},
                                {"text", t.decode(e.ids, false)},
                                {"plain", t.decode(e.ids)},
                                {"pieces", pieces}}
                     .dump()
              << '\n';
  }
}
