// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/tensor.hpp>

#include <cstdint>

/// What a call is for, and what it is given besides x: inputs by tag, a random stream.
namespace tessera {

/// What inputs besides x are, by name: given<tag::memory>(encoded). A tag of one's own is a struct.
namespace tag {
struct condition {};          ///< what conditioned layers see: a class, a time step, a knob
struct memory {};             ///< what attention reads besides x: an encoder's output
struct source {};             ///< what an encoder is given
struct lengths {};            ///< how many entries of the memory count, for each lane
struct token_types {};        ///< of each token: the first sentence, the second
struct sequences {};          ///< whose rows x has: for each lane, samples seen and rows, whole
struct attention_weights {};  ///< not read but written: given<...>(w, view_of<W>(w))
}  // namespace tag

/// What a call is for. by_value overlays nothing, so that it works in constant expressions.
enum class call_mode { inference, streaming, training, by_value };

/// How a part runs, whatever the purpose of the whole.
struct call_manner {
  bool evaluated = false;  ///< as in evaluation: nothing is dropped, no statistics are observed
  bool restarted = false;  ///< from zero: no state is lent
};

/// The type of one input besides x: its tag, and its tensor type.
template <class Tag, class E> struct given_as {
  using tag_type = Tag;
  using tensor_type = E;
};

// -- a call as a type -----------------------------------------------------------------------------

/// Purpose, manner and inputs of a call. Roles of memory are keyed by <X, Call>.
template <call_mode Purpose, call_manner Manner, class... Inputs> struct call_kind {
  static constexpr auto purpose = Purpose;
  static constexpr bool training = Purpose == call_mode::training;  ///< a backward pass follows
  static constexpr bool learns = training && not Manner.evaluated;  ///< statistics are observed
  static constexpr bool carries = not Manner.restarted;
  static constexpr bool draws = not Manner.evaluated;  ///< from the stream, if there is one
  using evaluated = call_kind<Purpose, call_manner{true, Manner.restarted}, Inputs...>;
  using restarted = call_kind<Purpose, call_manner{Manner.evaluated, true}, Inputs...>;
};
template <call_mode Purpose, class... Inputs>
using call_for = call_kind<Purpose, call_manner{}, Inputs...>;
using inference_call = call_for<call_mode::inference>;
using streaming_call = call_for<call_mode::streaming>;
using training_call = call_for<call_mode::training>;

namespace detail {

struct not_given {};

template <class Tag, class... Inputs> struct given_among {
  using type = not_given;
};
template <class Tag, class E, class... Rest> struct given_among<Tag, given_as<Tag, E>, Rest...> {
  using type = E;
};
template <class Tag, class First, class... Rest>
struct given_among<Tag, First, Rest...> : given_among<Tag, Rest...> {};

template <class Tag, class Call> struct given_in;
template <class Tag, call_mode M, call_manner V, class... I>
struct given_in<Tag, call_kind<M, V, I...>> : given_among<Tag, I...> {};

template <class Tag, class Kept, class... Inputs> struct without;
template <class Tag, call_mode M, call_manner V, class... Kept>
struct without<Tag, call_kind<M, V, Kept...>> {
  using type = call_kind<M, V, Kept...>;
};
template <class Tag, call_mode M, call_manner V, class... Kept, class First, class... Rest>
struct without<Tag, call_kind<M, V, Kept...>, First, Rest...>
    : without<Tag,
              std::conditional_t<std::is_same_v<typename First::tag_type, Tag>,
                                 call_kind<M, V, Kept...>, call_kind<M, V, Kept..., First>>,
              Rest...> {};
template <class Tag, class Call> struct without_in;
template <class Tag, call_mode M, call_manner V, class... I>
struct without_in<Tag, call_kind<M, V, I...>> : without<Tag, call_kind<M, V>, I...> {};

template <class Call, class Input> struct appended;
template <call_mode M, call_manner V, class... I, class Input>
struct appended<call_kind<M, V, I...>, Input> {
  using type = call_kind<M, V, I..., Input>;
};

}  // namespace detail

/// The tensor type of the input `Tag`, and whether the call has it.
template <class Call, class Tag> using given_type = typename detail::given_in<Tag, Call>::type;
template <class Call, class Tag>
concept gives = not std::same_as<given_type<Call, Tag>, detail::not_given>;
template <class Call, class Tag> using call_without = typename detail::without_in<Tag, Call>::type;
template <class Call, class Tag, class E>
using call_with = typename detail::appended<call_without<Call, Tag>, given_as<Tag, E>>::type;

// -- a call's values ------------------------------------------------------------------------------

/// No random stream: inference.
struct plain_context {
  [[nodiscard]] constexpr auto stream_inside(std::size_t) const -> plain_context { return {}; }
};

/// A random stream for every layer, by counting: what a layer draws depends on the seed, the step,
/// the chunk of the batch and its place in the model, and on nothing that ran before.
struct random_context {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t chunk = 0;
  std::uint32_t path = 0;
  /// What dropout layers take whose probability is decided at run time.
  float dropout = 0;

