// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/sampling_options.hpp>
#include <tessera/program/command_line.hpp>

#include <CLI/CLI.hpp>

#include "opened_model.hpp"

namespace agents {

/// Which model a command runs, and how.
struct model_options {
  std::string path;
  opening how;

  void add_to(CLI::App& app, bool required = true) {
    app.add_option("--model", path, "a GGUF file")->required(required);
    app.add_flag("--exact", how.exact,
                 "widen blocks and bf16 to floats instead of multiplying them stored");
    app.add_option("--threads", how.threads, "that share a step")
        ->capture_default_str()
        ->check(CLI::Range(1, 256));
  }
};

/// The settings of sampling, as options.
inline void add_sampling(CLI::App& app, tessera::sampling_options& s) {
  auto const number = [&](char const* name, auto& value, char const* help) {
    tessera::add_option(app, name, value, help);
  };
  app.add_option("--max-tokens", s.max_tokens, "to generate")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  number("temperature", s.temperature, "0: the likeliest token always");
  number("top_k", s.top_k, "draw from so many of the likeliest tokens; 0: all");
  number("top_p", s.top_p, "draw from the fewest tokens that hold so much probability");
  number("min_p", s.min_p, "leave out tokens below this part of the highest probability");
  number("repetition_penalty", s.repetition_penalty, "of tokens that were seen");
  number("presence_penalty", s.presence_penalty, "of tokens that were generated");
  number("frequency_penalty", s.frequency_penalty, "for each time that they were");
  number("seed", s.seed, "of the draws");
  app.add_option("--stop", s.stop, "texts that end it")->check(tessera::utf8_text());
}

}  // namespace agents
