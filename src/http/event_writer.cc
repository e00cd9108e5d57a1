#include "http/event_writer.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/system/error_code.hpp>

namespace attune {

namespace asio = boost::asio;
using boost::system::error_code;

void EventWriter::Begin(const std::shared_ptr<void>& owner) {
  Watch(owner);
  KeepAlive(owner);
  const std::weak_ptr<void> weak = owner;
  events_->OnReady([this, weak] {
    if (const auto connection = weak.lock())
      asio::post(stream_.get_executor(), [this, connection] { WriteMore(connection); });
  });
}

// Sees when the peer is gone, of whom nothing more is expected.
void EventWriter::Watch(const std::shared_ptr<void>& owner) {
  stream_.async_read_some(asio::buffer(ignored_), [this, owner](error_code error, size_t) {
    if (!error) return Watch(owner);
    End();
  });
}

// Says from time to time that this end lives.
void EventWriter::KeepAlive(const std::weak_ptr<void>& weak) {
  heartbeat_.expires_after(interval_);
  heartbeat_.async_wait([this, weak](error_code error) {
    const auto owner = weak.lock();
    if (error || owner == nullptr || events_ == nullptr) return;
    if (!is_writing_) WriteChunk(owner, ": alive\n\n");
    KeepAlive(owner);
  });
}

void EventWriter::WriteMore(const std::shared_ptr<void>& owner) {
  if (is_writing_ || events_ == nullptr) return;
  EventStream::Pending pending = events_->Take();
  if (!pending.text.empty()) return WriteChunk(owner, std::move(pending.text));
  if (pending.is_closed) WriteLastChunk(owner);
}

void EventWriter::WriteChunk(const std::shared_ptr<void>& owner, std::string text) {
  is_writing_ = true;
  chunk_ = std::move(text);
  asio::async_write(stream_, boost::beast::http::make_chunk(asio::buffer(chunk_)),
                    [this, owner](error_code error, size_t) {
                      is_writing_ = false;
                      if (error) return End();
                      WriteMore(owner);
                    });
}

void EventWriter::WriteLastChunk(const std::shared_ptr<void>& owner) {
  is_writing_ = true;
  asio::async_write(stream_, boost::beast::http::make_chunk_last(),
                    [this, owner](error_code, size_t) { End(); });
}

void EventWriter::End() {
  if (events_ == nullptr) return;
  events_->Close();
  events_->OnReady(nullptr);
  events_ = nullptr;
  heartbeat_.cancel();
  ended_();
}

}  // namespace attune