  [[nodiscard]] constexpr auto stream_inside(std::size_t index) const -> random_context {
    auto inner = *this;
    inner.path = path * 0x9E3779B1U + static_cast<std::uint32_t>(index) + 1U;
    return inner;
  }
};

namespace detail {

/// One input, and where its slope is added to: a view without memory where nobody wants it.
template <class Tag, class E> struct entry {
  const_view_of<E> value;
  view_of<E> slope;
};

}  // namespace detail

/// Stream and inputs of a call, for whoever asks: the layers between the caller and the one that
/// reads an input know nothing of it.
template <class Stream, class... Inputs> struct call_context;
template <class Stream, class... Tag, class... E>
struct call_context<Stream, given_as<Tag, E>...> : Stream, detail::entry<Tag, E>... {
  using stream_type = Stream;
  template <call_mode M> using call_type = call_for<M, given_as<Tag, E>...>;
  template <class T>
  using type_of_input = typename detail::given_among<T, given_as<Tag, E>...>::type;

  template <call_mode M, call_manner V, class... I>
  static consteval auto covers_all(std::type_identity<call_kind<M, V, I...>>) -> bool {
    return (std::same_as<type_of_input<typename I::tag_type>, typename I::tensor_type> && ...);
  }
  /// True where every input that Call has is here.
  template <class Call> static constexpr bool covers = covers_all(std::type_identity<Call>{});

  template <class T> [[nodiscard]] constexpr auto value() const { return entry_of<T>().value; }
  template <class T> [[nodiscard]] constexpr auto slope() const { return entry_of<T>().slope; }
  [[nodiscard]] constexpr auto stream() const -> Stream const& { return *this; }
  /// The same inputs, the stream told which layer of a composition it is for, where those have
  /// places.
  [[nodiscard]] constexpr auto inside(std::size_t index, bool has_places = true) const
      -> call_context {
    if (not has_places) return *this;
    return {Stream::stream_inside(index), static_cast<detail::entry<Tag, E> const&>(*this)...};
  }
  /// The inputs that Call has, from here or from `more`.
  template <class Call> [[nodiscard]] constexpr auto as(auto const&... more) const {
    return pick(std::type_identity<Call>{}, more...);
  }

 private:
  template <class T> [[nodiscard]] constexpr auto entry_of() const -> auto const& {
    return static_cast<detail::entry<T, type_of_input<T>> const&>(*this);
  }
  template <call_mode M, call_manner V, class... T, class... U>
  [[nodiscard]] constexpr auto pick(std::type_identity<call_kind<M, V, given_as<T, U>...>>,
                                    auto const&... more) const
      -> call_context<Stream, given_as<T, U>...> {
    return {stream(), one<T, U>(more...)...};
  }
  template <class T, class U> [[nodiscard]] constexpr auto one(auto const&... more) const {
    using wanted = detail::entry<T, U>;
    auto result = wanted{};
    auto const take = [&]<class M>(M const& e) {
      if constexpr (std::same_as<M, wanted>) result = e;
    };
    if constexpr (std::same_as<type_of_input<T>, U>) take(entry_of<T>());
    (take(more), ...);
    return result;
  }
};

namespace detail {

template <class C> struct context_in {
  using type = call_context<C>;  // a stream alone
};
template <class S, class... I> struct context_in<call_context<S, I...>> {
  using type = call_context<S, I...>;
};

template <class Context, class Tag, class E> struct context_with;
template <class S, class... I, class Tag, class E>
struct context_with<call_context<S, I...>, Tag, E> {
  using type = call_context<S, I..., given_as<Tag, E>>;
};

}  // namespace detail

/// What a caller passes as its context, as one kind: a stream alone has no inputs.
template <class C> using context_of = typename detail::context_in<std::remove_cvref_t<C>>::type;
template <class C> [[nodiscard]] constexpr auto as_context(C const& c) -> context_of<C> {
  if constexpr (std::same_as<C, context_of<C>>)
    return c;
  else
    return {c};
}

/// `base` with one more input, whose slope is added to `slope`:
///   model.step(x, target, mse{}, adam{}, given<tag::condition>(c))
///   run(p, x, given<tag::lengths>(n, given<tag::memory>(encoded)))
template <class Tag, contiguous E, class Base = plain_context>
[[nodiscard]] constexpr auto given(E const& value, view_of<E> slope, Base const& base = {}) {
  using result = typename detail::context_with<context_of<Base>, Tag, kind_of<E>>::type;
  auto const whole = as_context(base);
  auto const more = detail::entry<Tag, kind_of<E>>{as_const(value), slope};
  return [&]<class S, class... I>(std::type_identity<call_context<S, I...>>) {
    return whole.template as<call_for<call_mode::inference, I...>>(more);
  }(std::type_identity<result>{});
}
template <class Tag, contiguous E, class Base = plain_context>
  requires(not tensor_like<Base>)
[[nodiscard]] constexpr auto given(E const& value, Base const& base = {}) {
  return given<Tag>(value, view_of<E>{nullptr, as_const(value).actual}, base);
}
/// The condition, the one input that most networks with one more have.
template <contiguous C, class Base = plain_context>
[[nodiscard]] constexpr auto given(C const& condition, view_of<C> slope, Base const& base = {}) {
  return given<tag::condition>(condition, slope, base);
}
template <contiguous C, class Base = plain_context>
  requires(not tensor_like<Base>)
[[nodiscard]] constexpr auto given(C const& condition, Base const& base = {}) {
  return given<tag::condition>(condition, base);
}

}  // namespace tessera
