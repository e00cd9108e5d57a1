// Writes a file as the body of an answer; only for the connections of an HttpServer.
#ifndef ATTUNE_HTTP_FILE_WRITER_H_
#define ATTUNE_HTTP_FILE_WRITER_H_

#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>
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
#include "http/message.h"

namespace attune {

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

}  // namespace attune

#endif  // ATTUNE_HTTP_FILE_WRITER_H_
