// SPDX-License-Identifier: MIT
#include "metrics.hpp"

#include <tessera/train/interrupt.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <ostream>

namespace frequency {

void moments::add(double answer, double target) {
  auto const error = answer - target;
  n += 1;
  squared_error += error * error;
  absolute_error += std::abs(error);
  y += answer;
  t += target;
  yy += answer * answer;
  tt += target * target;
  yt += answer * target;
}
auto moments::r() const -> double {
  auto const of_y = n * yy - y * y;
  auto const of_t = n * tt - t * t;
  return of_y > 0 && of_t > 0 ? (n * yt - y * t) / std::sqrt(of_y * of_t) : 0;
}

auto evaluate(filter& f, signal const& s) -> evaluation {
  auto result = evaluation{};
  f.predict(make_recordings(s), [&](answers const& a) {
    if (tessera::interrupt_guard::requested()) throw interrupted{};
    constexpr auto inputs = 1 + frequencies.size();
    for (auto lane = std::size_t{0}; lane < a.lanes; ++lane) {
      auto const* const selector = a.inputs.data() + lane * inputs + 1;
      auto i = std::size_t{0};
      while (selector[i] != 1) ++i;
      auto& figures = result.per_frequency[i];
      auto& by_time = result.answers[i];
      auto const is_first_window = by_time.empty();  // later ones have one answer more each
      for (auto t = std::size_t{0}; t < a.time; ++t) {
        auto const answer = static_cast<double>(a.outputs[t * a.lanes + lane]);
        auto const target = static_cast<double>(a.targets[t * a.lanes + lane]);
        figures.add(answer, target);
        result.total.add(answer, target);
        if (a.carries || is_first_window || t + 1 == a.time) by_time.push_back(answer);
      }
    }
  });
  return result;
}

void print_table(std::ostream& to, report const& r) {
  char line[160];
  auto const print = [&](char const* what, moments const& test, moments const& train) {
    std::snprintf(line, sizeof line, "%-10s %10.6f %10.6f %9.5f   %10.6f %10.6f %9.5f\n", what,
                  test.mse(), test.mae(), test.r(), train.mse(), train.mae(), train.r());
    to << line;
  };
  std::snprintf(line, sizeof line, "%-10s %10s %10s %9s   %10s %10s %9s\n", "frequency", "test MSE",
                "MAE", "r", "train MSE", "MAE", "r");
  to << line;
  for (auto i = std::size_t{0}; i < frequencies.size(); ++i) {
    std::snprintf(line, sizeof line, "%g Hz", frequencies[i]);
    print(std::string{line}.c_str(), r.test.per_frequency[i], r.train.per_frequency[i]);
  }
  print("all", r.test.total, r.train.total);
  auto const ratio = r.test.total.mse() / r.train.total.mse();
  std::snprintf(line, sizeof line,
                "test/train %.4f (wanted within 0.8 to 1.2: %s); MSE below 0.1: %s\n", ratio,
                ratio >= 0.8 && ratio <= 1.2 ? "yes" : "no",
                r.test.total.mse() < 0.1 && r.train.total.mse() < 0.1 ? "yes" : "no");
  to << line;
}

auto to_json(report const& r) -> std::string {
  using json = nlohmann::ordered_json;
  auto const part = [](evaluation const& e) {
    auto each = json::array();
    for (auto i = std::size_t{0}; i < frequencies.size(); ++i)
      each.push_back({{"frequency", static_cast<int>(frequencies[i])},
                      {"mse", e.per_frequency[i].mse()},
                      {"mae", e.per_frequency[i].mae()},
                      {"r", e.per_frequency[i].r()}});
    return json{{"mse", e.total.mse()}, {"mae", e.total.mae()}, {"per_frequency", each}};
  };
  return json{{"test", part(r.test)},
              {"train", part(r.train)},
              {"ratio", r.test.total.mse() / r.train.total.mse()},
              {"parameters", r.parameters}}
      .dump(2);
}

}  // namespace frequency
