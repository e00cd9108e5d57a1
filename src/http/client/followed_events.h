// Follows a stream of server-sent events across connections that break.
#ifndef ATTUNE_HTTP_CLIENT_FOLLOWED_EVENTS_H_
#define ATTUNE_HTTP_CLIENT_FOLLOWED_EVENTS_H_

#include <cstddef>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/client/client.h"
#include "http/event_stream.h"

namespace attune {

struct FollowOptions {
  size_t most_event_bytes = size_t{4} << 20;
  // Is told why the server is away, once each time. It is asked again until it answers or the client's
  // cancellation ends that.
  std::function<void(const absl::Status& why)> on_away = {};
};

// Gives each event to `handle` until that returns false. After the connection has broken or ended, it
// connects again, with Last-Event-ID and longer pauses each time, or with those that the server asks for.
// Returns the last answer: of status 200, without a body, when `handle` has seen enough; otherwise one that
// will be the same next time, such as 204 or 404. Fails as HttpClient::Send() does, but not with Unavailable,
// and with the errors of `handle`.
absl::StatusOr<HttpAnswer> FollowEvents(
    HttpClient& client, HttpCall call,
    const std::function<absl::StatusOr<bool>(const ServerEvent& event)>& handle,
    const FollowOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_FOLLOWED_EVENTS_H_
