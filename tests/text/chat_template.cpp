// SPDX-License-Identifier: MIT
#include <tessera/text/chat_template.hpp>

#include <ranges>

#include <text/given_gguf.hpp>

using namespace test;

namespace {

/// The lines of tests/reference/chat_template.txt: the conversations, then the templates.
auto reference() -> std::vector<json> const& {
  static auto const lines = [] {
    auto file = std::ifstream{std::string{TESSERA_TEST_DATA} + "/chat_template.txt"};
    REQUIRE(file);
    auto result = std::vector<json>{};
    for (auto line = std::string{}; std::getline(file, line);)
      if (not line.starts_with('#')) result.push_back(json::parse(line));
    return result;
  }();
  return lines;
}
auto turns_of(json const& conversation) -> std::vector<chat_turn> {
  auto result = std::vector<chat_turn>{};
  for (auto const& turn : conversation)
    result.push_back({turn["role"].get<std::string>(), turn["content"].get<std::string>()});
  return result;
}
auto text_of(json const& one, char const* key) -> std::string {
  return one[key].get<std::string>();
}
/// The first template of a family in the reference.
auto template_of(std::string_view family) -> std::string {
  for (auto const& one : reference())
    if (one.is_object() && one["family"] == family) return text_of(one, "template");
  FAIL("no template of " << family);
  return {};
}
auto replaced(std::string text, std::string_view what, std::string_view with) -> std::string {
  auto const at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}
auto refusal(std::string const& jinja) -> std::string {
  return complaint([&] { return chat_template::of(jinja); });
}
/// What the conversation is refused with, or nothing.
auto wrong_order(chat_template const& t, std::vector<chat_turn> const& turns) -> std::string {
  try {
    (void)t.render(turns);
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("chat_template: conversations become what transformers' Jinja makes of them") {
  auto const& conversations = reference()[0];
  auto known = 0;
  auto endings = 0;
  for (auto const& one : reference() | std::views::drop(1)) {
    auto const family = text_of(one, "family");
    if (family.empty()) continue;
    ++known;
    INFO(one["template"].dump());
    auto const t =
        chat_template::of(text_of(one, "template"), text_of(one, "begin"), text_of(one, "end"));
    CHECK(t.family() == family);
    CHECK(t.default_system().has_value() == not one["default"].is_null());
    CHECK(t.default_system().value_or("") ==
          (one["default"].is_null() ? "" : text_of(one, "default")));
    REQUIRE(one["cases"].size() == conversations.size());
    for (auto i = std::size_t{0}; i < conversations.size(); ++i) {
      INFO(conversations[i].dump());
      auto const& expected = one["cases"][i];
      auto const turns = turns_of(conversations[i]);
      if (expected[0].is_null()) {
        CHECK_THROWS_AS(t.render(turns), std::invalid_argument);
        continue;
      }
      auto const text = expected[0].get<std::string>();
      CHECK(t.render(turns, false) == text);
      if (turns.back().role == "assistant" && turns.back().content == "b") {
        ++endings;
        CHECK((text.find("b" + std::string{t.end_of_turn()}) < text.size() ||
               text.ends_with("b " + std::string{t.end_of_turn()})));
      }
      CHECK(t.render(turns) == text + expected[1].get<std::string>());
      CHECK(t.render(turns, true, false) ==
            text + expected[expected.size() - 1].get<std::string>());
    }
  }
  CHECK(known >= 12);
  CHECK(endings >= known);
}
TEST_CASE("chat_template: SmolLM2's begins with its own system message") {
  auto const t = chat_template::of(template_of("chatml"));
  auto const turns = std::vector<chat_turn>{{"user", "Hi"}};
  CHECK(t.render(turns) ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}
TEST_CASE("chat_template: a template that says anything else is refused") {
  for (auto const& one : reference() | std::views::drop(1))
    if (text_of(one, "family").empty()) CHECK(not refusal(text_of(one, "template")).empty());
  auto const chat_ml = template_of("chatml");
  for (auto const& [what, with] : std::vector<std::pair<char const*, char const*>>{
           {"<|im_end|>", "<|im_end |>"},
           {"!= 'system'", "!= 'System'"},
           {"loop.first", "loop.last"},
           {"['content']", "['content'] | trim"},
           {"{% endfor %}", "{% endfor %} "},
           {"{% endfor %}", "{% endfor %}{{ eos_token }}"},
           {"{% endfor %}", "{% endfor %}}"},
           {"{% endfor %}", "{% if tools %}{% endif x %}{% endfor %}"},
           {"{% endfor %}", "{% endfor %}{% raw %}{% endraw %}"},
           {"{% endfor %}", ""},
           {"{% if add", "{% if not add"},
           {"assistant", "\\x61ssistant"},
           {"for message in messages", "for message in messages[1:]"}})
    CHECK_THAT(refusal(replaced(chat_ml, what, with)),
               Catch::Matchers::StartsWith("chat template: expected one of the families chatml, "));
  CHECK_THROWS_AS(chat_template::of(replaced(template_of("qwen3"), "[-1]", "[0]")), text_error);
  CHECK_THROWS_AS(
      chat_template::of(replaced(template_of("qwen2.5"), "{%- if tools %}", "{%- if not tools %}")),
      text_error);
  CHECK_THROWS_AS(chat_template::of(replaced(template_of("llama-3"), "| trim", "")), text_error);
  CHECK_THAT(refusal("{{ date_string }}\n\xFF"),
             Catch::Matchers::EndsWith(
                 "got one that writes a date, as Llama 3.1's does: \"{{ date_string }} ?\""));
}
TEST_CASE("chat_template: how a template is written has no meaning") {
  auto const chat_ml = template_of("chatml");
  for (auto const& [what, with] : std::vector<std::pair<char const*, char const*>>{
           {"message['role']", "message . role"},
           {"{% endfor %}", "{%- endfor -%}  \n "},
           {"{% endfor %}", "{% endfor %}\n \t"},
           {"{% endfor %}", "{# for #}{%endfor%}\n   {#- -#} "},
           {"'<|im_end|>' +", "\"<|im_end|>\"+"},
           {"{% endfor %}",
            "{% if tools %}{{ x }}{% if y %}{% endif %}{% else %}{% endif %}{% endfor %}"}})
    CHECK(chat_template::of(replaced(chat_ml, what, with)).family() == "chatml");
}
TEST_CASE("chat_template: half of a template is refused, whatever the half") {
  for (auto const& one : reference() | std::views::drop(1)) {
    auto const whole = text_of(one, "template");
    for (auto n = std::size_t{0}; n + 4 < whole.size(); n += 7)
      CHECK_THROWS_AS(chat_template::of(whole.substr(0, n)), text_error);
  }
  auto deep = std::string{};
  for (auto i = 0; i < 20'000; ++i) deep += "{% if tools %}";
  CHECK_THROWS_AS(chat_template::of(deep), text_error);
  CHECK_THROWS_AS(chat_template::of("{% endif %}"), text_error);
  CHECK_THROWS_AS(chat_template::of("{% else %}"), text_error);
}
TEST_CASE("chat_template: turns in an order that the template refuses are named") {
  auto const t = chat_template::of(template_of("llama-2"), "<s>", "</s>");
  CHECK(wrong_order(t, {{"system", "x"}, {"assistant", "y"}}) ==
        "chat template llama-2: turn 1: expected user, as user and assistant alternate, got "
        "assistant");
  CHECK(wrong_order(t, {{"user", "x"}, {"user", "y"}}) ==
        "chat template llama-2: turn 1: expected assistant, as user and assistant alternate, got "
        "user");
  CHECK(wrong_order(t, {}) == "chat template: expected one turn at least, got none");
}
TEST_CASE("chat_template: content that holds a special token's text is found") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
    "added_tokens": [{"id": 1, "content": "<|im_end|>", "special": true},
                     {"id": 2, "content": "<tool>", "special": false}]})");
  CHECK(has_special_text(t, "a<|im_end|>a"));
  CHECK(not has_special_text(t, "a<tool>a"));
  CHECK(not has_special_text(t, "a<|im_end|"));
}
TEST_CASE("chat_template: content of others holds no special token") {
  auto const t = tokenizer_of(R"({"model": {"type": "BPE", "vocab": {"a": 0, "<unk>": 5},
    "merges": [], "unk_token": "<unk>"},
    "added_tokens": [{"id": 1, "content": "<|im_end|>", "special": true},
                     {"id": 2, "content": "<tool>", "special": false},
                     {"id": 3, "content": "<|im_start|>", "special": true, "lstrip": true},
                     {"id": 4, "content": "\u00a4", "special": true},
                     {"id": 5, "content": "<unk>", "special": true}]})");
  CHECK(without_special_text(t, "") == "");
  CHECK(without_special_text(t, "a<tool>a", std::array{std::string{"<tool>"}}) == "a< tool>a");
  CHECK(without_special_text(t, "a<tool>a<|im_end|") == "a<tool>a<|im_end|");
  CHECK(without_special_text(t, "a<|im_end|>\n  <|im_start|>a") ==
        "a< |im_end|>\n  < |im_start|>a");
  CHECK(without_special_text(t, "<|im_<|im_end|>end|>") == "<|im_< |im_end|>end|>");
  CHECK(without_special_text(t, "unknown b, <unk>") == "unknown b, < unk>");
  CHECK(without_special_text(t, "\u00e9\u00a4a<|im_end|>") == "\u00e9 a< |im_end|>");
  CHECK(without_special_text(t, "\xff<|im_end|>") == "\xEF\xBF\xBD< |im_end|>");
}
TEST_CASE("chat_template: a mark that a tokenizer cuts in pieces is found") {
  auto const missing = [](std::string_view family, std::vector<std::string_view> const& special,
                          std::string_view begin = "", std::string_view end = "") {
    auto file = given_file(kinds()[0]["file"]);
    auto& given = file.all;
    for (auto const* const mark : {"<|im_start|>", "<|im_end|>", "<|start_header_id|>",
                                   "<|end_header_id|>", "<|eot_id|>", "<s>", "</s>"}) {
      given.tokens.emplace_back(mark);
      given.types.push_back(std::ranges::find(special, mark) == special.end() ? 1 : 3);
    }
    return mark_in_pieces(chat_template::of(template_of(family), begin, end), tokenizer_from(given))
        .value_or("");
  };
  for (auto const* const family : {"chatml", "qwen2.5", "qwen3"}) {
    CHECK(missing(family, {"<|im_start|>", "<|im_end|>"}).empty());
    CHECK(missing(family, {"<|im_end|>"}) == "<|im_start|>");
    CHECK(missing(family, {"<|im_start|>"}) == "<|im_end|>");
  }
  auto const llama = {
      std::string_view{"<|start_header_id|>"}, {"<|end_header_id|>"}, {"<|eot_id|>"}};
  CHECK(missing("llama-3", llama).empty());
  CHECK(missing("llama-3", llama, "<s>") == "<s>");
  CHECK(missing("llama-3", {"<|start_header_id|>", "<|eot_id|>"}) == "<|end_header_id|>");
  CHECK(missing("llama-2", {}).empty());
  CHECK(missing("llama-2", {"<s>"}, "<s>", "</s>") == "</s>");
}
