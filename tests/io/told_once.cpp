// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/told_once.hpp>

#include <stdexcept>
#include <vector>

using namespace tessera;

namespace {

template <class E> void tell(told_once& of, E const& thrown) {
  try {
    throw E(thrown);
  } catch (...) {
    of.of_exception("the observer");
  }
}

}  // namespace

TEST_CASE("told_once: the first is told, whatever it is, and no other") {
  auto heard = std::vector<std::string>{};
  auto of_errors = told_once([&](std::string const& text) { heard.push_back(text); });
  tell(of_errors, std::runtime_error("no place"));
  tell(of_errors, std::runtime_error("again"));
  CHECK(heard == std::vector<std::string>{"the observer has thrown no place"});
  auto of_numbers = told_once([&](std::string const& text) { heard.push_back(text); });
  tell(of_numbers, 7);
  CHECK(heard.back() == "the observer has thrown what is no exception");
}
