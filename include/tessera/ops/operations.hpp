// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/ops/recurrent/cell.hpp>
#include <tessera/random/philox.hpp>
#include <tessera/tensor/tensor.hpp>
#include <tessera/tensor/weights.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The operations that a backend has kernels for: what each is called with, and what its kernel
/// must have. This is the ground of the floor: kernels include it, ops/x.hpp includes the kernels.
///
/// A backend of one's own specializes tessera::kernel_for<operation::conv2d, my_backend>; it may
/// derive from kernel_for<operation::conv2d, reference> and replace a part, and names a `fallback`
/// for what it leaves out. tests/outside/fixed_point.hpp is an example. What a kernel "may have" is
/// asked before `run`: one that derives from another with such members, as those of simd, and
/// replaces `run`, replaces them as well, or deletes them.
namespace tessera {

/// A height and a width; one number stands for both.
struct size2 {
  std::size_t height;
  std::size_t width;
  constexpr size2(std::size_t both) : height{both}, width{both} {}
  constexpr size2(std::size_t rows, std::size_t columns) : height{rows}, width{columns} {}
  [[nodiscard]] constexpr auto area() const -> std::size_t { return height * width; }
  friend constexpr auto operator==(size2, size2) -> bool = default;
};

namespace detail {

/// The number of rows of the last axis.
template <class X> [[nodiscard]] constexpr auto rows_of(X const& x) -> std::size_t {
  return x.size() / last_of<shape_of<X>>;
}

// -- affine maps and products ---------------------------------------------------------------------

/// kernel_for<affine_map_fn, Backend> has packed<T, Rows, In, Out>, what it makes of a weight for
/// many rows, or nothing; prepare(weight, packed); and run(x, weight, bias, y, packed), where bias
/// is a pointer or null.
struct affine_map_fn;

/// C = A·B, or C += A·B where it `adds`: every number of C adds over the depth ascending, one fused
/// multiply-add each. The rows of C are contiguous. B may be stored narrower. Kernels are made for
/// a B whose rows or columns are contiguous; another one costs more.
template <class T, class Stored = T> struct matrix_product {
  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
  weight_matrix<T> a;          ///< (rows, depth)
  weight_matrix<T, Stored> b;  ///< (depth, columns)
  T* c;
  std::size_t c_row;  ///< the distance of two rows of C
  bool adds;
  bool adds_last = false;  ///< the sums are from zero, and are added to C as they come out
};

/// Rows, or steps of the depth, in runs of `length`: where the next run begins, in A and in the
/// other matrix. A length of 0: there is one run. Runs may go backward in A, from `first` on, by
/// what unsigned numbers wrap to.
struct product_runs {
  std::size_t length = 0;
  std::size_t a = 0;
  std::size_t other = 0;
  std::size_t first = 0;  ///< where the first run begins in A, of steps of the depth
};

/// kernel_for<product_fn, Backend> has run(product), and add_rows(rows, columns, d, sums): sums +=
/// the rows of d, ascending. Products of matrices and the slopes of affine maps are made of these
/// two; so are convolutions of a backend whose kernel derives from conv1d_by_products<Backend> and
/// conv2d_by_products<Backend>. It may have
///   run_with_sums(product, sums)        run, and add_rows of Aᵀ, which is (depth, rows) and whole
///   run_both_with_sums(p, sums, q, q_sums)  run_with_sums of two products that have one A and add
///                                       to their C; where run_with_sums is there, too
///   run_in_runs(product, rows, depth)   run for each run in turn, of a product that `adds`, and
///                                       not `adds_last`; rows and depth are product_runs
struct product_fn;

// -- attention ------------------------------------------------------------------------------------

/// One head of one sequence: a row of numbers for each time, by distances; keys and values may be
/// stored narrower, as K.
template <class T, class K = T> struct attention_head {
  std::size_t queries;  ///< rows of q and y
  std::size_t keys;     ///< rows of k and v
  std::size_t width;    ///< numbers of a row
  std::size_t q_row;    ///< the distance of two rows of q, and of its slope
  std::size_t kv_row;   ///< the distance of two rows of k and v, and of their slopes
  std::size_t out;      ///< the distance of two rows of y and dy
  std::size_t sum;      ///< the distance of two numbers of log_sum
  std::size_t before;   ///< keys that every query sees; query i sees i + 1 more of them
  bool causal;          ///< or all of them
  T scale;              ///< of the scores: 1 / sqrt(width)
  T const* q;
  K const* k;
  K const* v;
  std::size_t unseen = 0;  ///< keys at the end that no query sees

  [[nodiscard]] constexpr auto seen(std::size_t query) const -> std::size_t {
    auto const all = keys - unseen;
    auto const past = before + query + 1;
    return causal && past < all ? past : all;
  }
};
template <class T> struct attention_slopes {
  T const* y;
  T const* dy;
  T const* log_sum;
  T* dq;
  T* dk;
  T* dv;
  bool adds = false;  ///< dk and dv are added to: another head sees the same keys
};

/// The heads of all lanes, by distances from the first: heads lie next to each other, and
/// `sharing` of them, which follow one another, see the same keys.
template <class T, class K = T> struct attention_heads {
  attention_head<T, K> first;
  std::size_t lanes;
  std::size_t heads;  ///< of a lane
  std::size_t sharing;
  std::size_t q_lane;          ///< the distance of two lanes of q, and of its slope
  std::size_t kv_lane;         ///< of k and v, and of their slopes
  std::size_t out_lane;        ///< of y and dy
  std::size_t sum_lane;        ///< of log_sum
  T const* lengths = nullptr;  ///< for each lane, the number of keys that count; null: all

  [[nodiscard]] constexpr auto q_at(std::size_t lane, std::size_t h) const -> std::size_t {
    return lane * q_lane + h * first.width;
  }
  [[nodiscard]] constexpr auto kv_at(std::size_t lane, std::size_t h) const -> std::size_t {
    return lane * kv_lane + h / sharing * first.width;
  }
  [[nodiscard]] constexpr auto out_at(std::size_t lane, std::size_t h) const -> std::size_t {
    return lane * out_lane + h * first.width;
  }
  [[nodiscard]] constexpr auto head(std::size_t lane, std::size_t h) const -> attention_head<T, K> {
    auto result = first;
    result.q += q_at(lane, h);
    result.k += kv_at(lane, h);
    result.v += kv_at(lane, h);
    if (lengths != nullptr && lengths[lane] < static_cast<T>(first.keys))
      result.unseen =
          lengths[lane] > T{0} ? first.keys - static_cast<std::size_t>(lengths[lane]) : first.keys;
    return result;
  }
  /// The heads that see the keys of h, the first of them, as the queries of one; each has one
  /// query.
  [[nodiscard]] constexpr auto sharing_from(std::size_t lane, std::size_t h) const
      -> attention_head<T, K> {
    auto result = head(lane, h);
    result.unseen = result.keys - result.seen(0);
    result.causal = false;
    result.queries = sharing;
    result.q_row = result.out = result.width;
    result.sum = 1;
    return result;
  }
  [[nodiscard]] constexpr auto slopes(attention_slopes<T> const& of_first, std::size_t lane,
                                      std::size_t h) const -> attention_slopes<T> {
    return {of_first.y + out_at(lane, h),
            of_first.dy + out_at(lane, h),
            of_first.log_sum + lane * sum_lane + h,
            of_first.dq + q_at(lane, h),
            of_first.dk + kv_at(lane, h),
            of_first.dv + kv_at(lane, h),
            h % sharing != 0};
  }
};

/// kernel_for<attention_fn, Backend> has workspace<T, Keys, Width>, memory for one head; and
/// forward(head, y, log_sum or null, workspace), backward(head, slopes, workspace). One that takes
/// all heads at once has forward_heads(heads, y, log_sum or null) and backward_heads(heads, slopes)
/// instead, and for_each(count, body) for the weights of them all. One that `shares_heads` among
/// threads has forward_each<K>(walk, workspace) beside forward, as attention_fn calls it.
struct attention_fn;

}  // namespace detail

/// The two numbers that are turned together: (i, i + width / 2), or (2·i, 2·i + 1).
enum class rotary_pairs { halves, neighbours };

namespace detail {

/// Vectors of Width numbers, `vectors` of them next to each other for each time and lane.
struct rotary_geometry {
  std::size_t times;
  std::size_t lanes;
  std::size_t vectors;
  std::size_t time_distance;  ///< of two times of a lane, in numbers
  std::size_t lane_distance;  ///< of two lanes of a time
  std::size_t first;          ///< the position of the first time
  rotary_pairs pairs = rotary_pairs::halves;
};

/// kernel_for<rotary_fn, Backend>::run<Width>(geometry, frequency, x, back): turns pair i of every
/// vector by position·frequency[i], or back, in place.
struct rotary_fn;

// -- convolutions ---------------------------------------------------------------------------------

/// A convolution over time: output t sees inputs t·stride + k·dilation - before, k < kernel.
struct conv1d_geometry {
  std::size_t time;      ///< of x
  std::size_t out_time;  ///< of y
  std::size_t rows;      ///< lanes of the batch, between time and features
  std::size_t in;
  std::size_t out;
  std::size_t kernel;
  std::size_t stride;
  std::size_t dilation;
  std::size_t before;  ///< inputs before the first: of `past`, or zeros
  std::size_t groups;
  std::size_t past_rows = 0;  ///< lanes that `past` has places for; 0: rows

