#include "base/memory_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/output_file.h"

namespace attune {

absl::StatusOr<MemoryFile> MemoryFile::Of(std::string_view bytes) {
  FileDescriptor file(memfd_create("attune", MFD_CLOEXEC));
  if (file.get() < 0 || !WriteAll(file, bytes))
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a file: ", std::strerror(errno)));
  return MemoryFile(std::move(file));
}

std::string MemoryFile::path() const { return absl::StrCat("/proc/self/fd/", file_.get()); }

}  // namespace attune
