// Server-sent events as they come (https://html.spec.whatwg.org/multipage/server-sent-events.html).
#ifndef ATTUNE_HTTP_CLIENT_EVENT_PARSER_H_
#define ATTUNE_HTTP_CLIENT_EVENT_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "http/event_stream.h"

namespace attune {

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

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_EVENT_PARSER_H_
