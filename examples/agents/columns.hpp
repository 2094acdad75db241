// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/protocol.hpp>

#include <memory>
#include <string>

namespace agents {

/// Whom a vote is for: the id of the agent that was shown by a label, else what the vote says.
[[nodiscard]] auto name_of_target(tessera::group_event const& vote,
                                  tessera::group_protocol const& group) -> std::string;

/// A terminal that shows a group at work: one column for each agent, with its state and what it
/// says as it says it. It is on standard error, and is given back as it was when this ends.
class columns {
 public:
  columns(columns const&) = delete;
  columns& operator=(columns const&) = delete;
  ~columns();

  /// Nothing where standard error and input are no terminal, or one that can show no columns, and
  /// where this was built without ncurses.
  [[nodiscard]] static auto open(std::string const& question, std::size_t agents)
      -> std::unique_ptr<columns>;

  void show(tessera::group_event const& event, tessera::group_verdict verdict,
            tessera::group_protocol const& group);

 private:
  struct screen;
  explicit columns(std::unique_ptr<screen> opened);

  std::unique_ptr<screen> screen_;
};

}  // namespace agents
