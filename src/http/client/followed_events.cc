#include "http/client/followed_events.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/backoff.h"
#include "base/status.h"
#include "http/client/event_parser.h"
#include "http/client/retry.h"

namespace attune {
namespace {

class Follower {
 public:
  using Handle = std::function<absl::StatusOr<bool>(const ServerEvent& event)>;

  Follower(HttpClient& client, HttpCall call, const Handle& handle, const FollowOptions& options)
      : client_(client), call_(std::move(call)), handle_(handle), options_(options) {
    call_.headers["Accept"] = "text/event-stream";
    call_.headers["Cache-Control"] = "no-store";
    call_.seconds = 0;
    call_.take = [this](const HttpAnswer& head, std::string_view piece) { return Take(head, piece); };
  }

  absl::StatusOr<HttpAnswer> Follow() {
    while (true) {
      parser_.emplace(options_.most_event_bytes);
      absl::StatusOr<HttpAnswer> answer = client_.Send(call_);
      if (has_enough_) return HttpAnswer{.status = 200};
      RETURN_IF_ERROR(failed_);
      if (!answer.ok() && !absl::IsUnavailable(answer.status())) return answer;
      if (answer.ok() && answer->status != 200 && !IsPassing(*answer)) return answer;
      if (options_.on_away && !std::exchange(is_away_, true)) options_.on_away(Why(answer));
      RETURN_IF_ERROR(Pause(answer));
    }
  }

 private:
  static constexpr double kMostPauseSeconds = 300;

  absl::Status Take(const HttpAnswer& head, std::string_view piece) {
    if (head.status != 200) return absl::OkStatus();
    if (!head.Header("content-type").starts_with("text/event-stream"))
      return failed_ = absl::FailedPreconditionError("sends no events");
    is_away_ = false;
    std::vector<ServerEvent> events;
    const absl::Status fed = parser_->Feed(piece, events);
    for (const ServerEvent& event : events) {
      backoff_.Reset();
      const absl::StatusOr<bool> goes_on = handle_(event);
      if (!goes_on.ok()) return failed_ = goes_on.status();
      has_enough_ = !*goes_on;
      if (has_enough_) return absl::CancelledError("this is enough");
      if (!event.id.empty()) call_.headers["Last-Event-ID"] = event.id;
    }
    return fed;
  }

  absl::Status Why(const absl::StatusOr<HttpAnswer>& answer) const {
    if (!answer.ok()) return answer.status();
    return absl::UnavailableError(
        answer->status == 200
            ? absl::StrCat(client_.url().Origin(), ": the stream of events ended")
            : absl::StrCat(client_.url().Origin(), ": answers with status ", answer->status));
  }

  absl::Status Pause(const absl::StatusOr<HttpAnswer>& answer) {
    const double wanted = static_cast<double>(parser_->retry_ms().value_or(0)) / 1e3;
    const double asked = std::max(wanted, answer.ok() ? RetryAfter(*answer) : 0);
    backoff_.Pause([this] { return client_.is_cancelled(); }, std::min(asked, kMostPauseSeconds));
    return client_.is_cancelled() ? absl::CancelledError("the call was cancelled") : absl::OkStatus();
  }

  HttpClient& client_;
  HttpCall call_;
  const Handle& handle_;
  const FollowOptions& options_;
  Backoff backoff_;
  std::optional<EventParser> parser_;
  bool has_enough_ = false, is_away_ = false;
  absl::Status failed_;
};

}  // namespace

absl::StatusOr<HttpAnswer> FollowEvents(
    HttpClient& client, HttpCall call,
    const std::function<absl::StatusOr<bool>(const ServerEvent& event)>& handle,
    const FollowOptions& options) {
  return Follower(client, std::move(call), handle, options).Follow();
}

}  // namespace attune
