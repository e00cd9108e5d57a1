// Writes the responses that go over one connection; only for the sources of HttpServer.
#ifndef ATTUNE_HTTP_RESPONSE_WRITER_H_
#define ATTUNE_HTTP_RESPONSE_WRITER_H_

#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/sha256.h"
#include "http/event_stream.h"
#include "http/message.h"

namespace attune {

// Writes server-sent events as a chunked body; only for the connections of an HttpServer.
//
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

// Writes a file as the body of an answer; only for the connections of an HttpServer.
//
// For the server's thread alone. The connection that has it must outlive what is under way: it is the
// `owner`.
template <typename Stream>
class FileWriter {
 public:
  // `limit_time` is called before each piece is written; `done` after the last one, or with false if bytes
  // are missing. Nothing is called once the peer is gone.
  FileWriter(Stream& stream, boost::asio::thread_pool& pool, std::function<void()> limit_time,
             std::function<void(bool is_whole)> done)
      : stream_(stream), pool_(pool), limit_time_(std::move(limit_time)), done_(std::move(done)) {}

  void Write(const std::shared_ptr<void>& owner, HttpFile file) {
    file_ = std::move(file);
    written_ = 0;
    digest_.emplace();
    ReadPiece(owner);
  }

 private:
  static constexpr size_t kPieceBytes = size_t{256} << 10;

  // Off the thread that serves everybody: the disk may be slow.
  void ReadPiece(const std::shared_ptr<void>& owner) {
    if (written_ == file_.bytes) return done_(true);
    boost::asio::post(pool_, [this, owner] {
      const auto left = static_cast<size_t>(file_.bytes - written_);
      piece_.resize(std::min(left, kPieceBytes));
      const ssize_t count = pread(file_.file->get(), piece_.data(), piece_.size(), file_.offset + written_);
      const bool may_go = count > 0 && MayGo(std::string_view(piece_.data(), static_cast<size_t>(count)));
      boost::asio::post(stream_.get_executor(),
                        [this, owner, sent = may_go ? count : -1] { WritePiece(owner, sent); });
    });
  }

  // Whether the piece may be sent: the last one of a file with a digest may, if all pieces have that.
  bool MayGo(std::string_view piece) {
    if (file_.sha256.empty()) return true;
    digest_->Add(piece);
    if (written_ + std::ssize(piece) < file_.bytes || digest_->Finish() == file_.sha256) return true;
    Log(LogLevel::kError, "a file that is sent is damaged", "sha256", file_.sha256);
    return false;
  }

  void WritePiece(const std::shared_ptr<void>& owner, ssize_t count) {
    if (count <= 0) return done_(false);
    written_ += count;
    piece_.resize(static_cast<size_t>(count));
    limit_time_();
    boost::asio::async_write(stream_, boost::asio::buffer(piece_),
                             [this, owner](boost::system::error_code error, size_t) {
                               if (!error) ReadPiece(owner);
                             });
  }

  Stream& stream_;
  boost::asio::thread_pool& pool_;
  const std::function<void()> limit_time_;
  const std::function<void(bool)> done_;
  HttpFile file_;
  int64_t written_ = 0;  // bytes of the file
  std::optional<Sha256> digest_;
  std::string piece_;
};

// The form of a response that its request asks for.
struct ResponseForm {
  bool keeps_alive = false;  // another request may follow on the connection
  bool is_head = false;      // the response is its header alone
};

// Writes one response after another: text, a file, or events for as long as both sides like.
template <typename Stream>
class ResponseWriter {
 public:
  // The stream and the pool, which reads files, must outlive it. `limit_time` is called before each step,
  // which is not to take for ever, and with false before events, which may. `done` is called after a
  // response, with whether another request may follow; but not if the peer is gone.
  ResponseWriter(Stream& stream, boost::asio::thread_pool& pool,
                 std::chrono::steady_clock::duration heartbeat,
                 std::function<void(bool is_limited)> limit_time, std::function<void(bool keeps_alive)> done)
      : stream_(stream),
        limit_time_(std::move(limit_time)),
        done_(std::move(done)),
        file_(
            stream, pool, [this] { limit_time_(true); },
            [this](bool is_whole) { done_(is_whole && form_.keeps_alive); }),
        events_(stream, heartbeat, [this] { done_(false); }) {}

  // `owner` owns the writer and its stream, and is kept until the response is written.
  void Write(const std::shared_ptr<void>& owner, HttpResponse response, const ResponseForm& form) {
    form_ = form;
    if (response.events != nullptr) return WriteEvents(owner, std::move(response));
    if (response.file) return WriteFile(owner, std::move(response));
    text_ = Begin<boost::beast::http::string_body>(response);
    text_.keep_alive(form_.keeps_alive);
    text_.body() = std::move(response.body);
    text_.prepare_payload();
    if (form_.is_head) text_.body().clear();
    limit_time_(true);
    boost::beast::http::async_write(stream_, text_, [this, owner](Error error, size_t) {
      if (!error) done_(form_.keeps_alive);
    });
  }

  // Whether events are being written, or about to be.
  bool has_events() const { return events_.is_open(); }
  // Ends the events once what was sent is written. There must be some.
  void CloseEvents() { events_.Close(); }

 private:
  using Error = boost::system::error_code;
  using Empty = boost::beast::http::empty_body;

  template <typename Body>
  static boost::beast::http::response<Body> Begin(const HttpResponse& response) {
    boost::beast::http::response<Body> begun(static_cast<boost::beast::http::status>(response.status), 11);
    begun.set(boost::beast::http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.headers) begun.set(name, value);
    return begun;
  }

  void WriteFile(const std::shared_ptr<void>& owner, HttpResponse response) {
    header_ = Begin<Empty>(response);
    header_.content_length(static_cast<uint64_t>(response.file->bytes));
    header_.keep_alive(form_.keeps_alive);
    WriteHeader(owner, [this, owner, file = *std::move(response.file)] {
      if (form_.is_head) return done_(form_.keeps_alive);
      file_.Write(owner, file);
    });
  }

  void WriteEvents(const std::shared_ptr<void>& owner, HttpResponse response) {
    events_.Take(std::move(response.events));
    response.content_type = "text/event-stream";
    response.headers["Cache-Control"] = "no-store";
    header_ = Begin<Empty>(response);
    header_.chunked(true);
    header_.keep_alive(false);
    WriteHeader(owner, [this, owner] {
      limit_time_(false);
      events_.Begin(owner);
    });
  }

  template <typename Then>
  void WriteHeader(const std::shared_ptr<void>& owner, Then then) {
    serializer_.emplace(header_);
    limit_time_(true);
    boost::beast::http::async_write_header(stream_, *serializer_, [this, owner, then](Error error, size_t) {
      if (!error) return then();
      if (has_events()) CloseEvents();
    });
  }

  Stream& stream_;
  const std::function<void(bool)> limit_time_;
  const std::function<void(bool)> done_;
  ResponseForm form_;
  boost::beast::http::response<boost::beast::http::string_body> text_;
  boost::beast::http::response<Empty> header_;
  std::optional<boost::beast::http::response_serializer<Empty>> serializer_;
  FileWriter<Stream> file_;
  EventWriter<Stream> events_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_RESPONSE_WRITER_H_
