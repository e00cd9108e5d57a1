// Reads the requests that come over one connection; only for the sources of HttpServer.
#ifndef ATTUNE_HTTP_REQUEST_READER_H_
#define ATTUNE_HTTP_REQUEST_READER_H_

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/byte_stream.h"
#include "http/message.h"
#include "http/server.h"

namespace attune {

// The memory of a server for the bodies of requests.
//
// The part of it that one connection has reserved; it is given back at the latest with this. Not thread safe.
class BodyRoom {
 public:
  // `used`: the bytes that all connections have reserved, of at most `most`. It must outlive this.
  BodyRoom(size_t& used, size_t most) : used_(used), most_(most) {}
  ~BodyRoom() { Release(); }
  BodyRoom(const BodyRoom&) = delete;
  BodyRoom& operator=(const BodyRoom&) = delete;

  // Reserves this many bytes; false if there is no room for them. None may be reserved already.
  bool Reserve(size_t bytes) {
    if (bytes > most_ - used_) return false;
    used_ += bytes;
    reserved_ = bytes;
    return true;
  }
  void Release() { used_ -= std::exchange(reserved_, 0); }

 private:
  size_t& used_;
  const size_t most_;
  size_t reserved_ = 0;
};

// Reads the header of a request and, if it is told to, the body; then those of the next request. `owner` owns
// the reader and its stream: each call keeps it until `then` was called, in the thread of the stream. Only
// one call at a time. The functions that describe the request may be called once its header was read.
class RequestReader {
 public:
  using Error = boost::system::error_code;
  using Then = std::function<void(Error error)>;

  // The stream and the options must outlive it. `peer`: the address at the other end.
  RequestReader(ByteStream& stream, const HttpServerOptions& options, std::string peer)
      : stream_(stream), options_(options), peer_(std::move(peer)) {}

  // Fails with header_limit if the header is larger than the options allow.
  void ReadHeader(const std::shared_ptr<void>& owner, Then then);
  // Fails with body_limit if the body has more than `most` bytes. A peer that wants to be told whether it may
  // send the body is told so. `then` is not called if that peer is gone.
  void ReadBody(const std::shared_ptr<void>& owner, size_t most, Then then);

  std::string_view method() const;
  std::string_view target() const;
  bool is_head() const { return parser_->get().method() == boost::beast::http::verb::head; }
  // Whether the peer wants to send another request on this connection.
  bool keep_alive() const { return parser_->keep_alive(); }
  bool has_body() const { return BodyBytes(1) > 0; }
  // The size of the body that the header declares; `undeclared` if there is one whose size it does not say.
  size_t BodyBytes(size_t undeclared) const {
    return parser_->content_length().value_or(parser_->chunked() ? undeclared : 0);
  }

  HttpRequest WithoutBody() const;
  // Once its body was read.
  HttpRequest Take();

 private:
  void Read(const std::shared_ptr<void>& owner, Then then);

  ByteStream& stream_;
  const HttpServerOptions& options_;
  const std::string peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_REQUEST_READER_H_