  /// The distance of two samples of `past`.
  [[nodiscard]] constexpr auto past_sample() const -> std::size_t {
    return (past_rows == 0 ? rows : past_rows) * in;
  }
  [[nodiscard]] constexpr auto group_in() const -> std::size_t { return in / groups; }
  [[nodiscard]] constexpr auto group_out() const -> std::size_t { return out / groups; }
  /// Where output t looks for tap k, counted from the first of the inputs before.
  [[nodiscard]] constexpr auto at(std::size_t t, std::size_t k) const -> std::size_t {
    return t * stride + k * dilation;
  }
  /// The row of features that output t sees by tap k; null where there are only zeros.
  template <class T>
  [[nodiscard]] constexpr auto seen(T const* x, T const* past, std::size_t t, std::size_t k) const
      -> T const* {
    auto const i = at(t, k);
    if (i < before) return past == nullptr ? nullptr : past + i * past_sample();
    return i - before < time ? x + (i - before) * rows * in : nullptr;
  }
};

/// kernel_for<conv1d_fn, Backend> has packed<T, Weights>, memory for as many weights; and
/// forward(geometry, x, past, weight, bias, y, packed), input(geometry, weight, dy, dx, packed) and
/// parameters(geometry, x, past, dy, dweight, dbias, packed), by pointers, or null, but for weight,
/// a weight_matrix (Out, In / groups · taps); and remember(geometry, x, past), which makes `past`
/// the last inputs of x and of those before it.
struct conv1d_fn;

/// A convolution over images (batch, height, width, channels): output pixel (i, j) sees by tap
/// (k, l) the input pixel (i·stride + k·dilation - padding, the same of j).
struct conv2d_geometry {
  std::size_t batch;
  size2 image;   ///< of x
  size2 output;  ///< of y
  std::size_t in;
  std::size_t out;
  size2 kernel;
  size2 stride;
  size2 padding;
  size2 dilation;
  std::size_t groups;

