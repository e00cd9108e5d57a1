// Writes server-sent events as a chunked body; only for the connections of an HttpServer.
#ifndef ATTUNE_HTTP_EVENT_WRITER_H_
#define ATTUNE_HTTP_EVENT_WRITER_H_

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "http/event_stream.h"

namespace attune {

// For the server's thread alone. The connection that has it must outlive what is under way: it is the
// `owner`.
template <typename Stream>
class EventWriter {
 public:
  // A stream that is silent for `heartbeat` gets a comment. `ended` is called once, when the stream has
  // closed or the peer is gone.
  EventWriter(Stream& stream, std::chrono::steady_clock::duration heartbeat, std::function<void()> ended)
      : stream_(stream), interval_(heartbeat), ended_(std::move(ended)), heartbeat_(stream.get_executor()) {}

  // From now on these events are the connection's answer, whose header is not written yet.
  void Take(std::shared_ptr<EventStream> events) { events_ = std::move(events); }
  bool is_open() const { return events_ != nullptr; }
  // Ends the stream, once what was sent before is written.
  void Close() { events_->Close(); }

  // The header is written.
  void Begin(const std::shared_ptr<void>& owner) {
    Watch(owner);
    KeepAlive(owner);
    const std::weak_ptr<void> weak = owner;
    events_->OnReady([this, weak] {
      if (const auto connection = weak.lock())
        boost::asio::post(stream_.get_executor(), [this, connection] { WriteMore(connection); });
    });
  }

 private:
  using Error = boost::system::error_code;

  // Sees when the peer is gone, of whom nothing more is expected.
  void Watch(const std::shared_ptr<void>& owner) {
    stream_.async_read_some(boost::asio::buffer(ignored_), [this, owner](Error error, size_t) {
      if (!error) return Watch(owner);
      End();
    });
  }

  // Says from time to time that this end lives.
  void KeepAlive(const std::weak_ptr<void>& weak) {
    heartbeat_.expires_after(interval_);
    heartbeat_.async_wait([this, weak](Error error) {
      const auto owner = weak.lock();
      if (error || owner == nullptr || events_ == nullptr) return;
      if (!is_writing_) WriteChunk(owner, ": alive\n\n");
      KeepAlive(owner);
    });
  }

  void WriteMore(const std::shared_ptr<void>& owner) {
    if (is_writing_ || events_ == nullptr) return;
    EventStream::Pending pending = events_->Take();
    if (!pending.text.empty()) return WriteChunk(owner, std::move(pending.text));
    if (pending.is_closed) WriteLastChunk(owner);
  }

  void WriteChunk(const std::shared_ptr<void>& owner, std::string text) {
    is_writing_ = true;
    chunk_ = std::move(text);
    boost::asio::async_write(stream_, boost::beast::http::make_chunk(boost::asio::buffer(chunk_)),
                             [this, owner](Error error, size_t) {
                               is_writing_ = false;
                               if (error) return End();
                               WriteMore(owner);
                             });
  }

  void WriteLastChunk(const std::shared_ptr<void>& owner) {
    is_writing_ = true;
    boost::asio::async_write(stream_, boost::beast::http::make_chunk_last(),
                             [this, owner](Error, size_t) { End(); });
  }

  void End() {
    if (events_ == nullptr) return;
    events_->Close();
    events_->OnReady(nullptr);
    events_ = nullptr;
    heartbeat_.cancel();
    ended_();
  }

  Stream& stream_;
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
