// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/protocol.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace agents {

/// The lines of a text in `width` columns of a terminal, at spaces where there are some; wide
/// letters take two, and what a terminal would obey is left out. The width is at least 2.
[[nodiscard]] auto wrapped(std::string_view text, std::size_t width) -> std::vector<std::string>;

/// A terminal that shows a group at work: one column for each agent, with its state and what it
/// says as it says it. It is on standard error, and is given back as it was when this ends.
class columns {
 public:
  columns(std::string question, std::size_t agents);
  columns(columns const&) = delete;
  columns& operator=(columns const&) = delete;
  ~columns();

  /// Whether standard error and standard input are a terminal that can show columns; without
  /// ncurses where this was built, never.
  [[nodiscard]] static auto can_show() -> bool;

  void show(tessera::group_event const& event, tessera::group_protocol const& group);

 private:
  struct screen;
  std::unique_ptr<screen> screen_;
};

}  // namespace agents
