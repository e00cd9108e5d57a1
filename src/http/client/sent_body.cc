#include "http/client/sent_body.h"

#include <algorithm>

#include "base/status.h"

namespace attune {

bool SentBody::is_sent() const {
  return bytes() > 0 || call_.source || call_.method == "POST" || call_.method == "PUT" ||
         call_.method == "PATCH";
}

absl::StatusOr<size_t> SentBody::Read(std::span<char> buffer) {
  const int64_t left = bytes() - sent_;
  buffer = buffer.first(std::min(buffer.size(), static_cast<size_t>(std::max<int64_t>(left, 0))));
  if (buffer.empty()) return 0;
  size_t count = 0;
  if (call_.source) {
    const absl::StatusOr<size_t> read = call_.source->read(buffer);
    has_source_failed_ = !read.ok();
    RETURN_IF_ERROR(read.status());
    if (*read == 0 || *read > buffer.size()) return InvalidInput("the body is shorter than was said");
    count = *read;
  } else {
    count = call_.body.copy(buffer.data(), buffer.size(), static_cast<size_t>(sent_));
  }
  sent_ += static_cast<int64_t>(count);
  return count;
}

bool SentBody::Rewind() {
  if (call_.source && sent_ > 0) return false;
  sent_ = 0;
  return true;
}

}  // namespace attune
