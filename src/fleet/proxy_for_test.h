// A network that is slow, breaks and mixes things up, for tests: passes bytes on between the loopback and a
// server.
#ifndef ATTUNE_FLEET_PROXY_FOR_TEST_H_
#define ATTUNE_FLEET_PROXY_FOR_TEST_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/random.h"

namespace attune {

class ProxyOfTest {
 public:
  // `server`: "127.0.0.1:port".
  explicit ProxyOfTest(const std::string& server)
      : server_port_(std::stoi(server.substr(server.find(':') + 1))) {
    listening_ = FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listening_.get(), 16), 0);
    EXPECT_EQ(getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { Accept(); });
  }
  ~ProxyOfTest() {
    is_ending_ = true;
    accepting_.join();
    Cut();
    for (Connection& connection : connections_) connection.thread.join();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Breaks all connections; new ones can be made.
  void Cut() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Connection& connection : connections_) connection.is_cut = true;
  }
  // From now on, bytes arrive so much later.
  void Delay(std::chrono::milliseconds delay) { delay_ = delay; }
  // The next bytes come twice, or after those that follow them.
  void Repeat() { next_ = Fault::kTwice; }
  void Reorder() { next_ = Fault::kLater; }

 private:
  enum class Fault { kNone, kTwice, kLater };
  struct Connection {
    FileDescriptor client, server;
    std::atomic<bool> is_cut = false;
    std::thread thread;
    std::array<std::string, 2> kept;  // for later, from client and from server
  };

  static constexpr int kPollMillis = 10;

  static sockaddr_in Loopback(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void Accept() {
    while (!is_ending_) {
      pollfd ready = {.fd = listening_.get(), .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, kPollMillis) <= 0) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      Connection& connection = connections_.emplace_back();
      connection.client = FileDescriptor(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      connection.server = FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_in address = Loopback(server_port_);
      connection.is_cut =
          connect(connection.server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0;
      connection.thread = std::thread([this, &connection] { PassOn(connection); });
    }
  }

  void PassOn(Connection& connection) {
    std::array<pollfd, 2> sockets = {pollfd{.fd = connection.client.get(), .events = POLLIN, .revents = 0},
                                     pollfd{.fd = connection.server.get(), .events = POLLIN, .revents = 0}};
    while (!connection.is_cut) {
      if (poll(sockets.data(), sockets.size(), kPollMillis) <= 0) continue;
      for (size_t i = 0; i < sockets.size(); ++i) {
        if (sockets[i].revents != 0 && !PassOn(sockets[i].fd, sockets[1 - i].fd, connection.kept[i]))
          connection.is_cut = true;
      }
    }
    connection.client.Close();
    connection.server.Close();
  }

  // Passes on what there is. False if the connection is over.
  bool PassOn(int from, int to, std::string& kept) {
    std::string bytes(4096, '\0');
    const ssize_t count = read(from, bytes.data(), bytes.size());
    std::this_thread::sleep_for(delay_.load());
    if (count <= 0) return false;
    bytes.resize(static_cast<size_t>(count));
    switch (next_.exchange(Fault::kNone)) {
      case Fault::kNone:
        break;
      case Fault::kTwice:
        bytes += bytes;
        break;
      case Fault::kLater:
        kept += std::exchange(bytes, "");
        return true;
    }
    bytes += std::exchange(kept, "");
    return send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) == std::ssize(bytes);
  }

  const int server_port_;
  FileDescriptor listening_;
  int port_ = 0;
  std::atomic<bool> is_ending_ = false;
  std::atomic<std::chrono::milliseconds> delay_ = std::chrono::milliseconds(0);
  std::atomic<Fault> next_ = Fault::kNone;
  std::mutex mutex_;
  std::list<Connection> connections_;
  std::thread accepting_;
};

// Disturbs the connections of proxies every now and then, until it is destroyed.
class TroubleOfTest {
 public:
  explicit TroubleOfTest(std::vector<ProxyOfTest*> proxies)
      : proxies_(std::move(proxies)), thread_([this] { MakeTrouble(); }) {}
  ~TroubleOfTest() {
    is_ending_ = true;
    thread_.join();
    for (ProxyOfTest* proxy : proxies_) proxy->Delay(std::chrono::milliseconds(0));
  }

 private:
  void MakeTrouble() {
    Random random(1);
    while (!is_ending_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random.Integer(50, 2000)));
      ProxyOfTest& proxy = *proxies_[static_cast<size_t>(random.Integer(0, std::ssize(proxies_) - 1))];
      switch (random.Integer(0, 3)) {
        case 0:
          proxy.Cut();
          break;
        case 1:
          proxy.Repeat();
          break;
        case 2:
          proxy.Reorder();
          break;
        default:
          proxy.Delay(std::chrono::milliseconds(random.Integer(0, 20)));
      }
    }
  }

  const std::vector<ProxyOfTest*> proxies_;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_PROXY_FOR_TEST_H_
