// Follows a stream of server-sent events across connections that break.
#ifndef ATTUNE_HTTP_CLIENT_FOLLOWED_EVENTS_H_
#define ATTUNE_HTTP_CLIENT_FOLLOWED_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/client/call.h"
#include "http/client/client.h"
#include "http/server_event.h"

namespace attune {

// Server-sent events as they come (https://html.spec.whatwg.org/multipage/server-sent-events.html).
//
// One for each connection; what is incomplete when it ends is no event.
class EventParser {
 public:
  explicit EventParser(size_t most_event_bytes) : most_event_bytes_(most_event_bytes) {}

  // Appends the events that are complete with this piece of the stream. An event without an id has that of
  // the one before. ResourceExhausted if an event is too large.
  absl::Status Feed(std::string_view piece, std::vector<ServerEvent>& events);

  // How long the server wants its clients to wait before they connect again.
  std::optional<int64_t> retry_ms() const { return retry_ms_; }

 private:
  void TakeLine(std::string_view line, std::vector<ServerEvent>& events);

  const size_t most_event_bytes_;
  std::string line_;
  bool is_first_line_ = true, was_return_ = false;
  bool has_data_ = false;
  ServerEvent event_;
  std::optional<int64_t> retry_ms_;
};

// Whether the same call may be answered otherwise later: 429, 502, 503 and 504.
bool IsPassing(const HttpAnswer& answer);

// Seconds that the answer asks for by Retry-After, at most five minutes; 0: it asks for none.
double RetryAfter(const HttpAnswer& answer, const Clock& clock = SystemClock());

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
