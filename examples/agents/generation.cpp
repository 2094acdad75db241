// SPDX-License-Identifier: MIT
#include "generation.hpp"

#include <tessera/program/terminal_text.hpp>
#include <tessera/train/interrupt.hpp>

#include <cstdio>
#include <future>

#include <unistd.h>

namespace agents {

using namespace tessera;

auto generate_text(opened_model const& model, text_request request,
                   std::function<void(std::string_view)> const& piece) -> generation_result {
  auto service = engine_service(model.runs, model.texts);
  auto ended = std::promise<generation_result>{};
  request.wanted = [] { return not interrupt_guard::requested(); };
  auto const ticket = service.generate(
      std::move(request), [&](text_piece const& one) { piece(one.text); },
      [&](generation_result const& result) { ended.set_value(result); });
  if (not ticket) throw std::runtime_error("the model takes no more requests");
  auto result = ended.get_future().get();
  if (result.reason == finish_reason::failed) throw std::runtime_error(result.error);
  return result;
}

void print_text(std::string_view text) {
  auto const is_terminal = isatty(STDOUT_FILENO) != 0;
  auto const shown = is_terminal ? terminal_text(text) : std::string{text};
  (void)std::fwrite(shown.data(), 1, shown.size(), stdout);
  (void)std::fflush(stdout);
}

}  // namespace agents
