// SPDX-License-Identifier: MIT
//
// load <port> <path> <file of the body> <requests a second> <seconds> <connections>
//
// Sends requests at a constant rate over connections that stay open and prints what came back as
// JSON. The time of a request begins when it is due, not when a connection was free to send it: a
// server that stalls is charged with all that waited meanwhile (no coordinated omission).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;

struct connection {
  int socket = -1;
  clock_type::time_point due;
  clock_type::time_point sent;
  std::string got;
};

[[nodiscard]] auto connect_to(int port) -> int {
  auto const socket = ::socket(AF_INET, SOCK_STREAM, 0);
  auto address = sockaddr_in{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("port " + std::to_string(port) + ": " + std::strerror(errno));
  auto const on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

/// Bytes of the whole answer, as soon as its head is there; 0 before.
[[nodiscard]] auto length_of(std::string const& got) -> std::size_t {
  auto const end = got.find("\r\n\r\n");
  if (end == std::string::npos) return 0;
  auto head = got.substr(0, end);
  std::transform(head.begin(), head.end(), head.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  auto const field = head.find("content-length: ");
  if (field == std::string::npos) throw std::runtime_error("an answer without Content-Length");
  return end + 4 + static_cast<std::size_t>(std::atoll(head.c_str() + field + 16));
}

class load {
 public:
  load(int port, std::string request, std::size_t count) : request_(std::move(request)) {
    connections_.resize(count);
    for (auto i = std::size_t{0}; i < count; ++i) {
      connections_[i].socket = connect_to(port);
      auto event = epoll_event{.events = EPOLLIN, .data = {.u64 = i}};
      (void)::epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_[i].socket, &event);
      free_.push_back(i);
    }
  }
  load(load const&) = delete;
  auto operator=(load const&) -> load& = delete;
  ~load() {
    for (auto const& one : connections_) (void)::close(one.socket);
    (void)::close(epoll_);
  }

  void run(double rate, double seconds) {
    auto const total = static_cast<std::size_t>(rate * seconds);
    auto const start = clock_type::now() + std::chrono::milliseconds{10};
    auto const due_of = [&](std::size_t i) {
      return start + std::chrono::duration_cast<clock_type::duration>(
                         std::chrono::duration<double>(static_cast<double>(i) / rate));
    };
    auto begun = std::size_t{0};
    auto const patience = due_of(total) + std::chrono::seconds{10};
    while (answered_ + errors_ < total && clock_type::now() < patience) {
      for (; begun < total && due_of(begun) <= clock_type::now(); ++begun)
        waiting_.push_back(due_of(begun));
      most_waiting_ = std::max(most_waiting_, waiting_.size());
      while (not waiting_.empty() && not free_.empty()) send();
      receive(begun < total ? due_of(begun) : clock_type::now() + std::chrono::milliseconds{100});
    }
    seconds_ = std::chrono::duration<double>(clock_type::now() - start).count();
    errors_ += total - answered_ - errors_;
  }
  void print() {
    auto const at = [](std::vector<double>& all, double share) {
      if (all.empty()) return 0.0;
      std::sort(all.begin(), all.end());
      return 1e3 * all[std::min(all.size() - 1,
                                static_cast<std::size_t>(share * static_cast<double>(all.size())))];
    };
    std::printf("{\"requests\": %zu, \"errors\": %zu, \"rate\": %.1f, \"most_waiting\": %zu",
                answered_, errors_, static_cast<double>(answered_) / seconds_, most_waiting_);
    for (auto const& [name, share] : std::array<std::pair<char const*, double>, 4>{
             {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}}})
      std::printf(", \"%s\": %.3f, \"sent_%s\": %.3f", name, at(since_due_, share), name,
                  at(since_sent_, share));
    std::printf("}\n");
  }

 private:
  void send() {
    auto const i = free_.front();
    free_.pop_front();
    auto& one = connections_[i];
    one.due = waiting_.front();
    one.sent = clock_type::now();
    waiting_.pop_front();
    auto rest = std::string_view{request_};
    while (not rest.empty()) {
      auto const n = ::send(one.socket, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (n <= 0) return lose(i);
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  void receive(clock_type::time_point until) {
    auto events = std::array<epoll_event, 64>{};
    auto const left = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::max(until - clock_type::now(), clock_type::duration::zero()));
    auto const time =
        timespec{.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
    auto const count = ::epoll_pwait2(epoll_, events.data(), events.size(), &time, nullptr);
    for (auto e = 0; e < count; ++e) read(events[static_cast<std::size_t>(e)].data.u64);
  }
  void read(std::size_t i) {
    auto& one = connections_[i];
    auto piece = std::array<char, 65'536>{};
    auto const n = ::recv(one.socket, piece.data(), piece.size(), 0);
    if (n <= 0) return lose(i);
    one.got.append(piece.data(), static_cast<std::size_t>(n));
    auto const length = length_of(one.got);
    if (length == 0 || one.got.size() < length) return;
    auto const now = clock_type::now();
    if (one.got.compare(9, 3, "200") == 0) {
      ++answered_;
      since_due_.push_back(std::chrono::duration<double>(now - one.due).count());
      since_sent_.push_back(std::chrono::duration<double>(now - one.sent).count());
    } else if (++errors_ == 1) {
      std::fprintf(stderr, "%.300s\n", one.got.c_str());
    }
    one.got.clear();
    free_.push_back(i);
  }
  /// The connection is gone, and the request with it.
  void lose(std::size_t i) {
    if (++errors_ == 1)
      std::fprintf(stderr, "a connection ended: %s\n",
                   errno == 0 ? "by the server" : std::strerror(errno));
    (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, connections_[i].socket, nullptr);
  }

  std::string request_;
  int epoll_ = ::epoll_create1(0);
  std::vector<connection> connections_;
  std::deque<std::size_t> free_;  ///< the longest first, so that all are in use
  std::deque<clock_type::time_point> waiting_;
  std::vector<double> since_due_;
  std::vector<double> since_sent_;
  std::size_t answered_ = 0;
  std::size_t errors_ = 0;
  std::size_t most_waiting_ = 0;
  double seconds_ = 1;
};

}  // namespace

auto main(int count, char** words) -> int try {
  if (count != 7)
    throw std::runtime_error("expected <port> <path> <body> <rate> <seconds> <connections>");
  auto file = std::ifstream{words[3], std::ios::binary};
  auto const body = std::string{std::istreambuf_iterator<char>{file}, {}};
  auto const request = "POST " + std::string{words[2]} +
                       " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Content-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body;
  auto one = load(std::atoi(words[1]), request, std::strtoul(words[6], nullptr, 10));
  one.run(std::atof(words[4]), std::atof(words[5]));
  one.print();
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "load: %s\n", e.what());
  return 1;
}
