// The checks that every reader of protobuf messages makes, since messages may come from anybody.
#ifndef ATTUNE_BASE_PROCESS_MESSAGE_CHECKS_H_
#define ATTUNE_BASE_PROCESS_MESSAGE_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/process/message.h"

namespace attune {

inline absl::Status DamagedMessage() { return absl::DataLossError("a damaged message"); }

// Parses a message of at most kMaxMessageBytes.
template <typename Message>
absl::StatusOr<Message> ParseMessage(std::string_view text) {
  Message message;
  const bool fits = text.size() <= kMaxMessageBytes;
  if (!fits || !message.ParseFromArray(text.data(), static_cast<int>(text.size()))) return DamagedMessage();
  return message;
}

// The same for a request. FailedPrecondition if it does not have this program's version, which is `own`.
template <typename Message>
absl::StatusOr<Message> ParseRequest(std::string_view text, uint32_t own) {
  absl::StatusOr<Message> message = ParseMessage<Message>(text);
  if (!message.ok() || message->version() == own) return message;
  return absl::FailedPreconditionError(
      absl::StrCat("a request of version ", message->version(), ", this program's is ", own));
}

// Checks the values that are read from a message. After the first bad value, all numbers are zero.
class MessageChecks {
 public:
  static constexpr size_t kDigestBytes = 64;
  static constexpr double kMaxSeconds = 1e9;

  int64_t Integer(int64_t value, int64_t least, int64_t most) {
    ok_ &= value >= least && value <= most;
    return ok_ ? value : 0;
  }
  int Int(int64_t value, int64_t least, int64_t most) {
    return static_cast<int>(Integer(value, least, most));
  }
  template <typename Enum>
  Enum OneOf(uint32_t value, Enum last) {
    return static_cast<Enum>(Integer(value, 0, static_cast<int64_t>(last)));
  }
  double Real(double value, double least, double most) {
    ok_ &= value >= least && value <= most;  // false for NaN
    return ok_ ? value : 0;
  }
  double Seconds(double value) { return Real(value, 0, kMaxSeconds); }
  // The digest of a blob, or empty.
  std::string Digest(const std::string& digest) {
    ok_ &= digest.empty() || (digest.size() == kDigestBytes &&
                              digest.find_first_not_of("0123456789abcdef") == std::string::npos);
    return digest;
  }
  // One line of printable text.
  std::string Line(const std::string& text, int64_t least, int64_t most) {
    Integer(std::ssize(text), least, most);
    ok_ = ok_ && WithoutControls(text) == text;
    return text;
  }
  void Count(int64_t count, int64_t most) { Integer(count, 0, most); }

  absl::Status Finish() const { return ok_ ? absl::OkStatus() : DamagedMessage(); }

 private:
  bool ok_ = true;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_MESSAGE_CHECKS_H_
