#include "import/onnx/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/checked.h"
#include "base/status.h"

namespace attune::onnx {
namespace {

struct Reference {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

absl::StatusOr<Reference> ParseReference(const attune_onnx::TensorProto& tensor) {
  Reference reference;
  for (const auto& entry : tensor.external_data()) {
    int64_t number = 0;
    if (entry.key() == "location") {
      reference.location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!absl::SimpleAtoi(entry.value(), &number) || number < 0) {
        return InvalidInput("its ", entry.key(), " is not a number");
      }
      if (entry.key() == "offset") {
        reference.offset = number;
      } else {
        reference.length = number;
      }
    }
  }
  return reference;
}

// The parts of a relative path that stays inside its folder.
absl::StatusOr<std::vector<std::string>> SplitPath(const std::string& location) {
  std::vector<std::string> parts = absl::StrSplit(location, '/');
  if (location.empty()) return InvalidInput("it names no file");
  if (location.front() == '/') return InvalidInput("'", location, "' is an absolute path");
  if (location.find('\0') != std::string::npos || location.find('\\') != std::string::npos) {
    return InvalidInput("its path has a character that no path has");
  }
  std::erase_if(parts, [](const std::string& part) { return part.empty() || part == "."; });
  for (const std::string& part : parts) {
    if (part == "..") return InvalidInput("'", location, "' leaves the model's folder");
  }
  if (parts.empty()) return InvalidInput("it names no file");
  return parts;
}

// Opens `parts` one after the other below `folder`, following no symbolic link. A file descriptor.
absl::StatusOr<int> OpenBelow(const std::string& folder, const std::vector<std::string>& parts) {
  int at = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (size_t i = 0; i < parts.size() && at >= 0; ++i) {
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    const int next = openat(at, parts[i].c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind);
    const int reason = errno;
    close(at);
    if (next < 0 && reason == ELOOP) return InvalidInput("'", parts[i], "' is a symbolic link");
    errno = reason;
    at = next;
  }
  if (at < 0) return InvalidInput("cannot open it: ", std::strerror(errno));
  return at;
}

absl::Status CheckFile(int file, int64_t offset, int64_t size) {
  struct stat status;
  if (fstat(file, &status) != 0) return InvalidInput(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return InvalidInput("it is not a regular file");
  if (status.st_nlink > 1) return InvalidInput("it is a hard link to another file");
  const std::optional<int64_t> end = CheckedAdd(offset, size);
  if (!end || *end > status.st_size) {
    return InvalidInput("it ends at byte ", status.st_size, ", the data at ", offset, " needs ", size,
                        " bytes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExternalData> ExternalData::Open(const attune_onnx::TensorProto& tensor,
                                                const std::string& folder, int64_t size) {
  const auto annotate = [&tensor](const absl::Status& status) {
    return Annotate(status, absl::StrCat("external data of '", tensor.name(), "'"));
  };
  if (folder.empty()) return annotate(InvalidInput("a model without a folder cannot have any"));
  const absl::StatusOr<Reference> reference = ParseReference(tensor);
  if (!reference.ok()) return annotate(reference.status());
  if (reference->length && *reference->length != size) {
    return annotate(InvalidInput("it is ", *reference->length, " bytes long, the shape needs ", size));
  }
  const absl::StatusOr<std::vector<std::string>> parts = SplitPath(reference->location);
  if (!parts.ok()) return annotate(parts.status());
  const absl::StatusOr<int> file = OpenBelow(folder, *parts);
  if (!file.ok()) return annotate(file.status());
  ExternalData data(*file, reference->offset, size);
  RETURN_IF_ERROR(annotate(CheckFile(*file, reference->offset, size)));
  return data;
}

ExternalData::ExternalData(ExternalData&& other) noexcept
    : file_(std::exchange(other.file_, -1)), offset_(other.offset_), size_(other.size_) {}

ExternalData::~ExternalData() {
  if (file_ >= 0) close(file_);
}

absl::Status ExternalData::Read(std::byte* out) const {
  for (int64_t done = 0; done < size_;) {
    const ssize_t count = pread(file_, out + done, size_ - done, offset_ + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return InvalidInput("external data cannot be read: ", count < 0 ? std::strerror(errno) : "cut short");
    done += count;
  }
  return absl::OkStatus();
}

}  // namespace attune::onnx
