#include "http/event_stream.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace attune {
namespace {

// Without what ends a line.
std::string OneLine(std::string_view text) {
  return absl::StrReplaceAll(text, {{"\r", " "}, {"\n", " "}, {std::string_view("\0", 1), " "}});
}

// https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an event stream".
std::string Format(const ServerEvent& event) {
  std::string text;
  if (!event.id.empty()) absl::StrAppend(&text, "id: ", OneLine(event.id), "\n");
  if (!event.event.empty()) absl::StrAppend(&text, "event: ", OneLine(event.event), "\n");
  const std::string data = absl::StrReplaceAll(event.data, {{"\r\n", "\n"}, {"\r", "\n"}});
  for (const std::string_view line : absl::StrSplit(data, '\n')) absl::StrAppend(&text, "data: ", line, "\n");
  text += '\n';
  return text;
}

}  // namespace

bool EventStream::Send(const ServerEvent& event) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return false;
    const std::string text = Format(event);
    if (text_.size() + text.size() > most_bytes_) {
      is_closed_ = true;
    } else {
      text_ += text;
    }
  }
  Wake();
  return !is_closed();
}

void EventStream::Close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closed_ = true;
  }
  Wake();
}

EventStream::Pending EventStream::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {.text = std::exchange(text_, {}), .is_closed = is_closed_};
}

void EventStream::OnReady(std::function<void()> wake) {
  {
    const std::lock_guard<std::mutex> lock(wake_mutex_);
    wake_ = std::move(wake);
  }
  Wake();
}

void EventStream::Wake() {
  const std::lock_guard<std::mutex> lock(wake_mutex_);
  if (wake_) wake_();
}

}  // namespace attune
