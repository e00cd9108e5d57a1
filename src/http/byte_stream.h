// The bytes between a server and one peer; only for the sources of HttpServer.
#ifndef ATTUNE_HTTP_BYTE_STREAM_H_
#define ATTUNE_HTTP_BYTE_STREAM_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace attune {

// An AsyncReadStream and AsyncWriteStream of Asio whose kind is known at run time alone. Boost's algorithms,
// which take long to compile, are so compiled once, and not for each kind of stream.
//
// One read and one write may be under way at a time. For the thread of its executor alone.
class ByteStream {
 public:
  using executor_type = boost::asio::any_io_executor;
  using Error = boost::system::error_code;
  using Done = std::function<void(Error error, size_t bytes)>;

  virtual ~ByteStream() = default;

  virtual executor_type get_executor() = 0;

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this, first = First(buffers)](auto handler) { ReadSome(first, Once(std::move(handler))); }, token);
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Error, size_t)>(
        [this, all = All(buffers)](auto handler) { WriteSome(all, Once(std::move(handler))); }, token);
  }

 private:
  using ConstBuffers = std::vector<boost::asio::const_buffer>;

  virtual void ReadSome(boost::asio::mutable_buffer buffer, Done done) = 0;
  // May write less than all.
  virtual void WriteSome(const ConstBuffers& buffers, Done done) = 0;

  // The first one that has room.
  template <typename Buffers>
  static boost::asio::mutable_buffer First(const Buffers& buffers) {
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != end; ++at) {
      const boost::asio::mutable_buffer buffer(*at);
      if (buffer.size() > 0) return buffer;
    }
    return {};
  }
  template <typename Buffers>
  static ConstBuffers All(const Buffers& buffers) {
    ConstBuffers all;
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != end; ++at) all.emplace_back(*at);
    return all;
  }
  // Handlers can be moved alone, and a function must be copied.
  template <typename Handler>
  static Done Once(Handler handler) {
    const auto shared = std::make_shared<Handler>(std::move(handler));
    return [shared](Error error, size_t bytes) {
      Handler taken = std::move(*shared);
      taken(error, bytes);
    };
  }
};

}  // namespace attune

#endif  // ATTUNE_HTTP_BYTE_STREAM_H_
