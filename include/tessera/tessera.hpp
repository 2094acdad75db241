// SPDX-License-Identifier: MIT
#pragma once

/// All of the library but its components (bridge with data, io, text, train, program, track,
/// optimize, generate, serve, group) and device code (cuda.hpp). What is left out of embedded.hpp
/// asks for a heap, or is for tools.
#include <tessera/compose/gradient_check.hpp>
#include <tessera/core/aggregate.hpp>
#include <tessera/embedded.hpp>
#include <tessera/models/bert.hpp>
#include <tessera/models/diffusion.hpp>
#include <tessera/models/gpt.hpp>
#include <tessera/models/gpt2.hpp>
#include <tessera/models/language_model.hpp>
#include <tessera/models/llama.hpp>
#include <tessera/models/lstm_attention.hpp>
#include <tessera/models/unet.hpp>
#include <tessera/optim/moments.hpp>
#include <tessera/random/token_sampler.hpp>
