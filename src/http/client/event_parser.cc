#include "http/client/event_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace attune {

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

}  // namespace attune
