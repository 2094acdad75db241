// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/parameters.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/train/progress.hpp>
#include <tessera/train/settings_text.hpp>

#include <functional>

/// Checkpoints: one safetensors file with everything that the rest of a training depends on.
///
/// It holds model.<path>, best.<path> and the optimizer's moments by PyTorch's names, the carried
/// states, and where the training stood. A training that is resumed from it has the same bits as
/// one that never stopped.
namespace tessera {

namespace detail {

/// Calls f(name, part) for every part of an optimizer's moments.
template <class M> void for_each_moment(M& moments, auto&& f) {
  if constexpr (requires { moments.first; }) {
    f("optimizer.first.", moments.first);
    f("optimizer.second.", moments.second);
  } else if constexpr (requires { moments.velocity; }) {
    f("optimizer.velocity.", moments.velocity);
  }
}
template <class T>
[[nodiscard]] auto read_scalar(safetensors const& file, std::string const& name, T& to) {
  auto const& entry = file[name];
  if (entry.type != dtype_of<T>() || not entry.shape.empty())
    throw safetensors_error('"' + name + "\": expected one number of dtype " +
                            std::string{name_of(dtype_of<T>())});
  return [&to, &entry] { std::memcpy(&to, entry.bytes.data(), sizeof(T)); };
}

}  // namespace detail

/// Writes a checkpoint, all or nothing.
///
/// Errors  file_error; the checkpoint before it remains
template <class Training, class Parameters>
void save_checkpoint(std::filesystem::path const& path, Training const& t, Parameters const& best,
                     training_progress progress, std::string const& model,
                     std::string const& settings) {
  auto writer = safetensors_writer{};
  writer.set_metadata("tessera.checkpoint", "1");
  writer.set_metadata("model", model);
  writer.set_metadata("settings", settings);
  add_parameters(writer, t.parameters, "model.");
  add_parameters(writer, best, "best.");
  detail::for_each_moment(t.moments, [&](char const* prefix, auto const& part) {
    add_parameters(writer, part, prefix);
  });
  auto const one = [](auto const& number) { return std::as_bytes(std::span{&number, 1}); };
  writer.add("optimizer.steps", dtype::u64, {}, one(t.moments.steps));
  progress.for_each([&](char const* name, auto const& number) {
    using T = std::remove_cvref_t<decltype(number)>;
    writer.add(std::string{"progress."} + name, dtype_of<T>(), {}, one(number));
  });
  if constexpr (bytes_of<decltype(t.passes[0].state)> > 0)
    for (auto c = std::size_t{0}; c < Training::chunks; ++c)
      writer.add("state." + std::to_string(c), dtype::u8, {sizeof t.passes[c].state},
                 one(t.passes[c].state));
  writer.write(path);
}

/// Reads a checkpoint: all of it, or nothing where something does not fit.
///
/// Errors  safetensors_error for a file that is no checkpoint, or of another model: the tensor and
///         both shapes are named; of other settings: the first one and both values are; with a
///         progress that no training arrives at; file_error
template <class Training, class Parameters>
void load_checkpoint(std::filesystem::path const& path, Training& t, Parameters& best,
                     training_progress& progress, std::string const& model,
                     std::string const& settings) {
  auto const file = safetensors::read(path);
  try {
    if (not file.metadata().contains("tessera.checkpoint"))
      throw safetensors_error("is no checkpoint of a training");
    check_parameters(file, t.parameters, "model.");
    check_parameters(file, best, "best.");
    detail::for_each_moment(t.moments, [&](char const* prefix, auto const& part) {
      check_parameters(file, part, prefix);
    });
    if (auto const found = file.metadata().find("model");
        found == file.metadata().end() || found->second != model)
      throw safetensors_error("was made by the model \"" +
                              (found == file.metadata().end() ? "" : found->second) +
                              "\", expected \"" + model + '"');
    if (auto const found = file.metadata().find("settings"); found == file.metadata().end())
      throw safetensors_error("tells no settings");
    else if (auto const difference = settings_difference(settings, found->second);
             not difference.empty())
      throw safetensors_error("was made with other settings: " + difference);
    auto copies = std::vector<std::function<void()>>{};
    copies.push_back(detail::read_scalar(file, "optimizer.steps", t.moments.steps));
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
    load_parameters(file, t.parameters, "model.");
    load_parameters(file, best, "best.");
    detail::for_each_moment(
        t.moments, [&](char const* prefix, auto& part) { load_parameters(file, part, prefix); });
    for (auto const& copy : copies) copy();
  } catch (safetensors_error const& e) {
    throw safetensors_error(path.string() + ": " + e.what());
  }
}

}  // namespace tessera
