// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer_gguf.hpp>

#include <text/small.hpp>

namespace test {

/// The tokens and merges of a reference file, as a GGUF file has them.
struct given_file {
  explicit given_file(json const& file) {
    auto const& model = file["model"];
    tokens.resize(model["vocab"].size() + file["added_tokens"].size());
    for (auto const& [token, id] : model["vocab"].items()) tokens[id.get<std::size_t>()] = token;
    auto types = std::vector<std::int32_t>(tokens.size(), 1);
    for (auto const& added : file["added_tokens"]) {
      tokens[added["id"].get<std::size_t>()] = added["content"].get<std::string>();
      types[added["id"].get<std::size_t>()] = added["special"].get<bool>() ? 3 : 4;
    }
    while (tokens.back().empty()) {
      tokens.pop_back();
      types.pop_back();
    }
    for (auto const& pair : model["merges"])
      merges.push_back(pair[0].get<std::string>() + ' ' + pair[1].get<std::string>());
    all = {.model = "gpt2",
           .pre = "gpt-2",
           .tokens = {tokens.begin(), tokens.end()},
           .types = types,
           .merges = {merges.begin(), merges.end()},
           .begin_id = 0,
           .end_id = 1};
  }
  std::vector<std::string> tokens;
  std::vector<std::string> merges;
  gguf_vocabulary all;
};

}  // namespace test