  [[nodiscard]] constexpr auto group_in() const -> std::size_t { return in / groups; }
  [[nodiscard]] constexpr auto group_out() const -> std::size_t { return out / groups; }
  /// The place of a number in the weight (Out, In / groups, height, width).
  [[nodiscard]] constexpr auto weight_at(std::size_t o, std::size_t i, std::size_t tap) const
      -> std::size_t {
    return (o * group_in() + i) * kernel.area() + tap;
  }
};

/// kernel_for<conv2d_fn, Backend> has packed<T, Weights>, memory for as many weights, whose
/// data() is `memory` here; and forward(geometry, x, weight, bias, y, memory), input(geometry,
/// weight, dy, dx, memory) and parameters(geometry, x, dy, dweight, dbias, memory), by pointers but
/// for weight, a weight_matrix (Out, In / groups · taps); bias, dweight and dbias may be null.
struct conv2d_fn;

/// Images (batch, height, width, channels) whose pixels become squares of factor·factor.
struct upsample_geometry {
  std::size_t batch;
  std::size_t height;
  std::size_t width;
  std::size_t channels;
  std::size_t factor;

  /// The first number of the pixel of x that pixel `at` of y shows, counted over all images.
  [[nodiscard]] constexpr auto source(std::size_t at) const -> std::size_t {
    auto const column = at % (width * factor) / factor;
    auto const row = at / (width * factor) / factor;  // images lie below each other
    return (row * width + column) * channels;
  }
  [[nodiscard]] constexpr auto pixels() const -> std::size_t {
    return batch * height * width * factor * factor;
  }
};

/// kernel_for<upsample_fn, Backend> has forward(geometry, x, y) and backward(geometry, dy, dx), by
/// pointers.
struct upsample_fn;

// -- recurrence -----------------------------------------------------------------------------------

/// kernel_for<recurrent_step_fn<Cell>, Backend>, of a Cell as ops/recurrent/cell.hpp says, has
/// packed<T, Rows, In, Hidden, Recurrent>, what it makes of the weights once for many steps, or
/// nothing; prepare(p, packed); and run(p, x, h, before, gates, beside, y, packed). It may have
/// advance(p, x, h, before, beside, y, state), which a stream asks instead of `run` for the weights
/// that it takes: a step of which nothing is kept, and which leaves y in h as well; `before` may be
/// h. The state is that of the cell, of which h and c are the tensors, unless the kernel names
/// state<T, State, In, Hidden, Recurrent>, derived from it.
template <class Cell> struct recurrent_step_fn;

/// kernel_for<recurrent_step_backward_fn<Cell>, Backend>::run(gates, beside, before, dy, dh, d)
template <class Cell> struct recurrent_step_backward_fn;

/// kernel_for<recurrent_sequence_fn<Cell>, Backend>, of a backend on a device, has fits<T, In,
/// Hidden>, whether a layer without a projection calls it instead of steps; then
/// forward(p, x, h, carried, gates, beside, y, reversed) and backward(weight_hh, gates, beside,
/// start, before, dy, reversed).
template <class Cell> struct recurrent_sequence_fn;

// -- norms, losses and what else goes by rows -----------------------------------------------------

/// Images (batch, pixels, channels) whose channels are normalized in groups: mean and scale have a
/// number for each image and group.
struct group_norm_geometry {
  std::size_t batch;
  std::size_t pixels;
  std::size_t channels;
  std::size_t groups;

