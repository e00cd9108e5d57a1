#include "service/tenants/tar_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr size_t kBlock = 512, kMostName = 100, kPiece = size_t{256} << 10;

absl::Status SystemError(std::string_view what) {
  const bool is_full = errno == ENOSPC || errno == EDQUOT;
  const std::string message = absl::StrCat(what, ": ", std::strerror(errno));
  return is_full ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

// A record of a pax header, which begins with its own length.
std::string PaxRecord(std::string_view key, std::string_view value) {
  const std::string rest = absl::StrCat(" ", key, "=", value, "\n");
  size_t bytes = rest.size() + 1;
  while (absl::StrCat(bytes).size() + rest.size() != bytes) bytes = absl::StrCat(bytes).size() + rest.size();
  return absl::StrCat(bytes, rest);
}

}  // namespace

absl::StatusOr<TarWriter> TarWriter::Begin(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() < 0) return SystemError("an archive cannot be begun");
  return TarWriter(std::move(file));
}

absl::Status TarWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("an archive cannot be written");
    bytes.remove_prefix(static_cast<size_t>(count));
    written_ += count;
  }
  return absl::OkStatus();
}

absl::Status TarWriter::Pad() {
  const size_t over = static_cast<size_t>(written_) % kBlock;
  return over == 0 ? absl::OkStatus() : Write(std::string(kBlock - over, '\0'));
}

absl::Status TarWriter::WriteHeader(const std::string& name, int64_t bytes, char type) {
  // https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html, ustar
  std::array<char, kBlock> block = {};
  const auto put = [&](size_t at, std::string_view text) {
    std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto octal = [](int64_t value, int digits) {
    std::array<char, 24> text = {};
    std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
    return std::string(text.data());
  };
  constexpr int64_t kMostOctal = (int64_t{1} << 33) - 1;  // what is larger stands in a pax header
  put(0, std::string_view(name).substr(0, kMostName));
  put(100, "0000600"), put(108, "0000000"), put(116, "0000000");
  put(124, octal(std::min(bytes, kMostOctal), 11)), put(136, octal(0, 11));
  put(148, "        ");
  block[156] = type;
  put(257, std::string_view("ustar\00000", 8));
  int64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, octal(sum, 6)), block[154] = '\0';
  return Write({block.data(), block.size()});
}

absl::Status TarWriter::BeginEntry(const std::string& name, int64_t bytes) {
  constexpr int64_t kMostUstar = (int64_t{1} << 33) - 1;
  std::string more;
  if (name.size() > kMostName) more += PaxRecord("path", name);
  if (bytes > kMostUstar) more += PaxRecord("size", absl::StrCat(bytes));
  if (!more.empty()) {
    RETURN_IF_ERROR(WriteHeader("pax", std::ssize(more), 'x'));
    RETURN_IF_ERROR(Write(more));
    RETURN_IF_ERROR(Pad());
  }
  return WriteHeader(name, bytes, '0');
}

absl::Status TarWriter::Add(const std::string& name, std::string_view content) {
  RETURN_IF_ERROR(BeginEntry(name, std::ssize(content)));
  RETURN_IF_ERROR(Write(content));
  return Pad();
}

absl::Status TarWriter::AddFile(const std::string& name, const FileDescriptor& file, int64_t bytes) {
  RETURN_IF_ERROR(BeginEntry(name, bytes));
  std::string piece(kPiece, '\0');
  for (int64_t offset = 0; offset < bytes;) {
    const auto wanted = static_cast<size_t>(std::min<int64_t>(std::ssize(piece), bytes - offset));
    const ssize_t count = pread(file.get(), piece.data(), wanted, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(name);
    if (count == 0) return absl::DataLossError(absl::StrCat(name, ": is shorter than it should be"));
    RETURN_IF_ERROR(Write({piece.data(), static_cast<size_t>(count)}));
    offset += count;
  }
  return Pad();
}

absl::StatusOr<TarWriter::Archive> TarWriter::Finish() {
  RETURN_IF_ERROR(Write(std::string(2 * kBlock, '\0')));
  if (lseek(file_.get(), 0, SEEK_SET) != 0) return SystemError("an archive cannot be read");
  return Archive{.file = std::move(file_), .bytes = written_};
}

}  // namespace attune
