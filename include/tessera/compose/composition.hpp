// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/compose/plan.hpp>
#include <tessera/compose/traced.hpp>
#include <tessera/core/path_name.hpp>

namespace tessera {

template <class Model, class X>
[[nodiscard]] constexpr auto forward_by_value(auto const& p, X const& x);  // compose/by_value.hpp

/// A value or a slope between children: alive from child First to child Last. Kept: in training it
/// stays until the backward pass.
template <class T, std::size_t First, std::size_t Last, bool Kept = false> struct buffer_between {
  using type = T;
  static constexpr auto first = First;
  static constexpr auto last = Last;
  static constexpr bool kept = Kept;
  static constexpr auto bytes = bytes_of<T>;
};

namespace complaint {
template <bool Kept, class Where, class Position, class Child>
inline constexpr bool has_what_it_reads = Kept;
}  // namespace complaint

namespace detail {

/// Where everything lies that lives between and inside of the children.
template <class Self, class X, class Call, class I, class V, class D> struct layout_of;
/// Names members of Self only inside: g++ 12 looks into default arguments while Self is incomplete.
template <class Self, class X, class Call>
struct layout : layout_of<Self, X, Call, std::make_index_sequence<Self::count>,
                          typename Self::template values<X, Call>,
                          typename Self::template slopes_between<X, Call>> {};
template <class Self, class X, class Call, std::size_t... I, class... V, class... D>
struct layout_of<Self, X, Call, std::index_sequence<I...>, type_list<V...>, type_list<D...>> {
  static constexpr auto count = sizeof...(I);
  static constexpr auto last = count - 1;
  template <std::size_t K> using child = typename Self::template child<K>;
  template <std::size_t K> using input = typename Self::template input<X, Call, K>;
  template <std::size_t K> using call = typename Self::template call_inside<X, Call, K>;
  template <std::size_t K> using value = typename item_of<K, type_list<V...>>::type;
  template <std::size_t K> using slope = typename item_of<K, type_list<D...>>::type;
  template <std::size_t K> using scratch_at = scratch_of<child<K>, input<K>, call<K>>;
  template <std::size_t K> using slopes_at = slopes_of<child<K>, input<K>, call<K>>;
  template <std::size_t K> using kept_at = kept_of<child<K>, input<K>, call<K>>;
  template <std::size_t K>
  static constexpr bool keeps = Call::training && item_of<K, type_list<V...>>::kept;

  // Pieces of the forward pass: scratch, then what children keep for one call, then values.
  static constexpr auto values_at = 2 * count;
  static constexpr auto forward_plan =
      place_pieces(std::array<plan_piece, 2 * count + sizeof...(V)>{
          {plan_piece{bytes_of<scratch_at<I>>, I, I}...,
           plan_piece{Call::training ? 0 : bytes_of<kept_at<I>>, I, I}...,
           plan_piece{Call::training && V::kept ? 0 : V::bytes, V::first, V::last}...}});
  static constexpr auto slopes_start = count;
  static constexpr auto backward_plan = place_pieces(std::array<plan_piece, count + sizeof...(D)>{
      {plan_piece{bytes_of<slopes_at<I>>, last - I, last - I}...,
       plan_piece{D::bytes, last - D::last, last - D::first}...}});

