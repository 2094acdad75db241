// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace test {

struct reply {
  int status = 0;
  std::string head;
  std::string body;
};

/// A client that sends any bytes, by the calls of the system alone.
class client {
 public:
  explicit client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    auto place = sockaddr_in{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr const*>(&place), sizeof place) != 0) {
      ::close(socket_);
      throw std::runtime_error("no connection");
    }
  }
  client(client const&) = delete;
  auto operator=(client const&) -> client& = delete;
  ~client() { ::close(socket_); }

  /// False where the other side does not take it.
  auto send(std::string_view bytes) const -> bool {
    while (not bytes.empty()) {
      auto const n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void shut() const { ::shutdown(socket_, SHUT_WR); }
  /// One whole answer; status 0 where the connection ends before.
  auto receive(bool without_body = false) -> reply {
    auto result = reply{};
    auto end = std::string::npos;
    while ((end = got_.find("\r\n\r\n")) == std::string::npos)
      if (not more()) return result;
    result.head = got_.substr(0, end + 4);
    got_.erase(0, end + 4);
    result.status = std::stoi(result.head.substr(result.head.find(' ') + 1, 3));
    if (without_body || result.status == 100) return result;
    auto const at = result.head.find("\r\nContent-Length: ");
    if (at == std::string::npos) {
      while (more()) {
      }
      result.body = std::exchange(got_, {});
      return result;
    }
    auto const length = std::stoul(result.head.substr(at + 18));
    while (got_.size() < length)
      if (not more()) return {};
    result.body = got_.substr(0, length);
    got_.erase(0, length);
    return result;
  }
  auto ask(std::string_view bytes) -> reply {
    (void)send(bytes);
    return receive();
  }
  /// True where an answer begins to come, of which nothing is read.
  [[nodiscard]] auto begins() const -> bool {
    auto wait = pollfd{socket_, POLLIN, 0};
    return ::poll(&wait, 1, patience) == 1;
  }
  /// Everything up to a text, and it; nothing where it does not come.
  auto until(std::string_view text) -> std::string {
    auto at = std::string::npos;
    while ((at = got_.find(text)) == std::string::npos)
      if (not more()) return {};
    auto result = got_.substr(0, at + text.size());
    got_.erase(0, result.size());
    return result;
  }
  /// True where the other side has ended the connection, within a minute.
  auto ended() -> bool {
    while (more()) {
    }
    return closed_;
  }

 private:
  auto more() -> bool {
    auto wait = pollfd{socket_, POLLIN, 0};
    if (::poll(&wait, 1, patience) != 1) return false;
    char bytes[65536];
    auto const n = ::recv(socket_, bytes, sizeof bytes, 0);
    if (n <= 0) return closed_ = true, false;
    got_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  static constexpr auto patience = 60'000;  ///< in ms: machines may be busy

  int socket_;
  bool closed_ = false;
  std::string got_;
};

[[nodiscard]] inline auto get(std::string const& path, std::string const& more = "")
    -> std::string {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n";
}
[[nodiscard]] inline auto post(std::string const& path, std::string const& body,
                               std::string const& more = "") -> std::string {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + more + "\r\n" + body;
}

}  // namespace test
