// A network that is slow, breaks and mixes things up, for tests: passes bytes on between the loopback and a
// server.
#ifndef ATTUNE_FLEET_SERVER_PROXY_FOR_TEST_H_
#define ATTUNE_FLEET_SERVER_PROXY_FOR_TEST_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
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
  // From now on, bytes arrive later by `seconds`.
  void Delay(std::chrono::milliseconds delay) { delay_ = delay; }
  // The next bytes come twice, or after those that follow them soon.
  void Repeat() { next_ = Fault::kTwice; }
  void Reorder() { next_ = Fault::kLater; }
  // Calls this, in any thread, before each piece that is passed on; null: nothing.
  void OnPiece(std::function<void()> on_piece) {
    const std::lock_guard<std::mutex> lock(on_piece_mutex_);
    on_piece_ = std::move(on_piece);
  }

 private:
  enum class Fault { kNone, kTwice, kLater };
  struct Connection {
    FileDescriptor client, server;
    std::atomic<bool> is_cut = false;
    std::thread thread;
    std::array<std::string, 2> kept;  // for later, from client and from server
    bool is_spoilt = false;           // bytes were passed on twice or in another order
    int quiet_polls = 0;              // since bytes were last passed on
  };

  static constexpr int kPollMillis = 10;
  // Then bytes that were kept come although none follow them, and a connection that was spoilt breaks, whose
  // ends may both be waiting for bytes.
  static constexpr int kMostQuietPolls = 5;

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
      const bool is_quiet = poll(sockets.data(), sockets.size(), kPollMillis) <= 0;
      connection.quiet_polls = is_quiet ? connection.quiet_polls + 1 : 0;
      for (size_t i = 0; i < sockets.size(); ++i) {
        const int to = sockets[1 - i].fd;
        if (sockets[i].revents != 0 && !PassOn(sockets[i].fd, to, connection, i)) connection.is_cut = true;
        if (connection.quiet_polls >= kMostQuietPolls) Send(to, std::exchange(connection.kept[i], ""));
      }
      if (connection.is_spoilt && connection.quiet_polls >= kMostQuietPolls) connection.is_cut = true;
    }
    connection.client.Close();
    connection.server.Close();
  }

  // Passes on what there is. False if the connection is over.
  bool PassOn(int from, int to, Connection& connection, size_t direction) {
    std::string& kept = connection.kept[direction];
    std::string bytes(4096, '\0');
    const ssize_t count = read(from, bytes.data(), bytes.size());
    {
      const std::lock_guard<std::mutex> lock(on_piece_mutex_);
      if (on_piece_) on_piece_();
    }
    std::this_thread::sleep_for(delay_.load());
    if (count <= 0) return false;
    bytes.resize(static_cast<size_t>(count));
    switch (next_.exchange(Fault::kNone)) {
      case Fault::kNone:
        break;
      case Fault::kTwice:
        bytes += bytes;
        connection.is_spoilt = true;
        break;
      case Fault::kLater:
        kept += std::exchange(bytes, "");
        return true;
    }
    if (!kept.empty()) connection.is_spoilt = true;
    return Send(to, bytes + std::exchange(kept, ""));
  }
  static bool Send(int to, const std::string& bytes) {
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
  std::mutex on_piece_mutex_;
  std::function<void()> on_piece_;
  std::thread accepting_;
};

// Disturbs the connections of proxies a few times, by what they pass on and not by time: between two faults,
// as much gets through on a slow machine as on a fast one. The proxies must outlive it.
class TroubleOfTest {
 public:
  explicit TroubleOfTest(std::vector<ProxyOfTest*> proxies) : proxies_(std::move(proxies)) {
    for (ProxyOfTest* proxy : proxies_) proxy->OnPiece([this, proxy] { CountPiece(*proxy); });
  }
  ~TroubleOfTest() {
    for (ProxyOfTest* proxy : proxies_) {
      proxy->OnPiece(nullptr);
      proxy->Delay(std::chrono::milliseconds(0));
    }
  }

  // How many faults there were.
  int num_faults() const { return num_faults_; }

 private:
  static constexpr int kFaults = 8, kLeastPieces = 4, kMostPieces = 16, kMostDelayMillis = 20;

  void CountPiece(ProxyOfTest& proxy) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (num_faults_ == kFaults || --pieces_left_ > 0) return;
    pieces_left_ = random_.Integer(kLeastPieces, kMostPieces);
    for (ProxyOfTest* delayed : proxies_) delayed->Delay(std::chrono::milliseconds(0));
    switch (num_faults_++ % 4) {
      case 0:
        proxy.Delay(std::chrono::milliseconds(random_.Integer(0, kMostDelayMillis)));
        break;
      case 1:
        proxy.Cut();
        break;
      case 2:
        proxy.Repeat();
        break;
      default:
        proxy.Reorder();
    }
  }

  const std::vector<ProxyOfTest*> proxies_;
  std::mutex mutex_;
  Random random_{1};
  int64_t pieces_left_ = kLeastPieces;
  std::atomic<int> num_faults_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_PROXY_FOR_TEST_H_
