// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/detail/http_core.hpp>

#include <thread>

#include "client.hpp"

using namespace tessera;

namespace {
std::atomic<int> sessions = 0;
}  // namespace

// Connections of the test's own, in the place of detail/http_session.hpp: the first cannot begin.
void detail::start_session(std::shared_ptr<http_core> core, asio::ip::tcp::socket socket,
                           bool refused) {
  (void)core, (void)refused;
  if (sessions++ == 0) throw std::bad_alloc{};
  (void)socket.send(asio::buffer(std::string_view{"HTTP/1.1 204 fine\r\n\r\n"}));
}
void detail::end_session_when_idle(http_session& session) { (void)session; }
void detail::cut_session(http_session& session) { (void)session; }

TEST_CASE("http_server: a connection that cannot begin does not end the others") {
  auto const core = std::make_shared<detail::http_core>(http_options{}, http_handler{});
  core->listen();
  auto serving = std::thread([&] { core->serve(); });
  CHECK(test::client(core->port).ended());
  CHECK(test::client(core->port).receive().status == 204);
  CHECK(test::client(core->port).receive().status == 204);
  core->begin_drain();
  serving.join();
}
