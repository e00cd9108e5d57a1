// A server for tests that says what a script wants, however wrong that is.
#ifndef ATTUNE_HTTP_CLIENT_SCRIPT_SERVER_FOR_TEST_H_
#define ATTUNE_HTTP_CLIENT_SCRIPT_SERVER_FOR_TEST_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"

namespace attune::testing {

// Has a thread that gives the connections to the script, one after the other.
class ScriptServer {
 public:
  // One that was accepted.
  class Peer {
   public:
    Peer(const FileDescriptor& socket, const std::atomic<bool>& is_ending)
        : socket_(socket), is_ending_(is_ending) {}
    // All that comes until it ends so; less if the client is gone or the test ends.
    std::string ReceiveUntil(std::string_view end) const {
      std::string text;
      for (char c = 0; !text.ends_with(end) && Wait(POLLIN) && recv(socket_.get(), &c, 1, 0) == 1;) text += c;
      return text;
    }
    // False once the client is gone or the test ends.
    bool Send(std::string_view text) const {
      while (!text.empty() && Wait(POLLOUT)) {
        const ssize_t count = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count <= 0) return false;
        text.remove_prefix(static_cast<size_t>(count));
      }
      return text.empty();
    }

   private:
    bool Wait(short what) const {
      pollfd waits = {.fd = socket_.get(), .events = what, .revents = 0};
      constexpr int kMs = 10;
      while (!is_ending_)
        if (poll(&waits, 1, kMs) > 0) return true;
      return false;
    }
    const FileDescriptor& socket_;
    const std::atomic<bool>& is_ending_;
  };
  // `number` counts the connections from 0.
  using Script = std::function<void(const Peer& peer, int number)>;

  explicit ScriptServer(Script script)
      : listening_(::socket(AF_INET, SOCK_STREAM, 0)), script_(std::move(script)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    constexpr int kBacklog = 16;
    EXPECT_EQ(bind(listening_.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(listening_.get(), kBacklog), 0);
    EXPECT_EQ(getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~ScriptServer() {
    is_ending_ = true;
    shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }

  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }
  int connections() const { return connections_; }

 private:
  void Serve() {
    while (!is_ending_) {
      const FileDescriptor socket(accept(listening_.get(), nullptr, nullptr));
      if (socket.get() >= 0 && !is_ending_) script_(Peer(socket, is_ending_), connections_++);
    }
  }

  const FileDescriptor listening_;
  const Script script_;
  uint16_t port_ = 0;
  std::atomic<bool> is_ending_ = false;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace attune::testing

#endif  // ATTUNE_HTTP_CLIENT_SCRIPT_SERVER_FOR_TEST_H_
