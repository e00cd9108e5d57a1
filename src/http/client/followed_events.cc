#include "http/client/followed_events.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/backoff.h"
#include "base/status.h"

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

absl::Status EventParser::Feed(std::string_view piece, std::vector<ServerEvent>& events) {
  for (const char c : piece) {
    // "\r\n" is one end of a line.
    const bool is_second_half = was_return_ && c == '\n';
    was_return_ = c == '\r';
    if (is_second_half) continue;
    if (c != '\n' && c != '\r') {
      line_ += c;
      if (line_.size() + event_.data.size() > most_event_bytes_)
        return absl::ResourceExhaustedError(
            absl::StrCat("sends an event of more than ", most_event_bytes_, " bytes"));
      continue;
    }
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    std::string_view line = line_;
    if (std::exchange(is_first_line_, false)) line = absl::StripPrefix(line, kByteOrderMark);
    TakeLine(line, events);
    line_.clear();
  }
  return absl::OkStatus();
}

void EventParser::TakeLine(std::string_view line, std::vector<ServerEvent>& events) {
  if (line.empty()) {
    if (has_data_) events.push_back(event_);
    event_.event.clear();
    event_.data.clear();
    has_data_ = false;
    return;
  }
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  const std::string_view value =
      colon == std::string_view::npos ? "" : absl::StripPrefix(line.substr(colon + 1), " ");
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (name == "event") {
    event_.event = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    event_.id = value;
  } else if (int64_t ms = 0; name == "retry" && std::ranges::all_of(value, absl::ascii_isdigit) &&
                             absl::SimpleAtoi(value, &ms)) {
    retry_ms_ = ms;
  }
}

bool IsPassing(const HttpAnswer& answer) {
  return answer.status == 429 || answer.status == 502 || answer.status == 503 || answer.status == 504;
}

double RetryAfter(const HttpAnswer& answer, const Clock& clock) {
  constexpr double kMost = 300;
  const std::string_view text = answer.Header("retry-after");
  int64_t seconds = 0;
  if (absl::SimpleAtoi(text, &seconds)) return std::clamp(static_cast<double>(seconds), 0.0, kMost);
  absl::Time when;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", text, &when, &error)) return 0;
  const double from_now = absl::ToDoubleSeconds(when - absl::FromUnixMillis(clock.WallMillis()));
  return std::clamp(from_now, 0.0, kMost);
}

absl::StatusOr<HttpAnswer> FollowEvents(
    HttpClient& client, HttpCall call,
    const std::function<absl::StatusOr<bool>(const ServerEvent& event)>& handle,
    const FollowOptions& options) {
  return Follower(client, std::move(call), handle, options).Follow();
}

}  // namespace attune
