// A stream between two ends of one process.
#ifndef ATTUNE_HTTP_LOCAL_STREAM_FOR_TEST_H_
#define ATTUNE_HTTP_LOCAL_STREAM_FOR_TEST_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <utility>
#include <vector>

#include "http/byte_stream.h"

namespace attune::testing {

class LocalStream final : public ByteStream {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;

  explicit LocalStream(boost::asio::io_context& context) : stream_(context), peer_(context) {
    boost::asio::local::connect_pair(stream_, peer_);
  }

  executor_type get_executor() override { return stream_.get_executor(); }
  // Nothing more comes from this end.
  void End() {
    Error ignored;  // it may have ended before
    ignored = stream_.shutdown(Socket::shutdown_both, ignored);
  }
  // The other end.
  Socket& peer() { return peer_; }

 private:
  void ReadSome(boost::asio::mutable_buffer buffer, Done done) override {
    stream_.async_read_some(buffer, std::move(done));
  }
  void WriteSome(const std::vector<boost::asio::const_buffer>& buffers, Done done) override {
    stream_.async_write_some(buffers, std::move(done));
  }

  Socket stream_, peer_;
};

}  // namespace attune::testing

#endif  // ATTUNE_HTTP_LOCAL_STREAM_FOR_TEST_H_
