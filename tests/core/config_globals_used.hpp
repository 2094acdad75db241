// SPDX-License-Identifier: MIT
#pragma once

// Behind the library, a using-directive and the globals, in whatever order: every one of them is
// the user's.

[[nodiscard]] inline auto sum_of_globals() -> int {
  return all + arena + attention + batch + between + bias + buffer + channel + (checked ? 9 : 0) +
         column + config + context + count + data + done + epoch + first + found + grad + height +
         input + keep + key + last + layer + length + loss + manner + memory + mode + model +
         number + one + output + part + path + place + position + product + rate + result + row +
         sample + seed + size + skip + source + start + state + step + target + tile + total +
         value + weight + whole + width + window + x + y;
}
[[nodiscard]] inline auto types_are_the_users() -> bool {
  auto const own = name{"own"};
  auto end = node{2, nullptr};
  auto const begin = node{1, &end};
  auto const cut = piece{3, 5};
  auto const taps = kernel<int>{{1, 2, 3}};
  auto const more = pack<long>{{4, 5, 6}};
  auto const lid = kind::closed;
  return own.text == "own" && begin.next->value == 2 && cut.to == 5 && taps.values[2] == 3 &&
         more.values[0] == 4 && lid == kind::closed;
}
[[nodiscard]] inline auto functions_are_the_users() -> bool {
  return call(1) == 2 && get(1) == 3 && mean(2, 4) == 3 && reduce(1) == 0 && run(2) == 4 &&
         split("a,b") == 1 && stack(2) == 6;
}