  using kept = members<kept_at<I>..., either<V::kept, typename V::type, nothing>...>;
  using state = members<state_of<child<I>, input<I>, call<I>>...>;
  using separate = members<scratch_at<I>..., kept_at<I>..., typename V::type...>;
};

/// The parameters of a composition itself.
template <class Own> struct own_part {
  [[no_unique_address]] Own mine;
};
/// The parts of a struct that visits itself, as a list without a tuple.
template <class... P> struct listed {
  char no_memory;
};

/// What a composition sees of its input or output, where it says that it reads it.
template <bool Reads, class V> using read_if = either<Reads, V, unread<V>>;

/// Piece I of work memory: of separate pieces by its index, of an arena by its plan.
template <std::size_t I, class U>
  requires(is_empty<U>)
[[nodiscard]] constexpr auto placed(void const*, std::size_t) -> U& {
  return empty_object<U>;
}
template <std::size_t I, class U>
  requires(not is_empty<U>)
[[nodiscard]] constexpr auto placed(indexed<I, U>* separate, std::size_t) -> U& {
  return separate->value;
}
template <std::size_t I, class U>
  requires(not is_empty<U>)
[[nodiscard]] constexpr auto placed(std::byte* memory, std::size_t offset) -> U& {
  return lent_at<U>(memory + offset);
}

}  // namespace detail

template <class... P>
inline constexpr std::size_t tuple_length<detail::listed<P...>> = sizeof...(P);

/// What a composition sees of its children in a forward pass.
template <class Self, class P, class M> struct children {
  using X = typename M::input_type;
  using Call = typename M::call_type;
  using layout = detail::layout<Self, X, Call>;
  template <std::size_t I> using child = typename layout::template child<I>;
  P const& p;
  M const& m;
  std::size_t at = 0;  ///< which of a row of layers, in `repeat`

  [[nodiscard]] constexpr auto in_row(std::size_t i) const -> children { return {p, m, i}; }
  /// The numbers of value K between the children.
  template <std::size_t K> [[nodiscard]] constexpr auto numbers() const {
    using V = typename layout::template value<K>;
    if constexpr (layout::template keeps<K>)
      return detail::part_as<layout::count + K, V>(&m.kept, at).data();
    else
      return piece<layout::values_at + K, V>().data();
  }
  /// Value K between the children, with its actual extents.
  template <std::size_t K, class S = shape_of<typename layout::template value<K>>>
  [[nodiscard]] constexpr auto value(actual_extents<S> actual = {}) const {
    return view_of<typename layout::template value<K>>{numbers<K>(), actual};
  }
  /// Value K of a row of layers: this one's where it is kept, else K and K + 1 in turn.
  template <std::size_t K, class S = shape_of<typename layout::template value<K>>>
  [[nodiscard]] constexpr auto value_in_turn(actual_extents<S> actual) const {
    if constexpr (layout::template keeps<K>)
      return value<K>(actual);
    else
      return at % 2 == 0 ? value<K>(actual) : value<K + 1>(actual);
  }
  /// What is no tensor and lives between the children: memory of the composition itself.
  template <std::size_t K> [[nodiscard]] constexpr auto memory() const -> auto& {
    using V = typename layout::template value<K>;
    return piece<layout::values_at + K, V>();
  }
  /// With the inputs of the call, and those that `more` adds to them: entries by tag.
  template <std::size_t I, class In, class Out>
  constexpr void forward(In x, Out y, auto const&... more) const {
    using named = typename layout::template input<I>;
    constexpr auto takes = std::same_as<shape_of<In>, shape_of<named>>;
    constexpr auto gives = std::same_as<shape_of<Out>, shape_of<output_of<child<I>, named>>>;
    static_assert(complaint::holds<takes, Self, complaint::expected<shape_of<named>>,
                                   complaint::got<shape_of<In>>>,
                  "composition: a child is given another input than the composition names");
    static_assert(complaint::holds<gives, Self, complaint::expected<shape_of<Out>>,
                                   complaint::got<shape_of<output_of<child<I>, named>>>>,
                  "composition: a child gives another shape than there is memory for");
    forward_or_step<child<I>>(p.template get<I>(at), x, y, lent<I>(more...));
  }
  /// The same of a child that applies Activation, the child behind it, on the way.
  template <std::size_t I, class Activation> constexpr void forward_with(auto x, auto y) const {
    child<I>::template forward_with<Activation>(p.template get<I>(at), x, y, lent<I>());
  }

 protected:
  template <std::size_t I> [[nodiscard]] constexpr auto lent(auto const&... more) const {
    return lend<I>(piece<I, typename layout::template scratch_at<I>>(), kept<I>(), more...);
  }
  template <std::size_t I, class U> [[nodiscard]] constexpr auto piece() const -> U& {
    if constexpr (Call::purpose == call_mode::by_value)
      return detail::placed<I, U>(&m.work, 0);
    else
      return detail::placed<I, U>(m.work.memory, layout::forward_plan.offset[I]);
  }
  template <std::size_t I> [[nodiscard]] constexpr auto kept() const -> auto& {
    using K = typename layout::template kept_at<I>;
    if constexpr (Call::training)
      return detail::part_as<I, K>(&m.kept, at);
    else
      return piece<layout::count + I, K>();
  }
  template <std::size_t I, class Work>
  [[nodiscard]] constexpr auto lend(Work& work, auto& kept, auto const&... more) const {
    using in = typename layout::template input<I>;
    using C = typename layout::template call<I>;
    using storage = storage_of<in>;
    auto const given = m.context.inside(I + at, Self::counts_places).template as<C>(more...);
    return loan<child<I>, in, C, Work, std::remove_const_t<decltype(given)>>{
        detail::part_as<I, state_of<child<I>, in, C>>(&m.state, at),
        kept,
        work,
        detail::part_as<I, statistics_of<child<I>, storage>>(&m.statistics, at),
        detail::part_as<I, observed_by<child<I>, in, C>>(&m.observed, at),
        given};
  }
};

/// The same in a backward pass.
template <class Self, class P, class G, class M>
struct children_back : private children<Self, P, M> {
  using base = children<Self, P, M>;
  using typename base::Call;
  using layout = typename base::layout;
  using base::at;
  using base::m;
  using base::p;
  G& gradient;

