// Writes server-sent events to a peer; only for the sources of HttpServer.
#ifndef ATTUNE_HTTP_EVENT_WRITER_H_
#define ATTUNE_HTTP_EVENT_WRITER_H_

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "http/byte_stream.h"
#include "http/event_stream.h"

namespace attune {

// The body is chunked.
//
// For the server's thread alone. The connection that has it must outlive what is under way: it is the
// `owner`.
class EventWriter {
 public:
  // A stream that is silent for `heartbeat` gets a comment. `ended` is called once, when the stream has
  // closed or the peer is gone.
  EventWriter(ByteStream& stream, std::chrono::steady_clock::duration heartbeat, std::function<void()> ended)
      : stream_(stream), interval_(heartbeat), ended_(std::move(ended)), heartbeat_(stream.get_executor()) {}

  // From now on these events are the connection's answer, whose header is not written yet.
  void Take(std::shared_ptr<EventStream> events) { events_ = std::move(events); }
  bool is_open() const { return events_ != nullptr; }
  // Ends the stream, once what was sent before is written.
  void Close() { events_->Close(); }

  // The header is written.
  void Begin(const std::shared_ptr<void>& owner);

 private:
  void Watch(const std::shared_ptr<void>& owner);
  void KeepAlive(const std::weak_ptr<void>& weak);
  void WriteMore(const std::shared_ptr<void>& owner);
  void WriteChunk(const std::shared_ptr<void>& owner, std::string text);
  void WriteLastChunk(const std::shared_ptr<void>& owner);
  void End();

  ByteStream& stream_;
  const std::chrono::steady_clock::duration interval_;
  const std::function<void()> ended_;
  boost::asio::steady_timer heartbeat_;
  std::shared_ptr<EventStream> events_;
  std::string chunk_;
  bool is_writing_ = false;
  char ignored_[64] = {};
};

}  // namespace attune

#endif  // ATTUNE_HTTP_EVENT_WRITER_H_
