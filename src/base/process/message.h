// Messages between a program and its workers: length-prefixed bytes over a stream socket. A worker may
// crash in the middle of a message or write nonsense, so everything that arrives is checked and bounded in
// size.
#ifndef ATTUNE_BASE_PROCESS_MESSAGE_H_
#define ATTUNE_BASE_PROCESS_MESSAGE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

inline constexpr size_t kMaxMessageBytes = size_t{256} << 20;

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();
// `seconds` from now, at most a century.
Deadline After(double seconds);
// Milliseconds until the deadline for poll(), rounded up; -1 for no deadline.
int PollTimeout(Deadline deadline);
// Waits until the socket is ready for `events`, which are those of poll(), or has failed. DeadlineExceeded if
// that takes too long.
absl::Status AwaitSocket(int socket, int16_t events, Deadline deadline);

// Appends values in the order in which a MessageReader takes them.
class MessageWriter {
 public:
  void Int(int64_t value) { Append(&value, sizeof(value)); }
  void Double(double value) { Append(&value, sizeof(value)); }
  void Bytes(std::string_view bytes) {
    Int(static_cast<int64_t>(bytes.size()));
    text_.append(bytes);
  }
  const std::string& text() const { return text_; }

 private:
  void Append(const void* value, size_t size) { text_.append(static_cast<const char*>(value), size); }

  std::string text_;
};

// Reads what a MessageWriter wrote. After the first value that is missing or out of range, every further
// value is zero or empty, and Finish() fails.
class MessageReader {
 public:
  // `text` must outlive the reader.
  explicit MessageReader(std::string_view text) : rest_(text) {}

  int64_t Int(int64_t least = INT64_MIN, int64_t most = INT64_MAX);
  bool Bool() { return Int(0, 1) != 0; }
  double Double();  // finite
  std::string Bytes(size_t most = kMaxMessageBytes);
  // The number of elements that follow, each of which takes at least 8 bytes.
  size_t Count(size_t most);

  void Fail() { failed_ = true; }
  bool ok() const { return !failed_; }
  // Ok if everything was read and was as expected.
  absl::Status Finish() const;

 private:
  void Take(void* to, size_t size);

  std::string_view rest_;
  bool failed_ = false;
};

// Sends one message. Fails if the peer is gone (Unavailable) or does not take it in time
// (DeadlineExceeded).
absl::Status SendMessage(int socket, std::string_view payload, Deadline deadline);

// Receives one message. Fails if the peer is gone (Unavailable), sends nothing or only part of a message in
// time (DeadlineExceeded), or sends something that is not a message (DataLoss).
absl::StatusOr<std::string> ReceiveMessage(int socket, Deadline deadline,
                                           size_t max_bytes = kMaxMessageBytes);

// Sends an open file after the message that announces it. Fails as SendMessage does.
absl::Status SendFile(int socket, int file, Deadline deadline);
// Receives a file that was announced. Fails as ReceiveMessage does.
absl::StatusOr<FileDescriptor> ReceiveFile(int socket, Deadline deadline);

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_MESSAGE_H_