  constexpr children_back(P const& parameters, G& slopes, M const& lent, std::size_t i = 0)
      : base{parameters, lent, i}, gradient{slopes} {}

  [[nodiscard]] constexpr auto in_row(std::size_t i) const -> children_back {
    return {p, gradient, m, i};
  }
  /// The numbers of value K as the forward pass kept it; no memory where it did not.
  template <std::size_t K> [[nodiscard]] constexpr auto numbers() const {
    using V = typename layout::template value<K>;
    if constexpr (layout::template keeps<K>)
      return std::as_const(detail::part_as<layout::count + K, V>(&m.kept, at)).data();
    else
      return static_cast<scalar_of<V> const*>(nullptr);
  }
  template <std::size_t K, class S = shape_of<typename layout::template value<K>>>
  [[nodiscard]] constexpr auto value(actual_extents<S> actual = {}) const {
    using V = const_view_of<typename layout::template value<K>>;
    if constexpr (layout::template keeps<K>)
      return V{numbers<K>(), actual};
    else
      return unread<V>{{nullptr, actual}};
  }
  /// The numbers of slope K.
  template <std::size_t K> [[nodiscard]] auto slope_memory() const {
    constexpr auto offset = layout::backward_plan.offset[layout::slopes_start + K];
    return detail::lent_at<typename layout::template slope<K>>(m.work.memory + offset).data();
  }
  template <std::size_t K, class S = shape_of<typename layout::template slope<K>>>
  [[nodiscard]] constexpr auto slope(actual_extents<S> actual = {}) const {
    return view_of<typename layout::template slope<K>>{slope_memory<K>(), actual};
  }
  template <std::size_t I, class X, class Y>
  constexpr void backward(X const& x, Y const& y, auto dy, auto dx, auto const&... more) const {
    using L = typename layout::template child<I>;
    constexpr auto read = about_of<L>.backward_reads;
    constexpr auto kept =
        not(reads_input(read) && is_unread<X>) && not(reads_output(read) && is_unread<Y>);
    using complaint::at_position, complaint::in;
    static_assert(complaint::has_what_it_reads<kept, in<Self>, at_position<I>, in<L>>,
                  "composition: the backward pass of a child reads an input or output that is "
                  "not kept for it");
    L::backward(p.template get<I>(at), static_cast<const_view_of<X> const&>(x),
                static_cast<const_view_of<Y> const&>(y), as_const(dy), dx,
                gradient.template get<I>(at), lent_back<I>(more...));
  }
  /// Of a child that applied Activation on the way: dy is the slope of what that gave.
  template <std::size_t I, class Activation, class X>
  constexpr void backward_with(X const& x, auto dy, auto dx) const {
    using L = typename layout::template child<I>;
    L::template backward_with<Activation>(p.template get<I>(at),
                                          static_cast<const_view_of<X> const&>(x), as_const(dy), dx,
                                          gradient.template get<I>(at), lent_back<I>());
  }
  /// Adds to dx what child I, that may only write, leaves in slope K.
  template <std::size_t I, std::size_t K>
  constexpr void backward_adding(auto x, auto y, auto dy, auto dx, auto const&... more) const {
    if constexpr (about_of<typename layout::template child<I>>.adds_dx) {
      backward<I>(x, y, dy, dx.again(), more...);
    } else {
      using part_type = typename layout::template slope<K>;
      auto const part =
          dx.has_memory() ? slope<K>(x.actual) : view_of<part_type>{nullptr, x.actual};
      backward<I>(x, y, dy, writes(part), more...);
      if (dx.has_memory()) assign(dx.view, dx.view + part);
    }
  }

