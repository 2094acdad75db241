// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/nothing.hpp>
#include <tessera/core/path_name.hpp>
#include <tessera/tensor/tensor.hpp>

#include <boost/hana/at.hpp>
#include <boost/hana/basic_tuple.hpp>
#include <boost/hana/tuple.hpp>

#include <tuple>
#include <utility>

/// Structs of parameters: one description, many uses.
///
/// A layer writes parameters<Storage> once, each member as tensor_in<Storage, shape<...>> (or
/// matrix_in, where it is the matrix of an affine map), and names them by TESSERA_PARAMETERS. The
/// storage decides what the members are.
namespace tessera {

namespace hana = boost::hana;

/// Values: the parameters of a model, its gradient, the moments of an optimizer.
template <class T, class Backend = default_backend> struct owned {
  template <class S> using tensor_type = tensor<T, S, Backend>;
  template <class S> using matrix_type = tensor<T, S, Backend>;
};
/// Memory of another owner: a mapped file, flash, a device buffer. A view without memory is a
/// parameter that is not wanted: the gradient of a frozen one.
template <class T, class Backend = default_backend> struct viewed {
  template <class S> using tensor_type = view<T, S, Backend>;
  template <class S> using matrix_type = view<T, S, Backend>;
};
/// Shapes only, for counting.
struct counted {
  template <class S> struct tensor_type {
    using shape_type = S;
    char no_memory;
  };
  template <class S> using matrix_type = tensor_type<S>;
};

/// The number of members of a Hana tuple; 0 for other types.
template <class P> inline constexpr std::size_t tuple_length = 0;
template <class... M> inline constexpr std::size_t tuple_length<hana::tuple<M...>> = sizeof...(M);
template <class... M>
inline constexpr std::size_t tuple_length<hana::basic_tuple<M...>> = sizeof...(M);

template <class Storage, class S> using tensor_in = typename Storage::template tensor_type<S>;
template <class Storage, class S> using matrix_in = typename Storage::template matrix_type<S>;
namespace detail {
template <class Storage, class S> struct table_in {
  using type = typename Storage::template tensor_type<S>;
};
template <class Storage, class S>
  requires requires { typename Storage::template table_type<S>; }
struct table_in<Storage, S> {
  using type = typename Storage::template table_type<S>;
};
}  // namespace detail
/// A matrix of which rows are looked up: as matrix_in, and always by rows.
template <class Storage, class S> using table_in = typename detail::table_in<Storage, S>::type;

namespace detail {
template <class Storage, class S> struct tied_in {
  using type = typename Storage::template matrix_type<S>;
};
template <class Storage, class S>
  requires requires { typename Storage::template tied_type<S>; }
struct tied_in<Storage, S> {
  using type = typename Storage::template tied_type<S>;
};
}  // namespace detail
/// The matrix of an affine map of which rows are looked up, too: as matrix_in, or as a storage has
/// its tables.
template <class Storage, class S> using tied_in = typename detail::tied_in<Storage, S>::type;

namespace detail {
template <class Storage, class S, std::size_t Gates> struct gates_in {
  using type = typename Storage::template matrix_type<S>;
};
template <class Storage, class S, std::size_t Gates>
  requires requires { typename Storage::template gates_type<S, Gates>; }
struct gates_in<Storage, S, Gates> {
  using type = typename Storage::template gates_type<S, Gates>;
};
}  // namespace detail
/// The matrix of a recurrent cell, of whose outputs the units of a gate follow one another: as
/// matrix_in, or as a storage has it for steps.
template <class Storage, class S, std::size_t Gates>
using gates_in = typename detail::gates_in<Storage, S, Gates>::type;

/// A parameter that the options of a layer leave out; the tag keeps two of them apart.
template <int Tag> struct absent {};
template <bool Wanted, class Storage, class S, int Tag>
using tensor_if = std::conditional_t<Wanted, tensor_in<Storage, S>, absent<Tag>>;
template <bool Wanted, class Storage, class S, int Tag>
using matrix_if = std::conditional_t<Wanted, matrix_in<Storage, S>, absent<Tag>>;

/// The memory of a parameter, or nullptr where it is absent.
template <class T, class M> [[nodiscard]] constexpr auto data_or_null(M& member) {
  if constexpr (requires { member.data(); })
    return member.data();
  else
    return static_cast<T*>(nullptr);
}

namespace detail {

template <class... M> [[nodiscard]] constexpr auto tie(M&... members) {
  return hana::basic_tuple<M*...>{&members...};
}

/// Item `index` of "weight, bias": what # makes of the arguments of a macro.
[[nodiscard]] constexpr auto listed_name(char const* list, std::size_t index) -> path_name {
  auto result = path_name{};
  for (; *list != '\0'; ++list) {
    if (*list == ',')
      --index;
    else if (index == 0 && *list != ' ')
      result.add(*list);
    if (index == static_cast<std::size_t>(-1)) break;
  }
  return result;
}

template <class P>
concept has_members = requires(P& p) { p.members(); };
/// Structs that visit themselves, with names that no macro line can give.
template <class P, class F>
concept visits_itself = requires(P& p, F f) { std::remove_const_t<P>::visit(f, p); };

template <class F, class First, class... Rest>
constexpr void visit_parameters(F& f, path_name const& path, First& first, Rest&... rest) {
  using P = std::remove_const_t<First>;
  if constexpr (requires { typename P::shape_type; }) {
    f(path, first, rest...);
  } else if constexpr (is_empty<P>) {
  } else if constexpr (std::is_array_v<P>) {
    for (auto i = std::size_t{0}; i < std::extent_v<P>; ++i)
      visit_parameters(f, path / i, first[i], rest[i]...);
  } else if constexpr (tuple_length<P> > 0) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (
          [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
            using member = std::remove_cvref_t<decltype(hana::at_c<J>(first))>;
            visit_parameters(f, path / name_inside<member>(J), hana::at_c<J>(first),
                             hana::at_c<J>(rest)...);
          }(std::integral_constant<std::size_t, I>{}),
          ...);
    }(std::make_index_sequence<tuple_length<P>>{});
  } else if constexpr (has_members<P>) {
    auto const of_first = first.members();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (
          [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
            visit_parameters(f, path / P::member_name(J), *hana::at_c<J>(of_first),
                             *hana::at_c<J>(rest.members())...);
          }(std::integral_constant<std::size_t, I>{}),
          ...);
    }(std::make_index_sequence<tuple_length<std::remove_cvref_t<decltype(of_first)>>>{});
  } else {
    auto const inner = [&](path_name const& part, auto& one, auto&... others) {
      visit_parameters(f, path / part, one, others...);
    };
    P::visit(inner, first, rest...);
  }
}

