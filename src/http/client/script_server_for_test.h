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
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"

namespace attune::testing {

inline sockaddr_in LoopbackAddress(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

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
    // Connects to a port of this machine, and passes on what either end sends, until one closes or the test
    // ends.
    void RelayTo(uint16_t port) const {
      const FileDescriptor other(::socket(AF_INET, SOCK_STREAM, 0));
      const sockaddr_in at = LoopbackAddress(port);
      EXPECT_EQ(connect(other.get(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
      const Peer server(other, is_ending_);
      pollfd waits[] = {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                        {.fd = other.get(), .events = POLLIN, .revents = 0}};
      for (bool goes_on = true; goes_on && !is_ending_;) {
        if (poll(waits, std::size(waits), kPollMs) <= 0) continue;
        if (waits[0].revents != 0) goes_on = PassOn(server);
        if (goes_on && waits[1].revents != 0) goes_on = server.PassOn(*this);
      }
    }

   private:
    static constexpr int kPollMs = 10;

    bool Wait(short what) const {
      pollfd waits = {.fd = socket_.get(), .events = what, .revents = 0};
      while (!is_ending_)
        if (poll(&waits, 1, kPollMs) > 0) return true;
      return false;
    }
    // Passes one piece on. Returns false at the end.
    bool PassOn(const Peer& to) const {
      char piece[4096];
      const ssize_t count = recv(socket_.get(), piece, sizeof(piece), MSG_DONTWAIT);
      return count > 0 && to.Send({piece, static_cast<size_t>(count)});
    }
    const FileDescriptor& socket_;
    const std::atomic<bool>& is_ending_;
  };
  // `number` counts the connections from 0.
  using Script = std::function<void(const Peer& peer, int number)>;

  explicit ScriptServer(Script script)
      : listening_(::socket(AF_INET, SOCK_STREAM, 0)), script_(std::move(script)) {
    sockaddr_in at = LoopbackAddress(0);
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

  uint16_t port() const { return port_; }
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
