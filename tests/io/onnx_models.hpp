// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>
#include <tessera/io/onnx.hpp>
#include <tessera/io/safetensors.hpp>
#include <tessera/random/torch.hpp>

#include <memory>

/// Models as ONNX files, each beside a file of inputs and of what they give here.
namespace test {

using namespace tessera;

template <class X> using extents_of = std::array<std::size_t, shape_of<X>::rank>;

/// Numbers of [-scale, scale], or whole ones below `scale`.
template <class T>
void fill_numbers(T* data, std::size_t n, torch_generator& generator, double scale,
                  bool whole = std::is_integral_v<T>) {
  for (auto i = std::size_t{0}; i < n; ++i)
    data[i] = static_cast<T>(
        whole ? static_cast<double>(generator.randint(static_cast<std::uint32_t>(scale)))
              : (2 * generator.rand<double>() - 1) * scale);
}

/// A tensor with its actual extents.
inline void add_view(safetensors_writer& writer, std::string const& name, auto const& v) {
  using V = std::remove_cvref_t<decltype(v)>;
  auto shape = std::vector<std::uint64_t>{};
  for (auto const e : v.actual.full()) shape.push_back(e);
  auto bytes = std::vector<std::byte>(v.size() * sizeof(scalar_of<V>));
  std::memcpy(bytes.data(), v.data(), bytes.size());
  writer.add_kept(name, dtype_of<std::remove_const_t<scalar_of<V>>>(), shape, std::move(bytes));
}

/// What a case has besides its model.
struct model_case {
  std::vector<std::string> names = {};  ///< of bounded extents
  double scale = 1;                     ///< of the input
  double given_scale = 1;               ///< of what is given besides it
  bool given_whole = false;
  bool last_is_nan = false;    ///< the last entry of a memory, which no length reaches
  bool whole = false;          ///< numbers of things
  std::string cut_along = {};  ///< the axis of x for calls after each other, with state
};

/// What a call is given besides x, with numbers of their own, added to the file by its tag.
struct given_maker {
  safetensors_writer& writer;
  torch_generator& generator;
  model_case const& of;
  std::map<std::string, std::size_t> extents;  ///< by name
  std::string index;
  std::size_t named;  ///< how many of the names are used

  /// f(context) with `Input`, and then the rest of them.
  template <class Input, class... Rest> void add(auto const& base, auto const& f) {
    using E = typename Input::tensor_type;
    auto const e = std::make_unique<E>();
    auto actual = extents_of<E>{};
    for (auto axis = std::size_t{0}; axis < actual.size(); ++axis) {
      actual[axis] = bound_of(shape_of<E>::extents[axis]);
      if (not is_bounded(shape_of<E>::extents[axis])) continue;
      auto const known = extents.find(of.names.at(named++));
      if (known != extents.end()) actual[axis] = known->second;
    }
    fill_numbers(e->data(), shape_of<E>::capacity, generator, of.given_scale,
                 of.given_whole || std::is_integral_v<scalar_of<E>>);
    auto const seen = const_view_of<E>{e->data(), actual_extents<shape_of<E>>::from(actual)};
    if constexpr (std::same_as<typename Input::tag_type, tag::memory>)
      if (of.last_is_nan)
        std::fill_n(e->data() + seen.size() / actual[0] * (actual[0] - 1), seen.size() / actual[0],
                    std::numeric_limits<float>::quiet_NaN());
    add_view(writer, onnx_tag_name<typename Input::tag_type>() + '.' + index, seen);
    auto const context = given<typename Input::tag_type>(seen, base);
    if constexpr (sizeof...(Rest) > 0)
      add<Rest...>(context, f);
    else
      f(context);
  }
};

/// Writes `name`.onnx and `name`.safetensors; with `cut_along`, `name`.state.onnx, too.
template <class Model, class X, class... Inputs>
void write_case(std::filesystem::path const& folder, std::string const& name,
                std::vector<extents_of<X>> const& calls, model_case const& more = {}) {
  using L = as_layer<Model>;
  using S = statistics_of<L, storage_of<X>>;
  auto generator = torch_generator(7);
  auto const p = std::make_unique<parameters_of<L, storage_of<X>>>();
  auto const s = std::make_unique<S>();
  initialize_layer<L>(*p, *s, generator);
  for_each_parameter(
      [&](path_name const&, auto& w) {
        for (auto& v : w) v += static_cast<float>(0.2 * generator.rand<double>() - 0.1);
      },
      *p);
  for_each_parameter(
      [&](path_name const& path, auto& w) {
        fill_numbers(w.data(), w.size(), generator, 0.5);
        auto const text = std::string_view{path};
        if (text.find("running_var") != text.npos)
          for (auto& v : w) v += 1;  // a variance
      },
      *s);
  auto const run = std::make_unique<inference<Model, X, Inputs...>>();
  auto writer = safetensors_writer{};
  auto const x = std::make_unique<X>();
  auto index = std::size_t{0};
  for (auto const& extents : calls) {
    fill_numbers(x->data(), shape_of<X>::capacity, generator, more.scale,
                 more.whole || std::is_integral_v<scalar_of<X>>);
    auto const seen = const_view_of<X>{x->data(), actual_extents<shape_of<X>>::from(extents)};
    auto const call = [&](auto const&... context) {
      auto const y = [&] {
        if constexpr (is_empty<S>)
          return (*run)(*p, seen, context...);
        else
          return (*run)(*p, *s, seen, context...);
      }();
      add_view(writer, "y." + std::to_string(index), y);
    };
    if constexpr (sizeof...(Inputs) == 0) {
      call();
    } else {
      auto known = std::map<std::string, std::size_t>{};
      auto named = std::size_t{0};
      for (auto axis = std::size_t{0}; axis < extents.size(); ++axis)
        if (is_bounded(shape_of<X>::extents[axis])) known[more.names.at(named++)] = extents[axis];
      given_maker{writer, generator, more, known, std::to_string(index), named}
          .template add<Inputs...>(plain_context{}, call);
    }
    add_view(writer, "x." + std::to_string(index++), seen);
  }
  writer.set_metadata("cut_along", more.cut_along);
  writer.write(folder / (name + ".safetensors"));
  auto const options = onnx_options{.name = name, .extents = more.names};
  auto stateful = options;
  stateful.state = true;
  save_onnx<Model, X, Inputs...>(folder / (name + ".onnx"), *p, *s, options);
  if (not more.cut_along.empty())
    save_onnx<Model, X, Inputs...>(folder / (name + ".state.onnx"), *p, *s, stateful);
}

void write_sequences(std::filesystem::path const& folder);
void write_images(std::filesystem::path const& folder);
void write_others(std::filesystem::path const& folder);
void write_given(std::filesystem::path const& folder);

}  // namespace test
