// A server's end of a TCP connection, encrypted or not; only for the sources of HttpServer.
#ifndef ATTUNE_HTTP_PEER_STREAM_H_
#define ATTUNE_HTTP_PEER_STREAM_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <functional>
#include <variant>

#include "http/byte_stream.h"

namespace attune {

class PeerStream final : public ByteStream {
 public:
  // `encryption` must outlive it; null: nothing is encrypted.
  PeerStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* encryption);

  executor_type get_executor() override { return transport().get_executor(); }
  // Calls `done` once bytes can be read and written: at once where nothing is encrypted. Not if that fails.
  void ShakeHands(std::function<void()> done);
  // Limits all that comes until the next call together, so that a slow peer cannot gain time byte by byte.
  void LimitTime(std::chrono::steady_clock::duration time) { transport().expires_after(time); }
  void LimitNoTime() { transport().expires_never(); }
  // Reads and writes that are under way fail.
  void Cancel() { transport().cancel(); }
  // Tells the peer that nothing more comes.
  void ShutDown();

 private:
  using Plain = boost::beast::tcp_stream;
  using Encrypted = boost::beast::ssl_stream<boost::beast::tcp_stream>;

  void ReadSome(boost::asio::mutable_buffer buffer, Done done) override;
  void WriteSome(const std::vector<boost::asio::const_buffer>& buffers, Done done) override;
  Plain& transport();

  std::variant<Plain, Encrypted> stream_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_PEER_STREAM_H_
