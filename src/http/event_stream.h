// Server-sent events on their way to one peer.
#ifndef ATTUNE_HTTP_EVENT_STREAM_H_
#define ATTUNE_HTTP_EVENT_STREAM_H_

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "http/server_event.h"

namespace attune {

// A queue between those who send and the connection that writes. Thread safe.
class EventStream {
 public:
  // At most `most_bytes` wait to be written; the stream closes beyond that, as for a peer that reads too
  // slowly.
  explicit EventStream(size_t most_bytes = size_t{1} << 20) : most_bytes_(most_bytes) {}
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // False if the stream is closed, so that it has no reader any more.
  bool Send(const ServerEvent& event);
  // The peer gets what was sent before, and then the end.
  void Close();
  bool is_closed() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_closed_;
  }

  // The following are for the connection.
  struct Pending {
    std::string text = {};  // in the format of events
    bool is_closed = false;
  };
  // All that waits.
  Pending Take();
  // Calls `wake`, from any thread, whenever there is something to take; null: not any more. The call returns
  // when no earlier one is under way.
  void OnReady(std::function<void()> wake);

 private:
  void Wake();

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  std::string text_;
  bool is_closed_ = false;
  std::mutex wake_mutex_;  // held while `wake_` is called; never taken with `mutex_` held
  std::function<void()> wake_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_EVENT_STREAM_H_
