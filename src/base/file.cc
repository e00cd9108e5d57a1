#include "base/file.h"

#include <openssl/sha.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/escaping.h"
#include "base/output_file.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  ASSIGN_OR_RETURN(const InputFile file, OpenInputFile(path));
  return ReadFile(file, path, max_bytes);
}

absl::StatusOr<std::string> ReadFile(const InputFile& file, const std::string& path, int64_t max_bytes) {
  if (file.bytes > max_bytes) {
    return InvalidInput(path, ": has ", file.bytes, " bytes, at most ", max_bytes, " are read");
  }
  std::string content;
  content.resize(static_cast<size_t>(file.bytes) + 1);  // one more, so that the end is seen without growing
  size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(used + (size_t{1} << 16));
    const ssize_t n = read(file.descriptor.get(), content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return absl::FailedPreconditionError(absl::StrCat(path, ": cannot read: ", std::strerror(errno)));
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (static_cast<int64_t>(used) > max_bytes) {
      return InvalidInput(path, ": has more than ", max_bytes, " bytes");
    }
  }
  content.resize(used);
  return content;
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view content) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  RETURN_IF_ERROR(file->Write(content));
  return file->Finish();
}

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return absl::BytesToHexString(
      std::string_view(reinterpret_cast<const char*>(digest), SHA256_DIGEST_LENGTH));
}

}  // namespace attune
