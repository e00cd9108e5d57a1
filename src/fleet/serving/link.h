// A connection as the server's logic sees it.
#ifndef ATTUNE_FLEET_SERVING_LINK_H_
#define ATTUNE_FLEET_SERVING_LINK_H_

#include <string>

#include "absl/status/status.h"

namespace attune {

// Thread safe. No call waits for the peer, or calls back into the logic.
template <typename Message>
class Link {
 public:
  virtual ~Link() = default;

  // Sends after all earlier messages. Does nothing once the link is closed or the peer is gone.
  virtual void Send(const Message& message) = 0;
  // Sends what was to be sent, and ends the connection; the peer learns why.
  virtual void Close(const absl::Status& why) = 0;
  // The peer's network address, for people; empty if it has none.
  virtual std::string peer() const { return ""; }
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_LINK_H_
