// A connection within this process: messages wait until the receiver takes them.
#ifndef ATTUNE_FLEET_SERVER_MAILBOX_H_
#define ATTUNE_FLEET_SERVER_MAILBOX_H_

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fleet/serving/link.h"

namespace attune {

// Thread safe.
template <typename Message>
class Mailbox final : public Link<Message> {
 public:
  void Send(const Message& message) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_) waiting_.push_back(message);
  }
  void Close(const absl::Status& why) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_) closed_ = why;
  }

  // The messages since the last call, in their order.
  std::vector<Message> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(waiting_, {});
  }
  // Why the connection has ended; nothing as long as it lasts.
  std::optional<absl::Status> closed() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Message> waiting_;
  std::optional<absl::Status> closed_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_MAILBOX_H_