  [[nodiscard]] constexpr auto group_size() const -> std::size_t { return channels / groups; }
};
template <class T> struct group_norm_slopes {
  T* dx;       ///< or null
  T* dweight;  ///< or null, and so dbias
  T* dbias;
};

/// kernel_for<group_norm_fn, Backend> has forward(geometry, x, weight, bias, epsilon, y, mean,
/// scale, sums) and backward(geometry, x, weight, bias, mean, scale, dy, slopes, sums), by
/// pointers; weight and bias may be null; sums is memory for twice the channels, in backward for
/// four times. One that names itself `takes_activation` applies an activation on the way:
/// forward<T, Activation> and backward<T, Activation>, whose dy is the slope of what the activation
/// gave.
struct group_norm_fn;

/// Rows of features, each normalized by itself: mean and scale have a number for each row.
struct layer_norm_geometry {
  std::size_t rows;
  std::size_t features;
};

template <class T> struct layer_norm_slopes {
  T* dx;       ///< or null
  bool adds;   ///< to what is in dx
  T* dweight;  ///< or null; may be the weight itself
  T* dbias;    ///< null where dweight is
};

/// kernel_for<layer_norm_fn, Backend> has forward(geometry, x, weight, bias, epsilon, y, mean,
/// scale) and backward(geometry, x, weight, mean, scale, dy, slopes, sums), by pointers; weight and
/// bias may both be null; sums is memory for twice the features. On a device the layer asks
/// expressions instead.
struct layer_norm_fn;

template <class T> struct rms_norm_slopes {
  T* dx;       ///< or null; may be dy
  bool adds;   ///< to what is in dx
  T* dweight;  ///< or null; may be the weight itself
};

/// kernel_for<rms_norm_fn, Backend> has forward(geometry, x, weight, epsilon, y, scale) and
/// backward(geometry, x, weight, scale, dy, slopes, sums), by pointers; the geometry is that of a
/// layer_norm; y may be x; sums is memory for the features.
struct rms_norm_fn;

/// Rows of features, normalized by groups of rows: mean and scale have a number for each group and
/// feature. The last group may have fewer rows.
struct batch_norm_geometry {
  std::size_t rows;
  std::size_t group;  ///< rows of one
  std::size_t features;

