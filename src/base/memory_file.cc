#include "base/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace attune {

absl::StatusOr<MemoryFile> MemoryFile::Of(std::string_view bytes) {
  FileDescriptor file(memfd_create("attune", MFD_CLOEXEC));
  while (file.get() >= 0 && !bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (file.get() < 0 || !bytes.empty())
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a file: ", std::strerror(errno)));
  return MemoryFile(std::move(file));
}

std::string MemoryFile::path() const { return absl::StrCat("/proc/self/fd/", file_.get()); }

}  // namespace attune
