// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

/// Reference values: the arrays of tests/reference/<stem>.txt by name (see golden.py).
class golden {
 public:
  explicit golden(std::string const& stem) {
    auto path = std::string{TESSERA_TEST_DATA};
    path.append("/").append(stem).append(".txt");
    auto file = std::ifstream{path};
    if (not file) throw std::runtime_error{"no reference values: " + path};
    auto line = std::string{};
    while (std::getline(file, line)) {
      if (line.empty() || line[0] == '#') continue;
      auto words = std::istringstream{line};
      auto name = std::string{};
      auto count = std::size_t{};
      words >> name >> count;
      auto& values = arrays_[name];
      for (auto word = std::string{}; words >> word;)
        values.push_back(std::strtod(word.c_str(), nullptr));
      if (values.size() != count) throw std::runtime_error{path + ": " + name + " is cut off"};
    }
  }
  [[nodiscard]] auto operator[](std::string const& name) const -> std::vector<double> const& {
    auto const found = arrays_.find(name);
    if (found == arrays_.end()) throw std::runtime_error{"no reference values named " + name};
    return found->second;
  }

  [[nodiscard]] auto has(std::string const& name) const -> bool { return arrays_.contains(name); }
  [[nodiscard]] auto begin() const { return arrays_.begin(); }
  [[nodiscard]] auto end() const { return arrays_.end(); }

 private:
  std::map<std::string, std::vector<double>> arrays_;
};

}  // namespace test
