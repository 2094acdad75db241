// SPDX-License-Identifier: MIT
#include "onnx_models.hpp"

namespace test {
namespace {

using pictures = tensor<float, shape<at_most(4), 12, 10, 3>>;
template <std::size_t In, std::size_t Out>
using same_size = conv2d<In, Out, 3, conv2d_options{.padding = 1}>;

using classifier =
    sequential<named<"conv1", same_size<3, 8>>, named<"norm", batch_norm<8>>, relu_layer,
               max_pool2d<2>, named<"conv2", conv2d<8, 6, 3, conv2d_options{.groups = 2}>>,
               gelu_layer, avg_pool2d<2, avg_pool2d_options{.stride = 1}>, flatten,
               named<"fc", linear<3 * 2 * 6, 5>>>;

constexpr auto wide =
    conv2d_options{.stride = {2, 1}, .padding = {2, 1}, .dilation = {2, 1}, .bias = false};
constexpr auto overlapping = max_pool2d_options{.stride = {1, 2}, .padding = 1};
constexpr auto of_present = avg_pool2d_options{.stride = 2, .padding = 1, .counts_padding = false};
constexpr auto with_padding = avg_pool2d_options{.stride = 2, .padding = 1};
using windows_of_all_kinds =
    sequential<conv2d<3, 4, {3, 2}, wide>, max_pool2d<{3, 2}, overlapping>,
               avg_pool2d<3, of_present>, upsample<2>, avg_pool2d<{2, 3}, with_padding>>;

/// Down and up again, with a skip; and a shortcut with channels of its own.
using small_unet = sequential<
    same_size<3, 4>,
    skip_connection<sequential<conv2d<4, 8, 2, conv2d_options{.stride = 2}>, group_norm<2, 8>,
                               silu_layer, upsample<2>>>,
    added<sequential<group_norm<3, 12, group_norm_options{.affine = false}>, same_size<12, 4>>,
          conv2d<12, 4, 1>>>;

using signals = tensor<float, shape<at_most(20), at_most(3), 4>>;

}  // namespace

void write_images(std::filesystem::path const& folder) {
  auto const calls = std::vector<extents_of<pictures>>{{1, 12, 10, 3}, {4, 12, 10, 3}};
  write_case<classifier, pictures>(folder, "images", calls, {.names = {"batch"}});
  write_case<windows_of_all_kinds, pictures>(folder, "windows", calls);
  write_case<small_unet, pictures>(folder, "skips", calls);

  using films = tensor<float, shape<at_most(2), at_most(3), 6, 5, 3>>;
  write_case<same_size<3, 2>, films>(folder, "films", {{1, 1, 6, 5, 3}, {2, 3, 6, 5, 3}},
                                     {.names = {"batch", "time"}});
  using one_picture = tensor<float, shape<6, 5, 3>>;
  write_case<sequential<same_size<3, 2>, max_pool2d<2>>, one_picture>(folder, "one_image",
                                                                      {{6, 5, 3}});

  auto const lengths = std::vector<extents_of<signals>>{{20, 3, 4}, {9, 1, 4}};
  constexpr auto strided = conv1d_options{.stride = 2, .padding = 1, .groups = 2};
  constexpr auto dilated = conv1d_options{.padding = 2, .dilation = 2, .bias = false};
  write_case<
      sequential<conv1d<4, 6, 3, strided>, batch_norm<6, batch_norm_options{.affine = false}>,
                 conv1d<6, 4, 3, dilated>>,
      signals>(folder, "conv1d", lengths, {.names = {"time", "batch"}});
  using many_lanes = tensor<float, shape<at_most(16), at_most(3), at_most(5), 2>>;
  write_case<conv1d<2, 4, 3>, many_lanes>(
      folder, "conv1d_many_lanes", {{3, 1, 1, 2}, {16, 2, 5, 2}}, {.names = {"time", "a", "b"}});
}

}  // namespace test
