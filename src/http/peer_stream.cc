#include "http/peer_stream.h"

#include <boost/asio/ssl/stream_base.hpp>
#include <utility>

namespace attune {

PeerStream::PeerStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* encryption)
    : stream_(std::in_place_type<Plain>, std::move(socket)) {
  if (encryption == nullptr) return;
  Plain plain = std::move(std::get<Plain>(stream_));
  stream_.emplace<Encrypted>(std::move(plain), *encryption);
}

void PeerStream::ShakeHands(std::function<void()> done) {
  Encrypted* const encrypted = std::get_if<Encrypted>(&stream_);
  if (encrypted == nullptr) return done();
  encrypted->async_handshake(boost::asio::ssl::stream_base::server, [call = std::move(done)](Error error) {
    if (!error) call();
  });
}

void PeerStream::ShutDown() {
  Error ignored;  // the peer is gone already
  ignored = transport().socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
}

void PeerStream::ReadSome(boost::asio::mutable_buffer buffer, Done done) {
  std::visit([&](auto& stream) { stream.async_read_some(buffer, std::move(done)); }, stream_);
}

void PeerStream::WriteSome(const std::vector<boost::asio::const_buffer>& buffers, Done done) {
  std::visit([&](auto& stream) { stream.async_write_some(buffers, std::move(done)); }, stream_);
}

PeerStream::Plain& PeerStream::transport() {
  if (Plain* const plain = std::get_if<Plain>(&stream_)) return *plain;
  return std::get<Encrypted>(stream_).next_layer();
}

}  // namespace attune
