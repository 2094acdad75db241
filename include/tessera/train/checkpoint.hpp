// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/parameters.hpp>
#include <tessera/optim/moments.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/train/progress.hpp>
#include <tessera/train/settings_text.hpp>

#include <functional>
#include <map>
#include <tuple>

/// Checkpoints: one safetensors file with everything that the rest of a training depends on.
///
/// It holds model.<path>, best.<path> and the optimizer's moments by PyTorch's names, what parts of
/// the step remember, the carried states, where the training stood, and the facts that make it the
/// training that it is. One that is resumed from it has the same bits as one that never stopped.
namespace tessera {

/// What a training must have in common with the one it goes on from, by name and in words: its
/// model, its optimizer, its loss.
using training_facts = std::map<std::string, std::string>;

namespace detail {

template <class T>
[[nodiscard]] auto read_scalar(safetensors const& file, std::string const& name, T& to) {
  auto const& entry = file[name];
  if (entry.type != dtype_of<T>() || not entry.shape.empty())
    throw safetensors_error('"' + name + "\": expected one number of dtype " +
                            std::string{name_of(dtype_of<T>())});
  return [&to, &entry] { std::memcpy(&to, entry.bytes.data(), sizeof(T)); };
}

/// Calls f(name, part) for a number or a struct of parameters of the moments, and of the parts of a
/// step.
template <class Training, class Parts>
void for_each_memory(Training& t, Parts& parts, auto const& f) {
  for_each_moment(t.moments, [&](path_name const& path, auto& part) {
    f(std::string{"optimizer."} + path.c_str(), part);
  });
  auto index = 0;
  std::apply(
      [&](auto&... part) {
        [[maybe_unused]] auto const visit = [&](auto& one) {
          auto const prefix = "part." + std::to_string(index++) + '.';
          auto const each = [&](char const* name, auto& memory) { f(prefix + name, memory); };
          if constexpr (requires { one.memory(each); }) one.memory(each);
        };
        (visit(part), ...);
      },
      parts);
}
template <class T> inline constexpr bool is_number = std::is_arithmetic_v<std::remove_const_t<T>>;

/// Errors  safetensors_error where the file says something else, or nothing
inline void check_facts(safetensors const& file, training_facts const& facts) {
  for (auto const& [key, expected] : facts) {
    auto const found = file.metadata().find(key);
    auto const got = found == file.metadata().end() ? std::string{} : found->second;
    if (got != expected)
      throw safetensors_error("was made with the " + key + " \"" + shortened(got, 200) +
                              "\", expected \"" + shortened(expected, 200) + '"');
  }
}
/// Errors  safetensors_error, which names the first that differs
inline void check_settings(safetensors const& file, std::string const& settings) {
  auto const found = file.metadata().find("settings");
  if (found == file.metadata().end()) throw safetensors_error("tells no settings");
  if (auto const difference = settings_difference(settings, found->second); not difference.empty())
    throw safetensors_error("was made with other settings: " + difference);
}

}  // namespace detail

/// Writes a checkpoint, all or nothing. `settings` are the program's: see settings_text.hpp.
///
/// Errors  file_error; the checkpoint before it remains
template <class Training, class Best, class... Parts>
void save_checkpoint(std::filesystem::path const& path, Training& t, Best const& best,
                     training_progress progress, training_facts const& facts,
                     std::string const& settings, std::tuple<Parts...>& parts) {
  auto writer = safetensors_writer{};
  writer.set_metadata("tessera.checkpoint", "2");
  writer.set_metadata("settings", settings);
  for (auto const& [key, fact] : facts) writer.set_metadata(key, fact);
  add_parameters(writer, detail::learned{t.parameters, t.statistics}, "model.");
  add_parameters(writer, best, "best.");
  auto const add_number = [&](std::string const& name, auto const& number) {
    using T = std::remove_cvref_t<decltype(number)>;
    writer.add(name, dtype_of<T>(), {}, std::as_bytes(std::span{&number, 1}));
  };
  detail::for_each_memory(t, parts, [&](std::string const& name, auto const& part) {
    if constexpr (detail::is_number<std::remove_reference_t<decltype(part)>>)
      add_number(name, part);
    else
      add_parameters(writer, part, name + '.');
  });
  progress.for_each([&](char const* name, auto const& number) {
    add_number(std::string{"progress."} + name, number);
  });
  if constexpr (bytes_of<decltype(t.passes[0].state)> > 0)
    for (auto c = std::size_t{0}; c < Training::chunks; ++c)
      writer.add("state." + std::to_string(c), dtype::u8, {sizeof t.passes[c].state},
                 std::as_bytes(std::span{&t.passes[c].state, 1}));
  writer.write(path);
}

/// Accepts every checkpoint.
struct accept_checkpoint {
  void operator()(training_progress const&, training_facts const&) const {}
};

/// Reads a checkpoint: all of it, or nothing where something does not fit. Returns what else the
/// file says of itself; accept(progress, facts) sees it before anything changes, and may throw.
///
/// Errors  safetensors_error for a file that is no checkpoint, or of another training: the tensor
///         and both shapes are named, or the fact and both words, or the first of other settings
///         and both values; with a progress that no training arrives at; file_error
template <class Training, class Best, class... Parts, class Accept = accept_checkpoint>
auto load_checkpoint(std::filesystem::path const& path, Training& t, Best& best,
                     training_progress& progress, training_facts const& facts,
                     std::string const& settings, std::tuple<Parts...>& parts,
                     Accept const& accept = {}) -> training_facts {
  auto const file = safetensors::read(path);
  try {
    auto const version = file.metadata().find("tessera.checkpoint");
    if (version == file.metadata().end()) throw safetensors_error("is no checkpoint of a training");
    if (version->second != "2")
      throw safetensors_error("is a checkpoint of version " + shortened(version->second) +
                              ", expected 2");
    auto model = detail::learned{t.parameters, t.statistics};
    check_parameters(file, model, "model.");
    check_parameters(file, best, "best.");
    detail::check_settings(file, settings);  // first: they are the user's words
    detail::check_facts(file, facts);
    auto copies = std::vector<std::function<void()>>{};
    detail::for_each_memory(t, parts, [&](std::string const& name, auto& part) {
      if constexpr (detail::is_number<std::remove_reference_t<decltype(part)>>) {
        copies.push_back(detail::read_scalar(file, name, part));
      } else {
        check_parameters(file, part, name + '.');
        copies.push_back([&file, &part, name] { load_parameters(file, part, name + '.'); });
      }
    });
    auto found = training_progress{};
    found.for_each([&](char const* name, auto& number) {
      detail::read_scalar(file, std::string{"progress."} + name, number)();
    });
    if (auto const problem = found.problem(); not problem.empty())
      throw safetensors_error("its progress is none: " + problem);
    copies.push_back([&] { progress = found; });
    if constexpr (bytes_of<decltype(t.passes[0].state)> > 0)
      for (auto c = std::size_t{0}; c < Training::chunks; ++c) {
        auto& state = t.passes[c].state;
        auto const name = "state." + std::to_string(c);
        auto const& entry = file[name];
        if (entry.bytes.size() != sizeof state)
          throw safetensors_error('"' + name + "\": expected " + std::to_string(sizeof state) +
                                  " bytes, got " + std::to_string(entry.bytes.size()));
        copies.push_back([&] { std::memcpy(&state, entry.bytes.data(), sizeof state); });
      }
    auto const told = training_facts{file.metadata().begin(), file.metadata().end()};
    accept(std::as_const(found), told);
    load_parameters(file, model, "model.");
    load_parameters(file, best, "best.");
    for (auto const& copy : copies) copy();
    return told;
  } catch (safetensors_error const& e) {
    throw safetensors_error(path.string() + ": " + e.what());
  }
}

}  // namespace tessera
