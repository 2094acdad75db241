// SPDX-License-Identifier: MIT
// Continues a text by a language model out of a GGUF file.
#include <tessera/generate/compiled_model.hpp>
#include <tessera/generate/engine.hpp>
#include <tessera/text/decode_stream.hpp>
#include <tessera/text/gguf_tokenizer.hpp>

#include <cstdio>
#include <exception>
#include <future>

using namespace tessera;

void go_on(char const* path, char const* text) {
  auto const models = compiled_models();  // those that tessera_model has added to the program
  auto const file = std::make_shared<open_gguf const>(path);
  auto const words = load_tokenizer(file->content);
  auto stream = decode_stream(words);
  auto ended = std::promise<generation_result>{};

  auto request = generation_request{};
  request.prompt = words.encode(text).ids;
  request.options.temperature = 0;  // the likeliest token always
  request.options.max_tokens = 20;
  request.end_tokens = {file->content.get<std::uint32_t>("tokenizer.ggml.eos_token_id")};
  request.part = [&](generated_part const& part) {  // token by token, on the engine's thread
    if (part.token != nullptr) std::printf("%s", stream.put(part.token->token).c_str());
  };
  request.done = [&](generation_result const& result) { ended.set_value(result); };

  auto runs = engine(find_compiled(models, file->content).open_lanes(file).model);
  if (not runs.submit(std::move(request))) throw std::runtime_error("the engine takes no more");
  auto const result = ended.get_future().get();
  if (result.reason == finish_reason::failed) throw std::runtime_error(result.error);
  std::printf("%s\n%zu tokens behind %zu\n", stream.finish().c_str(), result.generated_tokens,
              result.prompt_tokens);
}

auto main(int count, char** arguments) -> int {
  try {
    if (count != 3) throw std::invalid_argument("expected a GGUF file and a text");
    go_on(arguments[1], arguments[2]);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
