// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/layer.hpp>

using namespace tessera;

namespace {

using X = tensor<float, shape<5, 3>>;
template <class L, class Call = training_call, class U = X> using found = verdict<L, U, Call>;
template <class L, class What, std::size_t... Path>
using breach_in = complaint::breach<complaint::at_position<Path...>, complaint::in<L>, What>;

/// y = 2·x: a layer that every other one here differs from in one line.
struct twice : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true};
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
};
struct without_facts : without_parameters, any_shape {};
struct facts_of_another_type : twice {
  static constexpr auto about = 3;
};
struct without_storage : any_shape {
  static constexpr auto about = facts{};
};
struct without_output_shape : without_parameters {
  static constexpr auto about = facts{};
  template <class S> using expected_shape = S;
};
struct without_start : twice {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<3>> weight;
    TESSERA_PARAMETERS(weight)
  };
};
struct without_backward : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true};
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
};
struct steps_nowhere : twice {
  static constexpr auto about = facts{.streams = true};
};
struct keeps : twice {
  static constexpr auto about = facts{.row_wise = true, .kept = true};
};
struct carries : twice {
  static constexpr auto about = facts{.row_wise = true, .state = true};
};
struct slopes_unsaid : twice {
  template <class U> struct slopes {
    U work;
  };
};
struct counts : twice {
  static constexpr auto about = facts{.row_wise = true, .statistics = true};
  template <class Storage> struct statistics {
    tensor_in<Storage, shape<1>> count;
    TESSERA_PARAMETERS(count)
  };
};
struct observes : counts {
  template <class Storage> struct observed {
    tensor_in<Storage, shape<1>> count;
  };
};
struct needs_memory : twice {
  using needs = type_list<tag::memory>;
};

}  // namespace

// -- contract: what is found, and where -----------------------------------------------------------
static_assert(std::same_as<found<twice>, complaint::none> && layer_for<twice, X>);
static_assert(
    std::same_as<found<without_facts>, breach_in<without_facts, complaint::facts_named_about>>);
static_assert(std::same_as<found<facts_of_another_type>,
                           breach_in<facts_of_another_type, complaint::facts_named_about>>);
static_assert(std::same_as<found<int>, breach_in<int, complaint::facts_named_about>>);
static_assert(std::same_as<found<without_storage>,
                           breach_in<without_storage, complaint::parameters_of_storage>>);
static_assert(std::same_as<found<without_output_shape>,
                           breach_in<without_output_shape, complaint::output_shape_of_s>>);
static_assert(std::same_as<found<without_start>,
                           breach_in<without_start, complaint::initialize_p_generator>>);
static_assert(std::same_as<found<keeps>, breach_in<keeps, complaint::role::kept>>);
static_assert(std::same_as<found<carries>, breach_in<carries, complaint::role::state>>);
static_assert(
    std::same_as<found<slopes_unsaid>, breach_in<slopes_unsaid, complaint::role::slopes>>);
static_assert(std::same_as<found<counts>, breach_in<counts, complaint::role::observed>>);
static_assert(std::same_as<found<observes>, breach_in<observes, complaint::fold_and_absorb>>);
// A backward pass is asked for where there is one, a step where samples come one by one.
static_assert(
    std::same_as<found<without_backward>,
                 breach_in<without_backward, complaint::backward_p_x_y_dy_dx_gradient_m>>);
static_assert(std::same_as<found<without_backward, inference_call>, complaint::none>);
static_assert(std::same_as<found<steps_nowhere, streaming_call>,
                           breach_in<steps_nowhere, complaint::step_p_x_y_m>>);
static_assert(std::same_as<found<steps_nowhere>, complaint::none>);
// An input by tag.
using memory_type = tensor<float, shape<4, 3>>;
static_assert(std::same_as<found<needs_memory>,
                           breach_in<needs_memory, complaint::input_given<tag::memory>>>);
static_assert(
    layer_for<needs_memory, X, call_for<call_mode::training, given_as<tag::memory, memory_type>>>);
static_assert(accepts<needs_memory, shape<5, 3>, given_as<tag::memory, memory_type>>);
// A composition says in which of its parts, outermost first.
static_assert(std::same_as<found<sequential<twice, residual<sequential<twice, keeps>>>>,
                           breach_in<keeps, complaint::role::kept, 1, 0, 1>>);
static_assert(std::same_as<
              found<sequential<twice, linear<4, 2>>>,
              complaint::mismatch<complaint::at_position<1>, complaint::in<linear<4, 2>>,
                                  complaint::expected<shape<5, 4>>, complaint::got<shape<5, 3>>>>);
// Three sentences, of which one is said.
static_assert(not complaint::every_layer_keeps_the_contract<found<keeps>> &&
              complaint::every_layer_accepts_its_input<found<keeps>> &&
              complaint::every_input_is_given<found<keeps>>);
static_assert(complaint::every_layer_keeps_the_contract<found<needs_memory>> &&
              not complaint::every_input_is_given<found<needs_memory>>);
static_assert(not complaint::every_layer_accepts_its_input<found<linear<4, 2>>> &&
              complaint::every_layer_keeps_the_contract<found<linear<4, 2>>>);
static_assert(layer_for<refused, X> && layer_for<refused, X, streaming_call>);

// -- values ---------------------------------------------------------------------------------------
TEST_CASE("layer: what keeps the contract runs, and goes through the gradient check") {
  test::passes_gradient_check<sequential<linear<3, 3>, twice>, tensor<double, shape<5, 3>>>();
}