/// A member as its type: members() gives pointers.
template <class M> using member_type = std::remove_const_t<std::remove_pointer_t<M>>;
template <class P> using members_of = decltype(std::declval<P&>().members());

template <class P> [[nodiscard]] constexpr auto numbers_in() -> std::size_t;
template <template <class...> class Tuple, class... M>
[[nodiscard]] constexpr auto numbers_in_all(std::type_identity<Tuple<M...>>) -> std::size_t {
  return (std::size_t{0} + ... + numbers_in<member_type<M>>());
}
/// The numbers in a struct of parameters, from the shapes alone.
template <class P> [[nodiscard]] constexpr auto numbers_in() -> std::size_t {
  if constexpr (requires { typename P::shape_type; }) {
    return P::shape_type::capacity;
  } else if constexpr (is_empty<P>) {
    return 0;
  } else if constexpr (std::is_array_v<P>) {
    return std::extent_v<P> * numbers_in<std::remove_extent_t<P>>();
  } else if constexpr (tuple_length<P> > 0) {
    return numbers_in_all(std::type_identity<P>{});
  } else if constexpr (has_members<P>) {
    return numbers_in_all(std::type_identity<members_of<P>>{});
  } else {
    auto n = std::size_t{0};
    auto const p = P{};
    auto const add = [&](path_name const&, auto& one) {
      n += numbers_in<std::remove_cvref_t<decltype(one)>>();
    };
    P::visit(add, p);
    return n;
  }
}

/// What the tensors of a struct have in common, by an address, and the bytes that they take: 0
/// where there are none, where they differ or are not owned.
template <class T, class Backend> inline constexpr char kind_of_number = 0;
struct number_kind {
  char const* kind = nullptr;
  std::size_t bytes = 0;
  bool mixed = false;

  constexpr void add(number_kind const& other) {
    mixed =
        mixed || other.mixed || (kind != nullptr && other.kind != nullptr && kind != other.kind);
    if (kind == nullptr) kind = other.kind;
    bytes = mixed ? 0 : bytes + other.bytes;
  }
  [[nodiscard]] constexpr auto with_bytes(std::size_t n) const -> number_kind {
    return {kind, bytes > 0 ? n : 0, mixed};
  }
};

template <class P> [[nodiscard]] constexpr auto kind_in() -> number_kind;
template <template <class...> class Tuple, class... M>
[[nodiscard]] constexpr auto kind_in_all(std::type_identity<Tuple<M...>>) -> number_kind {
  auto all = number_kind{};
  (all.add(kind_in<member_type<M>>()), ...);
  return all;
}
template <class P> [[nodiscard]] constexpr auto kind_in() -> number_kind {
  if constexpr (requires { typename P::shape_type; }) {
    if constexpr (requires { requires P::is_owning; })
      return {&kind_of_number<scalar_of<P>, backend_of<P>>, sizeof(P)};
    else
      return {nullptr, 0, true};
  } else if constexpr (is_empty<P>) {
    return {};
  } else if constexpr (std::is_array_v<P>) {
    return kind_in<std::remove_extent_t<P>>().with_bytes(sizeof(P));
  } else if constexpr (tuple_length<P> > 0) {  // an empty item may take bytes
    return kind_in_all(std::type_identity<P>{}).with_bytes(sizeof(P));
  } else if constexpr (has_members<P>) {  // a member that is no parameter takes bytes, too
    auto const all = kind_in_all(std::type_identity<members_of<P>>{});
    return all.bytes == sizeof(P) || all.bytes == 0 ? all : number_kind{nullptr, 0, true};
  } else if constexpr (requires { typename P::parts; }) {
    return kind_in<typename P::parts>().with_bytes(sizeof(P));
  } else {
    return {nullptr, 0, true};
  }
}

