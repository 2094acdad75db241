// SPDX-License-Identifier: MIT
#include "settings.hpp"

namespace frequency {

using namespace tessera;

void resolve(settings& s) {
  check_one_of("mode", s.mode, {"stateful", "windowed"});
  check_one_of("variant", s.variant, {"plain", "attention", "film"});
  check_one_of("schedule", s.schedule, {"geometric", "plateau", "constant"});
  auto const windowed = s.windowed();
  auto const plain = s.variant == "plain";
  s.length = s.length.value_or(windowed ? 50 : 1);
  s.layers = s.layers.value_or(windowed && plain ? 2 : 1);
  s.training.max_epochs = s.training.max_epochs.value_or(windowed ? 10 : 300);
  s.batch = s.batch.value_or(windowed ? 64 : 4);
  s.weight_decay = s.weight_decay.value_or(windowed ? 0 : 1e-5);
  s.training.gradient_clip_val = s.training.gradient_clip_val.value_or(windowed ? 1 : 0.3);
  s.validation = s.validation.value_or(windowed ? 0.1 : 0);
  if (s.hidden != 64 && s.hidden != 128 && s.hidden != 256)
    refuse("hidden", "64, 128 or 256", s.hidden);
  if (not windowed && s.length != 1) refuse("length", "1, as the mode is stateful", *s.length);
  if (not windowed && s.batch != 4) refuse("batch", "4, as the mode is stateful", *s.batch);
  check_ranges(s);
  s.training.check();
  (void)s.tracking.names();
  if (s.variant == "attention" && not windowed)
    refuse("variant", "plain or film, as the mode is stateful", s.variant);
  if (not plain && (s.layers != 1 || s.hidden == 256))
    refuse("variant", "plain for 2 layers or 256 hidden values", s.variant);
  if (not windowed && s.validation != 0)
    refuse("validation", "0, as the mode is stateful", *s.validation);
}

}  // namespace frequency
