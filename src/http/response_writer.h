// Writes the responses that go over one connection; only for the sources of HttpServer.
#ifndef ATTUNE_HTTP_RESPONSE_WRITER_H_
#define ATTUNE_HTTP_RESPONSE_WRITER_H_

#include <boost/asio/thread_pool.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "http/byte_stream.h"
#include "http/event_writer.h"
#include "http/file_writer.h"
#include "http/message.h"

namespace attune {

// The form of a response that its request asks for.
struct ResponseForm {
  bool keeps_alive = false;  // another request may follow on the connection
  bool is_head = false;      // the response is its header alone
};

// Writes one response after another: text, a file, or events for as long as both sides like.
class ResponseWriter {
 public:
  // The stream and the pool, which reads files, must outlive it. `limit_time` is called before each step,
  // which is not to take for ever, and with false before events, which may. `done` is called after a
  // response, with whether another request may follow; but not if the peer is gone.
  ResponseWriter(ByteStream& stream, boost::asio::thread_pool& pool,
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
  void Write(const std::shared_ptr<void>& owner, HttpResponse response, const ResponseForm& form);

  // Whether events are being written, or about to be.
  bool has_events() const { return events_.is_open(); }
  // Ends the events once what was sent is written. There must be some.
  void CloseEvents() { events_.Close(); }

 private:
  using Empty = boost::beast::http::empty_body;

  void WriteFile(const std::shared_ptr<void>& owner, HttpResponse response);
  void WriteEvents(const std::shared_ptr<void>& owner, HttpResponse response);
  void WriteHeader(const std::shared_ptr<void>& owner, std::function<void()> then);

  ByteStream& stream_;
  const std::function<void(bool)> limit_time_;
  const std::function<void(bool)> done_;
  ResponseForm form_;
  boost::beast::http::response<boost::beast::http::string_body> text_;
  boost::beast::http::response<Empty> header_;
  std::optional<boost::beast::http::response_serializer<Empty>> serializer_;
  FileWriter file_;
  EventWriter events_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_RESPONSE_WRITER_H_