  [[nodiscard]] constexpr auto groups() const -> std::size_t {
    return rows == 0 ? 0 : (rows - 1) / group + 1;
  }
  [[nodiscard]] constexpr auto first_row(std::size_t g) const -> std::size_t { return g * group; }
  [[nodiscard]] constexpr auto rows_of(std::size_t g) const -> std::size_t {
    auto const left = rows - first_row(g);
    return left < group ? left : group;
  }
};
/// What rows showed: how many there were, the mean of each feature and the sum of the squared
/// distances from it.
template <class T> struct batch_norm_seen {
  T* count;
  T* mean;
  T* squares;

  [[nodiscard]] constexpr auto of_group(std::size_t g, std::size_t features) const
      -> batch_norm_seen {
    return {count + g, mean + g * features, squares + g * features};
  }
  constexpr operator batch_norm_seen<T const>() const
    requires(not std::is_const_v<T>)
  {
    return {count, mean, squares};
  }
};
template <class T> struct batch_norm_slopes {
  T* dx;       ///< or null
  T* dweight;  ///< or null, and so dbias
  T* dbias;
};

/// kernel_for<batch_norm_fn, Backend> has, by pointers,
///   observe(geometry, x, epsilon, mean, scale, groups, seen)  mean and scale of every group, and
///     what all of them showed; groups is memory for what each did
///   recall(features, running_mean, running_var, epsilon, mean, scale)
///   forward(geometry, x, weight, bias, mean, scale, y)        weight and bias may be null
///   backward(geometry, learns, x, weight, bias, mean, scale, dy, slopes, sums, products)
///     learns where mean and scale are those of x; sums and products have the size of mean
///   forward<T, Activation>(...) and backward<T, Activation>(...)   of one that names itself
///     `takes_activation`: dy is the slope of what the activation gave
///   fold(features, to, from)          what two sets of rows showed, together
///   absorb(features, momentum, running_mean, running_var, batches, seen)
/// Groups are folded by halves (0 + 1, 2 + 3, then 0 + 2), as the chunks of a batch are, and so are
/// their slopes: a batch in one chunk has the bits of a batch in several.
struct batch_norm_fn;

/// Windows over images (images, height, width, channels); what lies outside is not part of them.
struct max_pool2d_geometry {
  std::size_t images;
  size2 in;
  size2 out;
  std::size_t channels;
  size2 window;
  size2 stride;
  size2 padding;

  /// The part of a window that lies inside of an axis.
  struct part {
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] static constexpr auto inside(std::size_t place, std::size_t stride,
                                             std::size_t padding, std::size_t window,
                                             std::size_t length) -> part {
    auto const from = place * stride;
    auto const end = from + window - padding;
    return {from < padding ? 0 : from - padding, end < length ? end : length};
  }
  [[nodiscard]] constexpr auto rows(std::size_t place) const -> part {
    return inside(place, stride.height, padding.height, window.height, in.height);
  }
  [[nodiscard]] constexpr auto columns(std::size_t place) const -> part {
    return inside(place, stride.width, padding.width, window.width, in.width);
  }
};

/// kernel_for<max_pool2d_fn, Backend> has forward(geometry, x, y) and backward(geometry, x, y, dy,
/// dx), by pointers: a slope goes to the first number of its window that is the largest.
struct max_pool2d_fn;

/// The same windows, and what their sums are divided by: by the window, or by what of it lies
/// inside.
struct avg_pool2d_geometry {
  max_pool2d_geometry windows;
  bool counts_padding;

