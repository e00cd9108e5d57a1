// Looking up the name of a server. In this program, names that end in .test never reach a name server.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/cancel.h"
#include "http/client/client.h"
#include "http/client/script_server_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ScriptServer;
using ::testing::StartsWith;

// Lets a test decide when looking up such a name ends.
class Names {
 public:
  // Lives on, since a thread that looks up a name may outlive the test.
  static Names& Get() {
    static auto* const kNames = new Names;
    return *kNames;
  }

  void SetKnown(bool are_known) {
    const std::lock_guard<std::mutex> lock(mutex_);
    are_known_ = are_known;
    changes_.notify_all();
  }
  void AwaitKnown() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    changes_.notify_all();
    changes_.wait(lock, [this] { return are_known_; });
    --waiting_;
  }
  void AwaitQuestion() {
    std::unique_lock<std::mutex> lock(mutex_);
    changes_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changes_;
  int waiting_ = 0;
  bool are_known_ = true;
};

}  // namespace
}  // namespace attune

// Replaces the system's in the whole program, libcurl included. Such names are this machine, except no.test,
// which does not exist.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto kSystems = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || !std::string_view(name).ends_with(".test"))
    return kSystems(name, service, hints, found);
  attune::Names::Get().AwaitKnown();
  return std::string_view(name) == "no.test" ? EAI_NONAME : kSystems("127.0.0.1", service, hints, found);
}

namespace attune {
namespace {

TEST(HttpClientNames, AreLookedUp) {
  const ScriptServer server([](const ScriptServer::Peer& peer, int) {
    EXPECT_THAT(peer.ReceiveUntil("\r\n\r\n"), HasSubstr("\r\nHost: server.test:"));
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  EXPECT_EQ((*HttpClient::Open(absl::StrCat("http://server.test:", server.port())))->Send({})->body, "ok");
  const auto answer = (*HttpClient::Open("http://no.test"))->Send({});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(answer.status().message(),
              AllOf(StartsWith("http://no.test: cannot connect"), HasSubstr("host")));
}

TEST(HttpClientNames, ThatTakeLongAreLeft) {
  Names& names = Names::Get();
  names.SetKnown(false);
  Cancellation cancellation;
  std::thread canceller([&] {
    names.AwaitQuestion();
    cancellation.Cancel();
  });
  const auto cancelled = (*HttpClient::Open("http://server.test", {.cancellation = &cancellation}))->Send({});
  EXPECT_EQ(cancelled.status().code(), absl::StatusCode::kCancelled) << cancelled.status();
  canceller.join();
  const auto late = (*HttpClient::Open("http://server.test", {.connect_seconds = 0.05}))->Send({});
  EXPECT_EQ(late.status().code(), absl::StatusCode::kUnavailable) << late.status();
  EXPECT_THAT(late.status().message(), StartsWith("http://server.test: cannot connect"));
  names.SetKnown(true);
}

}  // namespace
}  // namespace attune
