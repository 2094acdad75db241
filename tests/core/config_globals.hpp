// SPDX-License-Identifier: MIT
#pragma once

#include <string>

// What a user's file calls its own things: at global scope, where a using-directive puts the names
// of the library beside them.

inline int all = 1;
inline int arena = 2;
inline int attention = 3;
inline int batch = 4;
inline int between = 5;
inline int bias = 6;
inline int buffer = 7;
inline int channel = 8;
inline bool checked = true;
inline int column = 10;
inline int config = 11;
inline int context = 12;
inline int count = 13;
inline int data = 14;
inline int done = 15;
inline int epoch = 16;
inline int first = 17;
inline int found = 18;
inline int grad = 19;
inline int height = 20;
inline int input = 21;
inline int keep = 22;
inline int key = 23;
inline int last = 24;
inline int layer = 25;
inline int length = 26;
inline int loss = 27;
inline int manner = 28;
inline int memory = 29;
inline int mode = 30;
inline int model = 31;
inline int number = 32;
inline int one = 33;
inline int output = 34;
inline int part = 35;
inline int path = 36;
inline int place = 37;
inline int position = 38;
inline int product = 39;
inline int rate = 40;
inline int result = 41;
inline int row = 42;
inline int sample = 43;
inline int seed = 44;
inline int size = 45;
inline int skip = 46;
inline int source = 47;
inline int start = 48;
inline int state = 49;
inline int step = 50;
inline int target = 51;
inline int tile = 52;
inline int total = 53;
inline int value = 54;
inline int weight = 55;
inline int whole = 56;
inline int width = 57;
inline int window = 58;
inline int x = 59;
inline int y = 60;

struct name {
  std::string text;
};
struct node {
  int value;
  node* next;
};
struct piece {
  int from, to;
};
enum class kind { open, closed };
template <class T> struct kernel {
  T values[3];
};
template <class T> using pack = kernel<T>;

[[nodiscard]] inline auto call(int argument) -> int { return argument + 1; }
[[nodiscard]] inline auto get(int argument) -> int { return argument + 2; }
[[nodiscard]] inline auto mean(int a, int b) -> int { return (a + b) / 2; }
[[nodiscard]] inline auto reduce(int argument) -> int { return argument - 1; }
[[nodiscard]] inline auto run(int argument) -> int { return argument * 2; }
[[nodiscard]] inline auto split(std::string const& text) -> std::size_t { return text.find(','); }
[[nodiscard]] inline auto stack(int argument) -> int { return argument * 3; }
