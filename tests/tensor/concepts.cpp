// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;

using X = tensor<float, shape<2, 3>>;
using V = view<float const, shape<2, 3>>;
using Sum = decltype(std::declval<X&>() + std::declval<X&>());
static_assert(tensor_like<X> && tensor_like<V> && not tensor_like<Sum> && not tensor_like<float>);
static_assert(owning<X> && not owning<V> && contiguous<V>);
static_assert(not contiguous<strided_view<float, shape<2, 3>>> &&
              tensor_like<strided_view<float, shape<2>>>);
static_assert(expression<Sum> && operand<Sum> && operand<X> && operand<int> &&
              not operand<char const*>);
static_assert(std::same_as<scalar_of<V>, float>, "without const");
static_assert(std::same_as<shape_of<X const&>, shape<2, 3>>);

template <class E>
constexpr auto answers = std::array{tensor_like<E>, contiguous<E>,    owning<E>,
                                    expression<E>,  array_operand<E>, operand<E>};
TEST_CASE("concepts: they answer yes and no, whatever a type is referred to by") {
  auto const check = []<class E>(std::type_identity<E>, std::array<bool, 6> const& expected) {
    CHECK(answers<E> == expected);
    CHECK(answers<E&> == expected);
    CHECK(answers<E const&> == expected);
    CHECK(answers<E&&> == expected);
  };
  check(std::type_identity<X>{}, {true, true, true, false, true, true});
  check(std::type_identity<V>{}, {true, true, false, false, true, true});
  check(std::type_identity<strided_view<float, shape<2, 3>>>{},
        {true, false, false, false, true, true});
  check(std::type_identity<Sum>{}, {false, false, false, true, true, true});
  check(std::type_identity<int>{}, {false, false, false, false, false, true});
  check(std::type_identity<char const*>{}, {false, false, false, false, false, false});
}
