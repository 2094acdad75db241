// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::detail {

/// The data of server-sent events, whatever pieces their bytes come in.
///
/// Errors  std::runtime_error for an event of more than a megabyte
/// Source  WHATWG HTML, 9.2.6; other fields than `data` are of no use here
class event_lines {
 public:
  void feed(std::string_view bytes, std::function<void(std::string const&)> const& on_data) {
    for (auto const letter : bytes) {
      auto const follows_return = letter == '\n' && last_ == '\r';
      last_ = letter;
      if (follows_return) continue;
      if (letter == '\n' || letter == '\r')
        end_line(on_data);
      else
        line_ += letter;
      if (line_.size() + data_.size() > most)
        throw std::runtime_error("expected events of at most a megabyte, got more");
    }
  }

 private:
  static constexpr auto most = std::size_t{1} << 20U;

  void end_line(std::function<void(std::string const&)> const& on_data) {
    auto const line = std::exchange(line_, {});
    if (line.empty()) {
      if (std::exchange(has_data_, false)) on_data(std::exchange(data_, {}));
      return;
    }
    auto const colon = line.find(':');
    if (line.substr(0, colon) != "data") return;
    auto value = colon == std::string::npos ? std::string{} : line.substr(colon + 1);
    if (value.starts_with(' ')) value.erase(0, 1);
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }

  std::string line_;
  std::string data_;
  bool has_data_ = false;
  char last_ = 0;
};

}  // namespace tessera::detail
