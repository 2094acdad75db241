// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/attention.hpp>
#include <tessera/ops/batch_norm.hpp>
#include <tessera/ops/conv1d.hpp>
#include <tessera/ops/conv2d.hpp>
#include <tessera/ops/cross_entropy.hpp>
#include <tessera/ops/dropout.hpp>
#include <tessera/ops/embedding.hpp>
#include <tessera/ops/group_norm.hpp>
#include <tessera/ops/lstm_cell.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/ops/rotary.hpp>
#include <tessera/ops/sinusoidal.hpp>
#include <tessera/ops/upsample.hpp>

/// The operations that a backend may have kernels for, by name: a backend of one's own specializes
/// tessera::kernel<operation::conv2d, my_backend>. What a kernel is called with stands where the
/// operation is, in ops/; one may derive from kernel<operation::conv2d, reference> and replace a
/// part. tests/outside/fixed_point.hpp is an example.
namespace tessera::operation {

using affine_map = detail::affine_map_fn;
using affine_map_input = detail::affine_map_input_fn;
using affine_map_parameters = detail::affine_map_parameters_fn;
using attention = detail::attention_fn;
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
using lstm_step = detail::lstm_step_fn;
using lstm_step_backward = detail::lstm_step_backward_fn;
using matmul = detail::matmul_fn;
using rotary = detail::rotary_fn;
using rotary_geometry = detail::rotary_geometry;
using sinusoidal = detail::sinusoidal_fn;
using upsample = detail::upsample_fn;
using upsample_geometry = detail::upsample_geometry;

}  // namespace tessera::operation