 private:
  template <std::size_t I> [[nodiscard]] constexpr auto lent_back(auto const&... more) const {
    using slopes = typename layout::template slopes_at<I>;
    using K = typename layout::template kept_at<I>;
    auto& work = detail::placed<I, slopes>(m.work.memory, layout::backward_plan.offset[I]);
    return base::template lend<I>(work, detail::part_as<I, K>(&m.kept, at), more...);
  }
};

/// A layer made of layers. Self writes
///   run(inside, x, y)               with inside.forward<I>(x, y), inside.value<K>(extents)
///   run_back(inside, x, y, dy, dx)  with inside.backward<I>(x, y, dy, dx),
///   inside.slope<K>(extents)
/// names output_shape<S> and what differs from the defaults below; the rest is derived: parameters
/// and their names, state, memory, facts, initialization, statistics, the walk.
template <class Self, class... Children> struct composition {
  static constexpr std::size_t count = sizeof...(Children);
  template <std::size_t I> using child = as_layer<detail::nth<I, Children...>>;

  // -- defaults
  template <class S> using expected_shape = S;
  template <class X, class Call, std::size_t I> using input = X;
  template <class X, class Call, std::size_t I> using call_inside = Call;
  template <class X, class Call> using values = type_list<>;
  template <class X, class Call> using slopes_between = type_list<>;
  template <class Storage> struct own {};  ///< parameters of the composition itself
  /// Whether run_back has read them before it adds to their gradient.
  static constexpr bool reads_own_first = is_empty<typename Self::template own<owned<float>>>;
  /// A child has a place of its own: in paths, and for random streams.
  static constexpr bool counts_places = true;
  static constexpr std::size_t times = 1;  ///< how often the children stand there, in `repeat`
  static constexpr bool adds_dx = false;
  static constexpr auto backward_reads =
      reads_of((reads_input(about_of<as_layer<Children>>.backward_reads) || ...), false);
  template <class X, class Call> [[nodiscard]] static constexpr auto rule() {
    return detail::no_finding{};
  }

  // -- derived
  template <std::size_t I> [[nodiscard]] static constexpr auto child_name() -> path_name {
    if constexpr (Self::counts_places)
      return name_inside<detail::nth<I, Children...>>(I);
    else
      return {};
  }
  static constexpr facts about{
      .backward_reads = Self::backward_reads,
      .row_wise = (tessera::row_wise<as_layer<Children>> && ...),
      .streams = (tessera::streams<as_layer<Children>> && ...),
      .adds_dx = Self::adds_dx,
      .reads_parameters_first =
          Self::reads_own_first && (tessera::reads_parameters_first<as_layer<Children>> && ...),
      .random = (about_of<as_layer<Children>>.random || ...),
      .kept = true,
      .state = (about_of<as_layer<Children>>.state || ...),
      .scratch = true,
      .slopes = true,
      .statistics = (about_of<as_layer<Children>>.statistics || ...)};

  template <class Storage>
  struct parameters : detail::own_part<typename Self::template own<Storage>>,
                      members<parameters_of<as_layer<Children>, Storage>...> {
    using own_type = typename Self::template own<Storage>;
    using parts = detail::listed<own_type, parameters_of<as_layer<Children>, Storage>...>;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      if constexpr (not is_empty<own_type>) f(path_name{}, p.mine...);
      for_each_index<count>([&]<std::size_t I>() {
        f(composition::template child_name<I>(), p.template get<I>()...);
      });
    }
  };
  template <class Storage>
  struct statistics : members<statistics_of<as_layer<Children>, Storage>...> {
    using parts = detail::listed<statistics_of<as_layer<Children>, Storage>...>;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      for_each_index<count>([&]<std::size_t I>() {
        f(composition::template child_name<I>(), p.template get<I>()...);
      });
    }
  };
  template <class Storage> using observed = members<observed_of<as_layer<Children>, Storage>...>;
  template <class X, class Call> using state = typename detail::layout<Self, X, Call>::state;
  template <class X, class Call>
  using kept = either<Call::training, typename detail::layout<Self, X, Call>::kept, nothing>;
  template <class X, class Call>
  using scratch =
      either<Call::purpose == call_mode::by_value, typename detail::layout<Self, X, Call>::separate,
             work_arena<detail::layout<Self, X, Call>::forward_plan.bytes>>;
  template <class X, class Call>
  using slopes = work_arena<detail::layout<Self, X, Call>::backward_plan.bytes>;

  /// The first finding of a child, then that of Self.
  template <class X, class Call, std::size_t I = 0> [[nodiscard]] static constexpr auto find() {
    if constexpr (I == count) {
      return Self::template rule<X, Call>();
    } else {
      using found = verdict<child<I>, typename Self::template input<X, Call, I>,
                            typename Self::template call_inside<X, Call, I>>;
      if constexpr (std::same_as<found, complaint::none>)
        return find<X, Call, I + 1>();
      else
        return std::type_identity<typename found::template inside<I>>{};
    }
  }
  /// f.operator()<I, Child, Input, Call>(path) for every child.
  template <class X, class Call> static constexpr void for_each_child(auto&& f) {
    for_each_index<count>([&]<std::size_t I>() {
      f.template
      operator()<I, detail::nth<I, Children...>, typename Self::template input<X, Call, I>,
                 typename Self::template call_inside<X, Call, I>>(child_name<I>());
    });
  }

  template <class P, class M>
  static constexpr void forward(P const& p, auto x, auto y, M const& m) {
    Self::run(children<Self, P, M>{p, m}, x, y);
  }
  /// What a stream waits for, so without a call between its parts.
  template <class P, class M>
  TESSERA_INLINE static constexpr void step(P const& p, auto x, auto y, M const& m) {
    Self::run(children<Self, P, M>{p, m}, x, y);
  }
  template <class P, class X, class Y, class G, class M>
  static constexpr void backward(P const& p, X x, Y y, auto dy, auto dx, G& gradient, M const& m) {
    constexpr auto read = about_of<Self>.backward_reads;
    Self::run_back(children_back<Self, P, G, M>{p, gradient, m},
                   detail::read_if<reads_input(read), X>(x),
                   detail::read_if<reads_output(read), Y>(y), dy, dx);
  }
  template <class S> static constexpr void initialize(auto& p, S& s, auto& generator) {
    if constexpr (requires { Self::initialize_own(p.mine, generator); })
      Self::initialize_own(p.mine, generator);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      for (auto at = std::size_t{0}; at < Self::times; ++at)
        if constexpr (is_empty<S>)
          (initialize_layer<child<I>>(p.template get<I>(at), s, generator), ...);
        else
          (initialize_layer<child<I>>(p.template get<I>(at), s.template get<I>(at), generator),
           ...);
    }(std::make_index_sequence<count>{});
  }
  static constexpr void initialize(auto& p, auto& generator) {
    initialize_layer<Self>(p, generator);
  }
  static constexpr void fold(auto& to, auto const& from) {
    for_each_index<count>([&]<std::size_t I>() {
      if constexpr (about_of<child<I>>.statistics)
        for (auto at = std::size_t{0}; at < Self::times; ++at)
          fold_observed<child<I>>(to.template get<I>(at), from.template get<I>(at));
    });
  }
  static constexpr void absorb(auto& s, auto const& o) {
    for_each_index<count>([&]<std::size_t I>() {
      if constexpr (about_of<child<I>>.statistics)
        for (auto at = std::size_t{0}; at < Self::times; ++at)
          absorb_observed<child<I>>(s.template get<I>(at), o.template get<I>(at));
    });
  }
};

/// One child that sees what its wrapper is given, and gives what that gives.
template <class Self, class Layer> struct wrapper : composition<Self, Layer> {
  using inner = as_layer<Layer>;
  static constexpr bool counts_places = false;
  static constexpr bool adds_dx = about_of<inner>.adds_dx;
  static constexpr auto backward_reads = about_of<inner>.backward_reads;
  template <class S> using output_shape = tessera::output_shape<inner, S>;
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    return tessera::output_extents<inner>(actual);
  }
  static constexpr void run(auto inside, auto x, auto y) { inside.template forward<0>(x, y); }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    inside.template backward<0>(x, y, dy, dx);
  }
};

/// What a backward pass may read of value K, where `Kept`; else a view without memory.
template <bool Kept, std::size_t K>
[[nodiscard]] constexpr auto hidden_value(auto const& inside, auto like) {
  if constexpr (Kept)
    return inside.template value<K>(like.actual);
  else
    return as_const(without_memory<kind_of<decltype(like)>>(like.actual));
}

}  // namespace tessera
