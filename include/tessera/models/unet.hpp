// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/added.hpp>
#include <tessera/compose/named.hpp>
#include <tessera/compose/parallel.hpp>
#include <tessera/compose/recompute.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/compose/with.hpp>
#include <tessera/layers/activation.hpp>
#include <tessera/layers/condition_bias.hpp>
#include <tessera/layers/conv2d.hpp>
#include <tessera/layers/embedding.hpp>
#include <tessera/layers/group_norm.hpp>
#include <tessera/layers/identity.hpp>
#include <tessera/layers/select_column.hpp>
#include <tessera/layers/self_attention.hpp>
#include <tessera/layers/time_embedding.hpp>
#include <tessera/layers/upsample.hpp>

namespace tessera {

/// What diffusers.UNet2DModel leaves to choose.
struct unet_options {
  static constexpr std::size_t most_levels = 8;

  std::size_t in = 3;
  std::size_t out = 3;
  std::size_t levels = 2;
  std::size_t channels[most_levels] = {224, 448, 672, 896};  ///< block_out_channels, of each level
  std::size_t blocks = 2;                                    ///< layers_per_block
  std::size_t attention_from = 1;  ///< the first level with attention; the middle always has it
  std::size_t head_width = 8;      ///< attention_head_dim
  std::size_t groups = 32;         ///< norm_num_groups
  std::size_t classes = 0;         ///< num_class_embeds; 0: no class
  bool recompute = false;          ///< blocks keep no tape
};

namespace detail {

// The parts are types of their own, not aliases: a level's name then does not spell out all levels
// below it, which one compiler of device code has no memory for.
template <std::size_t In, std::size_t Out, std::size_t Stride = 1>
using conv_3x3 = conv2d<In, Out, 3, conv2d_options{.stride = Stride, .padding = 1}>;

/// A skip that adds nothing to paths.
template <class F> using skip_of = named<"", skip_connection<named<"", F>>>;

template <unet_options O> struct unet_parts {
  static constexpr auto first = O.channels[0];
  static constexpr auto condition_width = 4 * first;

  template <class Block>
  using tape_or_not = std::conditional_t<O.recompute, tessera::recompute<Block>, Block>;

  template <std::size_t In, std::size_t Out>
  using resnet_body =
      named<"", sequential<named<"norm1", group_norm<O.groups, In>>, silu_layer,
                           named<"conv1", conv_3x3<In, Out>>,
                           named<"time_emb_proj", condition_bias<condition_width, Out>>,
                           named<"norm2", group_norm<O.groups, Out>>, silu_layer,
                           named<"conv2", conv_3x3<Out, Out>>>>;
  template <std::size_t In, std::size_t Out>
  struct resnet_of : added<resnet_body<In, Out>, named<"conv_shortcut", conv2d<In, Out, 1>>> {};
  template <std::size_t Same> struct resnet_of<Same, Same> : residual<resnet_body<Same, Same>> {};
  template <std::size_t In, std::size_t Out> using resnet = tape_or_not<resnet_of<In, Out>>;

  template <std::size_t C>
  using attention_options =
      std::integral_constant<self_attention_options,
                             self_attention_options{.heads = C / O.head_width,
                                                    .head_width = O.head_width,
                                                    .batch_first = true}>;
  template <std::size_t C>
  struct attention_of
      : residual<named<"", sequential<named<"group_norm", group_norm<O.groups, C>>,
                                      named<"", self_attention<C, attention_options<C>::value,
                                                               diffusers_projections>>>>> {};
  template <std::size_t C> using image_attention = tape_or_not<attention_of<C>>;

  template <fixed_name Resnet, fixed_name Attention, std::size_t In, std::size_t Out>
  struct attending
      : sequential<named<Resnet, resnet<In, Out>>, named<Attention, image_attention<Out>>> {};
  /// A block on the way down or up, with its attention. No specialization says so: nvcc 13 matches
  /// none that has names, and would leave the attention out.
  template <fixed_name Resnet, fixed_name Attention, std::size_t In, std::size_t Out, bool Attends>
  using block_of = either<Attends, named<"", attending<Resnet, Attention, In, Out>>,
                          named<Resnet, resnet<In, Out>>>;
  /// Block J of level K.
  template <std::size_t K, std::size_t J, std::size_t In>
  using down = block_of<joined_name("down_blocks.", K, ".resnets.", J),
                        joined_name("down_blocks.", K, ".attentions.", J), In, O.channels[K],
                        (K >= O.attention_from)>;
  static constexpr auto way_up(std::size_t k) { return O.levels - 1 - k; }
  template <std::size_t K, std::size_t J, std::size_t In>
  using up = block_of<joined_name("up_blocks.", way_up(K), ".resnets.", J),
                      joined_name("up_blocks.", way_up(K), ".attentions.", J), In, O.channels[K],
                      (K >= O.attention_from)>;

  template <std::size_t C>
  using middle = sequential<named<"mid_block.resnets.0", resnet<C, C>>,
                            named<"mid_block.attentions.0", image_attention<C>>,
                            named<"mid_block.resnets.1", resnet<C, C>>>;

  template <std::size_t K, std::size_t J> struct level;
  /// What comes between the ways down and up of level K.
  template <std::size_t K, bool Last> struct below {
    static constexpr auto channels = O.channels[K + 1];
    struct type : sequential<named<joined_name("down_blocks.", K, ".downsamplers.0.conv"),
                                   conv_3x3<O.channels[K], O.channels[K], 2>>,
                             named<"", typename level<K + 1, 0>::type>, upsample<2>,
                             named<joined_name("up_blocks.", way_up(K + 1), ".upsamplers.0.conv"),
                                   conv_3x3<channels, channels>>> {};
  };
  template <std::size_t K> struct below<K, true> {
    static constexpr auto channels = O.channels[K];
    struct type : middle<channels> {};
  };

  /// Level K from its block J on: everything below it and, with x beside it, a block up.
  template <std::size_t K, std::size_t J> struct level {
    static constexpr auto in = J > 0 || K == 0 ? O.channels[K] : O.channels[K - 1];
    struct inner : sequential<down<K, J, in>, named<"", typename level<K, J + 1>::type>> {};
    struct type : sequential<skip_of<inner>, up<K, O.blocks - J, O.channels[K] + in>> {};
  };
  template <std::size_t K> struct level<K, O.blocks> {
    using inner = below<K, K + 1 == O.levels>;
    struct type
        : sequential<skip_of<typename inner::type>, up<K, 0, inner::channels + O.channels[K]>> {};
  };

  /// (batch, 1) with the time step, or (batch, 2) with the class after it.
  static constexpr std::size_t inputs = O.classes > 0 ? 2 : 1;
  using time =
      named<"", sequential<select_column<0, inputs>,
                           named<"time_embedding", time_embedding<first, condition_width>>>>;
  template <std::size_t Classes, class = void> struct condition_of {
    using type =
        added<time,
              named<"", sequential<select_column<1, inputs>,
                                   named<"class_embedding", embedding<Classes, condition_width>>>>>;
  };
  template <class Always> struct condition_of<0, Always> {
    using type = time;
  };
  using condition =
      named<"", sequential<named<"", typename condition_of<O.classes>::type>, silu_layer>>;

  using body = named<
      "", sequential<named<"conv_in", conv_3x3<O.in, first>>, named<"", typename level<0, 0>::type>,
                     named<"conv_norm_out", group_norm<O.groups, first>>, silu_layer,
                     named<"conv_out", conv_3x3<first, O.out>>>>;
};

}  // namespace detail

/// The block that a U-Net is made of: norm, silu, convolution, the condition, and once more; a
/// convolution of one pixel around it where the channels change.
///
/// Shapes  x (batch, height, width, In) -> (batch, height, width, Out); condition (batch, 4·C), C
///         the channels of the first level
template <unet_options Options, std::size_t In, std::size_t Out>
using unet_block = typename detail::unet_parts<Options>::template resnet<In, Out>;

/// The U-Net of diffusion models, as diffusers.UNet2DModel, with its keys: resnet blocks that see
/// the time step, attention in the lower levels and in the middle, skips between the ways down and
/// up.
///
/// Shapes  x (batch, height, width, in) -> (batch, height, width, out), both divisible by
///         2^(levels - 1); condition (batch, 1), the time step, or (batch, 2), with the class after
///         it
/// Errors  sizes that do not halve: the skip names the level, tests/fail/unet_odd_size.cpp
/// Source  Ronneberger et al., U-Net, 2015; Ho et al., Denoising diffusion probabilistic models,
///         2020; reference values: tests/reference/unet.py
template <unet_options Options>
using unet = conditioned<typename detail::unet_parts<Options>::condition,
                         typename detail::unet_parts<Options>::body>;

}  // namespace tessera