  [[nodiscard]] constexpr auto count(max_pool2d_geometry::part const& rows,
                                     max_pool2d_geometry::part const& columns) const
      -> std::size_t {
    return counts_padding ? windows.window.area()
                          : (rows.end - rows.begin) * (columns.end - columns.begin);
  }
};

/// kernel_for<avg_pool2d_fn, Backend> has forward(geometry, x, y) and backward(geometry, dy, dx),
/// by pointers.
struct avg_pool2d_fn;

/// Rows of logits, and how their losses are taken.
template <class T> struct cross_entropy_rows {
  std::size_t count;
  std::size_t classes;
  std::int64_t ignored;  ///< the target of a row that does not count
  T smoothing;
  T scale;
};

/// kernel_for<cross_entropy_fn, Backend>::rows(rows, logits, targets, slope or null): the sum of
/// the losses of all rows times scale, and the slopes of that; terms(rows, targets, ignored): how
/// many rows count, for the host.
struct cross_entropy_fn;

/// Which elements a call drops, and by what the others are multiplied.
struct dropout_draw {
  philox_stream stream;
  std::uint64_t first_block;  ///< of the stream: element i is word i of it and what follows
  std::uint32_t threshold;    ///< words below it are dropped
  double scale;
};

/// kernel_for<dropout_fn, Backend>::run(draw, x, y)
struct dropout_fn;

/// kernel_for<embedding_fn, Backend> has forward(count, x, rows, width, weight, y) and
/// parameters(count, x, rows, width, dy, dweight), by pointers but for weight, a weight_matrix; x
/// may hold whole numbers.
struct embedding_fn;

/// kernel_for<sinusoidal_fn, Backend> has forward(count, x, half, frequency, y) and backward(count,
/// x, half, frequency, dy, dx), by pointers: y has cosines of x·frequency and then sines, half of
/// each.
struct sinusoidal_fn;

}  // namespace detail

/// The operations by their public names.
namespace operation {

using affine_map = detail::affine_map_fn;
using attention = detail::attention_fn;
using avg_pool2d = detail::avg_pool2d_fn;
using avg_pool2d_geometry = detail::avg_pool2d_geometry;
using batch_norm = detail::batch_norm_fn;
using batch_norm_geometry = detail::batch_norm_geometry;
using conv1d = detail::conv1d_fn;
using conv1d_geometry = detail::conv1d_geometry;
using conv2d = detail::conv2d_fn;
using conv2d_geometry = detail::conv2d_geometry;
using cross_entropy = detail::cross_entropy_fn;
using dropout = detail::dropout_fn;
using embedding = detail::embedding_fn;
using group_norm = detail::group_norm_fn;
using group_norm_geometry = detail::group_norm_geometry;
using layer_norm = detail::layer_norm_fn;
using layer_norm_geometry = detail::layer_norm_geometry;
using matrix_product = detail::product_fn;
using max_pool2d = detail::max_pool2d_fn;
using max_pool2d_geometry = detail::max_pool2d_geometry;
template <class Cell> using recurrent_step = detail::recurrent_step_fn<Cell>;
template <class Cell> using recurrent_step_backward = detail::recurrent_step_backward_fn<Cell>;
template <class Cell> using recurrent_sequence = detail::recurrent_sequence_fn<Cell>;
using rms_norm = detail::rms_norm_fn;
using rotary = detail::rotary_fn;
using rotary_geometry = detail::rotary_geometry;
using sinusoidal = detail::sinusoidal_fn;
using upsample = detail::upsample_fn;
using upsample_geometry = detail::upsample_geometry;

}  // namespace operation

}  // namespace tessera
