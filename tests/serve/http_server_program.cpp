// SPDX-License-Identifier: MIT
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/last_step.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/lstm.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/serve/http_server.hpp>
#include <tessera/serve/kserve.hpp>
#include <tessera/serve/kserve_repository.hpp>
#include <tessera/serve/process_metrics.hpp>
#include <tessera/serve/served.hpp>

#include <cstdio>
#include <map>

/// A server for the tests that are written in Python:
///
///     program make DIR                    writes a repository: forecast (two versions), stream
///     program serve DIR [name=value ...]  prints its port, serves until SIGTERM
namespace {

using namespace tessera;

using forecaster = sequential<lstm<15, 32>, last_step, linear<32, 3>>;
using windows = tensor<float, shape<60, at_most(16), 15>>;
using filter = sequential<lstm<4, 32>, linear<32, 1>>;
using samples = tensor<float, shape<at_most(64), 4>>;

template <class Model> void write_weights(std::filesystem::path const& folder, unsigned seed) {
  auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
  auto generator = torch_generator(seed);
  Model::initialize(*p, generator);
  std::filesystem::create_directories(folder);
  save_parameters(folder / "model.safetensors", *p);
}
void make(std::filesystem::path const& root) {
  write_weights<forecaster>(root / "forecast/1", 1);
  write_weights<forecaster>(root / "forecast/2", 2);
  write_weights<filter>(root / "stream/1", 3);
}
auto factories() -> model_factories {
  return {{"forecast",
           [](model_files const& files) {
             return std::make_shared<served<forecaster, windows>>(files.weights());
           }},
          {"stream", [](model_files const& files) {
             return std::make_shared<served_stream<filter, samples>>(files.weights());
           }}};
}
auto options_of(std::map<std::string, std::string> const& given) -> http_options {
  auto const number = [&](char const* name, std::size_t otherwise) -> std::size_t {
    auto const found = given.find(name);
    return found == given.end() ? otherwise : std::stoul(found->second);
  };
  auto result = http_options{};
  result.body_limit = number("body_limit", 1U << 20U);
  result.requests = number("requests", result.requests);
  result.connections = number("connections", result.connections);
  result.header_timeout = std::chrono::milliseconds{number("header_timeout", 1000)};
  result.request_timeout = std::chrono::milliseconds{number("request_timeout", 5000)};
  result.port = static_cast<std::uint16_t>(number("port", 0));
  if (auto const found = given.find("token"); found != given.end()) result.token = found->second;
  return result;
}
auto serve(std::filesystem::path const& root, std::map<std::string, std::string> const& given)
    -> int {
  auto counted = metrics{};
  add_process_metrics(counted);
  auto table = model_table{};
  auto repository = model_repository(root, factories(), table, counted);
  repository.refresh();
  repository.poll_every(std::chrono::milliseconds{200});
  auto routes = router{};
  auto ready = std::atomic<bool>{true};
  add_kserve(routes, table, {.ready = [&] { return ready.load(); }});
  add_repository(routes, repository, table);
  add_metrics(routes, counted);
  auto options = options_of(given);
  options.observe = count_requests(counted);
  auto server = http_server(std::move(options), [&](auto const& exchange) { routes(exchange); });
  std::printf("%u\n", static_cast<unsigned>(server.port()));
  std::fflush(stdout);
  return server.run_until_signal([&] { ready = false; }) ? 0 : 1;
}

}  // namespace

auto main(int count, char** words) -> int try {
  auto const all = std::vector<std::string>(words + 1, words + count);
  auto given = std::map<std::string, std::string>{};
  for (auto i = std::size_t{2}; i < all.size(); ++i)
    given[all[i].substr(0, all[i].find('='))] = all[i].substr(all[i].find('=') + 1);
  if (all.size() == 2 && all[0] == "make") return make(all[1]), 0;
  if (all.size() >= 2 && all[0] == "serve") return serve(all[1], given);
  std::fputs("make DIR | serve DIR [name=value ...]\n", stderr);
  return 2;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
