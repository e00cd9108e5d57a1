// Reads the body of a call while it is sent. Only for the sources of this folder.
#ifndef ATTUNE_HTTP_CLIENT_SENT_BODY_H_
#define ATTUNE_HTTP_CLIENT_SENT_BODY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/client/call.h"

namespace attune {

class SentBody {
 public:
  // The call must outlive it.
  explicit SentBody(const HttpCall& call) : call_(call) {}

  int64_t bytes() const { return call_.source ? call_.source->bytes : std::ssize(call_.body); }
  // Whether the request announces a body, which may be empty.
  bool is_sent() const;
  // Fills the start of the buffer with the next bytes, and returns how many; 0 at the end. Fails if the
  // source does or is shorter than it says.
  absl::StatusOr<size_t> Read(std::span<char> buffer);
  // Whether the last error of Read() came from the source.
  bool has_source_failed() const { return has_source_failed_; }
  // Starts again from the first byte. Returns false if it was read from a source.
  bool Rewind();

 private:
  const HttpCall& call_;
  int64_t sent_ = 0;
  bool has_source_failed_ = false;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_SENT_BODY_H_