template <class P> [[nodiscard]] constexpr auto first_owned();
template <template <class...> class Tuple, class... M>
[[nodiscard]] constexpr auto first_owned_of(std::type_identity<Tuple<M...>>) {
  constexpr auto at = [] {
    auto i = std::size_t{0};
    (void)((kind_in<member_type<M>>().bytes > 0 || (++i, false)) || ...);
    return i;
  }();
  return first_owned<member_type<std::tuple_element_t<at, std::tuple<M...>>>>();
}
/// The type of the first tensor that a struct of parameters owns.
template <class P> [[nodiscard]] constexpr auto first_owned() {
  if constexpr (requires { typename P::shape_type; })
    return std::type_identity<P>{};
  else if constexpr (std::is_array_v<P>)
    return first_owned<std::remove_extent_t<P>>();
  else if constexpr (tuple_length<P> > 0)
    return first_owned_of(std::type_identity<P>{});
  else if constexpr (has_members<P>)
    return first_owned_of(std::type_identity<members_of<P>>{});
  else
    return first_owned<typename P::parts>();
}

template <class W> [[nodiscard]] constexpr auto as_view(W& w) {
  if constexpr (std::is_const_v<W>)
    return const_view_of<W>(w);
  else
    return view_of<W>(w);
}

}  // namespace detail

/// A struct that is one block of numbers: tensors of one scalar type and backend, and nothing else.
template <class P>
concept owns_parameters =
    std::is_trivially_copyable_v<P> && detail::kind_in<std::remove_const_t<P>>().bytes == sizeof(P);

namespace detail {

/// The first tensor of a struct that is one block; a number where it is none.
template <class P> [[nodiscard]] constexpr auto tensor_of_block() {
  if constexpr (owns_parameters<P>)
    return first_owned<std::remove_const_t<P>>();
  else
    return std::type_identity<tensor<float, shape<>>>{};
}
template <class P> using tensor_of_block_t = typename decltype(tensor_of_block<P>())::type;

}  // namespace detail

/// The backend of a struct of parameters.
template <class P> using backend_of_parameters = backend_of<detail::tensor_of_block_t<P>>;

/// All numbers of a struct of parameters as one view, the padding between its tensors with them.
///
/// Errors  a struct whose tensors differ in scalar type or backend does not compile:
///         tests/fail/numbers_of_mixed_scalars.cpp
template <class P> [[nodiscard]] auto numbers_of(P& p) {
  static_assert(complaint::holds<owns_parameters<P>, P>,
                "numbers_of: the struct is no block of tensors of one scalar type and backend; "
                "for_each_parameter visits them one by one");
  using first = detail::tensor_of_block_t<P>;
  using T = std::conditional_t<std::is_const_v<P>, scalar_of<first> const, scalar_of<first>>;
  return view<T, shape<static_cast<extent>(sizeof(P) / sizeof(T))>, backend_of<first>>(
      reinterpret_cast<T*>(&p));
}

/// Calls f(path, tensor, ...) for every parameter, in order, by the name that PyTorch gives it, as
/// "0.weight_ih_l0". Further structs of the same layers (gradient, moments) are visited alongside.
///
/// Cost  no heap; a call for each tensor
template <class F, class P, class... More>
constexpr void for_each_parameter(F&& f, P& p, More&... more) {
  detail::visit_parameters(f, path_name{}, p, more...);
}

namespace detail {
struct any_argument {
  constexpr any_argument() = default;
  template <class T> constexpr any_argument(T const&) {}
};
}  // namespace detail

/// Tell where these are, where nothing of io is seen that fits better.
template <class Never = void>
void load_parameters(detail::any_argument, detail::any_argument, detail::any_argument = {}) {
  static_assert(complaint::holds<not std::is_void_v<Never>>,
                "load_parameters(file, parameters) is in <tessera/io/parameters.hpp>");
}
template <class Never = void>
void save_parameters(detail::any_argument, detail::any_argument, detail::any_argument = {}) {
  static_assert(complaint::holds<not std::is_void_v<Never>>,
                "save_parameters(file, parameters) is in <tessera/io/parameters.hpp>");
}

/// Calls f(numbers, ...) with views: one of all numbers where the struct is one block, so that an
/// optimizer's step or an average is one kernel; else one of each tensor. Not for constant
/// expressions.
template <class F, class P, class... More> void for_numbers(F const& f, P& p, More&... more) {
  if constexpr (owns_parameters<P>)
    f(numbers_of(p), numbers_of(more)...);
  else
    for_each_parameter([&](path_name const&, auto& w,
                           auto&... rest) { f(detail::as_view(w), detail::as_view(rest)...); },
                       p, more...);
}

}  // namespace tessera
