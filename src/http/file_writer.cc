#include "http/file_writer.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>

#include "base/log.h"

namespace attune {

namespace asio = boost::asio;

void FileWriter::Write(const std::shared_ptr<void>& owner, HttpFile file) {
  file_ = std::move(file);
  written_ = 0;
  digest_.emplace();
  ReadPiece(owner);
}

// Off the thread that serves everybody: the disk may be slow.
void FileWriter::ReadPiece(const std::shared_ptr<void>& owner) {
  if (written_ == file_.bytes) return done_(true);
  asio::post(pool_, [this, owner] {
    constexpr size_t kPieceBytes = size_t{256} << 10;
    const auto left = static_cast<size_t>(file_.bytes - written_);
    piece_.resize(std::min(left, kPieceBytes));
    const ssize_t count = pread(file_.file->get(), piece_.data(), piece_.size(), file_.offset + written_);
    const bool may_go = count > 0 && MayGo(std::string_view(piece_.data(), static_cast<size_t>(count)));
    asio::post(stream_.get_executor(),
               [this, owner, sent = may_go ? count : -1] { WritePiece(owner, sent); });
  });
}

// Whether the piece may be sent: the last one of a file with a digest may, if all pieces have that.
bool FileWriter::MayGo(std::string_view piece) {
  if (file_.sha256.empty()) return true;
  digest_->Add(piece);
  if (written_ + std::ssize(piece) < file_.bytes || digest_->Finish() == file_.sha256) return true;
  Log(LogLevel::kError, "a file that is sent is damaged", "sha256", file_.sha256);
  return false;
}

void FileWriter::WritePiece(const std::shared_ptr<void>& owner, ssize_t count) {
  if (count <= 0) return done_(false);
  written_ += count;
  piece_.resize(static_cast<size_t>(count));
  limit_time_();
  asio::async_write(stream_, asio::buffer(piece_), [this, owner](boost::system::error_code error, size_t) {
    if (!error) ReadPiece(owner);
  });
}

}  // namespace attune
