// Writes a file as the body of an answer; only for the sources of HttpServer.
#ifndef ATTUNE_HTTP_FILE_WRITER_H_
#define ATTUNE_HTTP_FILE_WRITER_H_

#include <sys/types.h>

#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "http/byte_stream.h"
#include "http/message.h"

namespace attune {

// For the server's thread alone. The connection that has it must outlive what is under way: it is the
// `owner`.
class FileWriter {
 public:
  // `limit_time` is called before each piece is written; `done` after the last one, or with false if bytes
  // are missing. Nothing is called once the peer is gone.
  FileWriter(ByteStream& stream, boost::asio::thread_pool& pool, std::function<void()> limit_time,
             std::function<void(bool is_whole)> done)
      : stream_(stream), pool_(pool), limit_time_(std::move(limit_time)), done_(std::move(done)) {}

  void Write(const std::shared_ptr<void>& owner, HttpFile file);

 private:
  void ReadPiece(const std::shared_ptr<void>& owner);
  bool MayGo(std::string_view piece);
  void WritePiece(const std::shared_ptr<void>& owner, ssize_t count);

  ByteStream& stream_;
  boost::asio::thread_pool& pool_;
  const std::function<void()> limit_time_;
  const std::function<void(bool)> done_;
  HttpFile file_;
  int64_t written_ = 0;  // bytes of the file
  std::optional<Sha256> digest_;
  std::string piece_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_FILE_WRITER_H_
