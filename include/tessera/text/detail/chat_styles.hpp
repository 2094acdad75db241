// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/detail/jinja_form.hpp>

namespace tessera::detail {

/// Families of templates; a family whose templates are written in two ways is here twice.
struct chat_style {
  enum class kind { chat_ml, qwen2_5, qwen3, llama_2, llama_3 };

  kind family;
  bool always_answers;  ///< begins an answer whether asked to or not
  std::string_view name;
  std::string_view jinja;  ///< "@default@" stands for the default system message
};

inline constexpr auto default_system_mark = std::string_view{"@default@"};
inline constexpr chat_style chat_styles[] = {
    {chat_style::kind::chat_ml, false, "chatml", R"({% for message in messages %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    {chat_style::kind::chat_ml, false, "chatml", R"({% for message in messages %}
{% if loop.first and messages[0].role != 'system' %}
{{ '<|im_start|>system\n@default@<|im_end|>\n' }}{% endif %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    {chat_style::kind::qwen2_5, false, "qwen2.5", R"({% if messages[0].role == 'system' %}
{{ '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{% else %}
{{ '<|im_start|>system\n@default@<|im_end|>\n' }}{% endif %}
{% for message in messages %}
{% if (message.role == 'user') or (message.role == 'system' and not loop.first)
   or (message.role == 'assistant' and not message.tool_calls) %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{{ '<|im_start|>' + message.role }}
{%- if message.content %}{{ '\n' + message.content }}{% endif %}
{{ '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{% if (loop.index0 == 0) or (messages[loop.index0 - 1].role != 'tool') %}
{{ '<|im_start|>user' }}{% endif %}
{{ '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
{%- if loop.last or (messages[loop.index0 + 1].role != 'tool') %}{{ '<|im_end|>\n' }}{% endif %}
{% endif %}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    {chat_style::kind::qwen3, false, "qwen3", R"({% if messages[0].role == 'system' %}
{{ '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{% endif %}
{% set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{% for message in messages[::-1] %}
{% set index = (messages|length - 1) - loop.index0 %}
{% if ns.multi_step_tool and message.role == 'user' and message.content is string
   and not(message.content.startswith('<tool_response>')
   and message.content.endswith('</tool_response>')) %}
{% set ns.multi_step_tool = false %}{% set ns.last_query_index = index %}{% endif %}{% endfor %}
{% for message in messages %}
{% if message.content is string %}{% set content = message.content %}
{% else %}{% set content = '' %}{% endif %}
{% if (message.role == 'user') or (message.role == 'system' and not loop.first) %}
{{ '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{% set reasoning_content = '' %}
{% if '</think>' in content %}
{% set reasoning_content =
   content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
{% set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}
{% if loop.index0 > ns.last_query_index %}
{% if loop.last or (not loop.last and reasoning_content) %}
{{ '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n')
   + '\n</think>\n\n' + content.lstrip('\n') }}
{%- else %}{{ '<|im_start|>' + message.role + '\n' + content }}{% endif %}
{% else %}{{ '<|im_start|>' + message.role + '\n' + content }}{% endif %}
{{ '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{% if loop.first or (messages[loop.index0 - 1].role != 'tool') %}{{ '<|im_start|>user' }}
{%- endif %}{{ '\n<tool_response>\n' + content + '\n</tool_response>' }}
{%- if loop.last or (messages[loop.index0 + 1].role != 'tool') %}{{ '<|im_end|>\n' }}{% endif %}
{% endif %}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %})"},
    {chat_style::kind::qwen3, false, "qwen3", R"({% if messages[0].role == 'system' %}
{{ '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{% endif %}
{% set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{% for message in messages[::-1] %}
{% set index = (messages|length - 1) - loop.index0 %}
{% if ns.multi_step_tool and message.role == 'user' and not(message.content.startswith('<tool_response>')
   and message.content.endswith('</tool_response>')) %}
{% set ns.multi_step_tool = false %}{% set ns.last_query_index = index %}{% endif %}{% endfor %}
{% for message in messages %}
{% if (message.role == 'user') or (message.role == 'system' and not loop.first) %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{% set content = message.content %}
{% set reasoning_content = '' %}
{% if '</think>' in message.content %}
{% set content = message.content.split('</think>')[-1].lstrip('\n') %}
{% set reasoning_content =
   message.content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
{% endif %}
{% if loop.index0 > ns.last_query_index %}
{% if loop.last or (not loop.last and reasoning_content) %}
{{ '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n')
   + '\n</think>\n\n' + content.lstrip('\n') }}
{%- else %}{{ '<|im_start|>' + message.role + '\n' + content }}{% endif %}
{% else %}{{ '<|im_start|>' + message.role + '\n' + content }}{% endif %}
{{ '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{% if loop.first or (messages[loop.index0 - 1].role != 'tool') %}{{ '<|im_start|>user' }}
{%- endif %}{{ '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
{%- if loop.last or (messages[loop.index0 + 1].role != 'tool') %}{{ '<|im_end|>\n' }}{% endif %}
{% endif %}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %})"},
    {chat_style::kind::llama_2, false, "llama-2", R"({% if messages[0].role == 'system' %}
{% set loop_messages = messages[1:] %}{% set system_message = messages[0].content %}
{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}
{% for message in loop_messages %}
{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif %}
{% if loop.index0 == 0 and system_message != false %}
{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message.content %}
{% else %}{% set content = message.content %}{% endif %}
{% if message.role == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
{%- elif message.role == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}
{% endfor %})"},
    {chat_style::kind::llama_3, false, "llama-3", R"({% set loop_messages = messages %}
{% for message in loop_messages %}
{% set content = '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n'
   + message.content | trim + '<|eot_id|>' %}
{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}
{%- endfor %}
{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %})"},
    {chat_style::kind::llama_3, true, "llama-3", R"({% set loop_messages = messages %}
{% for message in loop_messages %}
{% set content = '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n'
   + message.content | trim + '<|eot_id|>' %}
{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}
{%- endfor %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }})"},
};

struct chat_match {
  chat_style const* style = nullptr;
  std::optional<std::string> default_system;
};
/// Whether a template says what the style says, any default system message aside.
[[nodiscard]] inline auto matched_style(chat_style const& style, jinja_tokens const& tokens)
    -> std::optional<chat_match> {
  auto const expected = jinja_reader::tokens_of(style.jinja);
  if (not expected || expected->size() != tokens.size()) return std::nullopt;
  auto result = chat_match{&style, std::nullopt};
  for (auto i = std::size_t{0}; i < tokens.size(); ++i) {
    auto const whole = std::string_view{(*expected)[i].text};
    auto const got = std::string_view{tokens[i].text};
    auto const mark = whole.find(default_system_mark);
    if ((*expected)[i].is_literal != tokens[i].is_literal) return std::nullopt;
    if (mark == std::string_view::npos) {
      if (got != whole) return std::nullopt;
      continue;
    }
    auto const before = whole.substr(0, mark);
    auto const after = whole.substr(mark + default_system_mark.size());
    if (got.size() < before.size() + after.size() || not got.starts_with(before) ||
        not got.ends_with(after))
      return std::nullopt;
    result.default_system = got.substr(before.size(), got.size() - before.size() - after.size());
  }
  return result;
}

/// What Python's strip takes for white space.
inline constexpr std::string_view python_spaces[] = {
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\x1C",   "\x1D",
    "\x1E",   "\x1F",   "\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002",
    "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200A",
    "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};
[[nodiscard]] inline auto python_stripped(std::string_view text) -> std::string_view {
  auto const begins = [&](std::string_view space) { return text.starts_with(space); };
  auto const ends = [&](std::string_view space) { return text.ends_with(space); };
  for (auto const* found = std::ranges::find_if(python_spaces, begins);
       found != std::end(python_spaces); found = std::ranges::find_if(python_spaces, begins))
    text.remove_prefix(found->size());
  for (auto const* found = std::ranges::find_if(python_spaces, ends);
       found != std::end(python_spaces); found = std::ranges::find_if(python_spaces, ends))
    text.remove_suffix(found->size());
  return text;
}
[[nodiscard]] inline auto without_first_line_feeds(std::string_view text) -> std::string_view {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}
[[nodiscard]] inline auto without_last_line_feeds(std::string_view text) -> std::string_view {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

/// The beginning of a template, in one line of ASCII.
[[nodiscard]] inline auto beginning_of(std::string_view jinja) -> std::string {
  auto result = std::string{jinja.substr(0, 60)};
  for (auto& c : result)
    if (c < ' ' || c > '~') c = c == '\n' ? ' ' : '?';
  return '"' + result + (jinja.size() > 60 ? "...\"" : "\"");
}

}  // namespace tessera::detail
