// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optimize/trial_table.hpp>

using namespace tessera;

namespace {

auto space() -> search_space {
  return search_space{}.log_uniform("rate", 1e-4, 1).choice("model", {"lstm", "tcn"});
}
auto trials() -> std::vector<trial> {
  auto const point = [](double rate, char const* model) {
    return search_point{{"rate", rate}, {"model", std::string{model}}};
  };
  return {{.number = 0,
           .state = trial_state::complete,
           .point = point(0.1, "lstm"),
           .value = 2,
           .scores = {{"r2", 0.5}},
           .began = 100,
           .ended = 101.5,
           .worker = "process 1 on here"},
          {.number = 1,
           .attempt = 2,
           .state = trial_state::pruned,
           .point = point(0.25, "tcn"),
           .reported = {{1, 8}, {4, 7.5}},
           .began = 100,
           .ended = 100.25},
          {.number = 2,
           .state = trial_state::complete,
           .point = point(1.0 / 3, "tcn"),
           .value = 1.0 / 3,
           .began = 7,
           .ended = 19},
          {.number = 3,
           .state = trial_state::failed,
           .point = point(0.5, "tcn"),
           .began = 1,
           .ended = 1,
           .message = "no \"prices\", none"},
          {.number = 4, .state = trial_state::running, .point = point(0.5, "lstm"), .began = 1}};
}

}  // namespace

TEST_CASE("trial_table: the best ones, aligned") {
  CHECK(trial_table(space(), trials(), search_direction::minimize) ==
        "trial    value     rate  model  seconds\n"
        "    2  0.33333  0.33333    tcn     12.0\n"
        "    0        2      0.1   lstm      1.5\n");
  CHECK(trial_table(space(), trials(), search_direction::maximize, 1) ==
        "trial  value  rate  model  seconds\n"
        "    0      2   0.1   lstm      1.5\n");
  CHECK(trial_table(space(), {}, search_direction::minimize) ==
        "trial  value  rate  model  seconds\n");
}
TEST_CASE("trial_table: counts") {
  CHECK(trial_counts(trials()) == "5 trials: 2 complete, 1 pruned, 1 failed, 1 running");
  CHECK(trial_counts({}) == "0 trials");
}
TEST_CASE("trial_table: CSV has every trial, exactly") {
  CHECK(trials_csv(space(), trials(), search_direction::minimize) ==
        "trial,state,attempt,value,best,steps,last,seconds,rate,model,r2,worker,message\n"
        "0,complete,1,2,2,0,2,1.500,0.1,lstm,0.5,process 1 on here,\n"
        "1,pruned,2,,2,4,7.5,0.250,0.25,tcn,,,\n"
        "2,complete,1,0.3333333333333333,0.3333333333333333,0,0.3333333333333333,12.000,"
        "0.3333333333333333,tcn,,,\n"
        "3,failed,1,,0.3333333333333333,0,,0.000,0.5,tcn,,,\"no \"\"prices\"\", none\"\n"
        "4,running,1,,0.3333333333333333,0,,,0.5,lstm,,,\n");
}
