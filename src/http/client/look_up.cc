#include "http/client/look_up.h"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/threads.h"

namespace attune {
namespace {

using boost::asio::ip::tcp;
using Endpoints = absl::StatusOr<std::vector<tcp::endpoint>>;

constexpr std::chrono::milliseconds kPoll(20);

// Shared with a thread that may end long after the caller has given up.
struct LookUp {
  std::mutex mutex;
  std::condition_variable ends;
  std::optional<Endpoints> result;
};

Endpoints AddressesOf(const std::string& host, uint16_t port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
    return absl::UnavailableError(absl::StrCat("cannot find the host: ", gai_strerror(error)));
  std::vector<tcp::endpoint> endpoints;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    tcp::endpoint endpoint;
    if (each->ai_addrlen > endpoint.capacity()) continue;
    std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                reinterpret_cast<char*>(endpoint.data()));
    endpoint.resize(each->ai_addrlen);
    endpoint.port(port);
    endpoints.push_back(endpoint);
  }
  freeaddrinfo(found);
  if (endpoints.empty()) return absl::UnavailableError("the host has no address");
  return endpoints;
}

}  // namespace

Endpoints LookUpHost(const HttpUrl& url, std::chrono::steady_clock::time_point end,
                     const Cancellation* cancellation) {
  boost::system::error_code is_name;
  const auto address = boost::asio::ip::make_address(url.host, is_name);
  if (!is_name) return std::vector<tcp::endpoint>{{address, url.port}};
  const auto look_up = std::make_shared<LookUp>();
  // The system's function can neither be bounded nor ended, so it has a thread that nobody waits for.
  std::thread thread;
  const bool has_begun = StartThread(thread, [look_up, host = url.host, port = url.port] {
    Endpoints found = AddressesOf(host, port);
    const std::lock_guard<std::mutex> lock(look_up->mutex);
    look_up->result = std::move(found);
    look_up->ends.notify_all();
  });
  if (!has_begun) return absl::ResourceExhaustedError("the system has no more threads");
  thread.detach();
  std::unique_lock<std::mutex> lock(look_up->mutex);
  while (!look_up->result) {
    if (cancellation != nullptr && cancellation->is_cancelled())
      return absl::CancelledError("the call was cancelled");
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return absl::UnavailableError("looking up the host takes too long");
    look_up->ends.wait_until(lock, std::min(end, now + kPoll));
  }
  return *look_up->result;
}

}  // namespace attune
