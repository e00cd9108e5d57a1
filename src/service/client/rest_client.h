// Asks a server by REST, in a user's name.
#ifndef ATTUNE_SERVICE_CLIENT_REST_CLIENT_H_
#define ATTUNE_SERVICE_CLIENT_REST_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancel.h"
#include "http/client/client.h"
#include "http/server_event.h"
#include "nlohmann/json.hpp"
#include "service/client/known_servers.h"

namespace attune {

struct RestClientOptions {
  int tries = 8;                               // of a call while nothing moves
  const Cancellation* cancellation = nullptr;  // must outlive the client
  // Is told when the server is away or wants clients to wait, before it is asked again.
  std::function<void(const absl::Status& why)> on_away = {};
  // Makes another token of one that the server refuses. Empty: that is an error.
  std::function<absl::StatusOr<std::string>(const std::string& refused)> renew_token = {};
};

// Thread safe. Errors are sentences that name the server or what it says: of the code that fits the status of
// its answer, NotFound for 404 for example, or as HttpClient::Send().
class RestClient {
 public:
  // Does not connect yet.
  static absl::StatusOr<std::unique_ptr<RestClient>> Open(const KnownServer& server,
                                                          const RestClientOptions& options = {});

  // The answer, in JSON, of a call that counts once however often it is sent. It is sent again, after longer
  // pauses each time or those that the server asks for, while the server is away or busy.
  absl::StatusOr<nlohmann::ordered_json> Ask(HttpCall call) const;
  // Sends it once. Unavailable if it may be answered otherwise later.
  absl::StatusOr<nlohmann::ordered_json> AskOnce(HttpCall call) const;
  absl::StatusOr<HttpAnswer> Send(HttpCall call) const;
  // Whether the error says that the server has refused a call (a status 4xx), which then had no effect.
  static bool IsRefusal(const absl::Status& error);
  // Repeats `attempt` while that is Unavailable, and gives up when `position`, which it moves forward, stays.
  absl::Status Insist(const int64_t& position, const std::function<absl::Status()>& attempt) const;
  // As FollowEvents(), until `handle` returns false or the server has nothing more to tell.
  absl::Status Follow(HttpCall call,
                      const std::function<absl::StatusOr<bool>(const ServerEvent& event)>& handle) const;

 private:
  RestClient(std::unique_ptr<HttpClient> http, std::string token, const RestClientOptions& options)
      : http_(std::move(http)), token_(std::move(token)), options_(options) {}

  // Makes the call with the token, and once more with another one if the server refuses that.
  absl::StatusOr<HttpAnswer> WithToken(
      HttpCall call, const std::function<absl::StatusOr<HttpAnswer>(const HttpCall& call)>& make) const;
  std::string Token() const;
  absl::StatusOr<std::string> TokenAfter(const std::string& refused) const;
  absl::Status ErrorOf(const HttpAnswer& answer) const;

  const std::unique_ptr<HttpClient> http_;
  mutable std::mutex renewing_;  // is held while the token is made anew
  mutable std::mutex mutex_;
  mutable std::string token_;  // under mutex_
  const RestClientOptions options_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_REST_CLIENT_H_
