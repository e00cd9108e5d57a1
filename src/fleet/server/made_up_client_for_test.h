// For tests: a client within this process.
#ifndef ATTUNE_FLEET_SERVER_MADE_UP_CLIENT_FOR_TEST_H_
#define ATTUNE_FLEET_SERVER_MADE_UP_CLIENT_FOR_TEST_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/mailbox.h"
#include "fleet/wire/checked_messages.h"

namespace attune {

// Asks for a device with this key. The dispatcher must outlive it.
class MadeUpClient {
 public:
  MadeUpClient(Dispatcher& dispatcher, const std::string& key, const std::string& owner = "bob",
               int priority = 0)
      : dispatcher_(dispatcher),
        number_(dispatcher.AddClient({.who = {.role = FleetRole::kClient, .owner = owner, .id = "client"}},
                                     mailbox_)) {
    fleet_proto::FromClient message;
    message.mutable_ask()->set_version(kFleetVersion);
    message.mutable_ask()->set_key(key);
    message.mutable_ask()->set_priority(priority);
    dispatcher_.Receive(number_, message);
  }
  ~MadeUpClient() { dispatcher_.RemoveClient(number_); }
  MadeUpClient(const MadeUpClient&) = delete;
  MadeUpClient& operator=(const MadeUpClient&) = delete;

  // Whether it was granted a device since the last call.
  bool WasGranted() {
    const std::vector<fleet_proto::ToClient> messages = mailbox_->Take();
    return std::ranges::any_of(messages, [](const auto& message) { return message.has_granted(); });
  }
  // Why its connection has ended; nothing as long as it lasts.
  std::optional<absl::Status> closed() const { return mailbox_->closed(); }

  void SendItem(const std::string& item) {
    fleet_proto::FromClient message;
    message.mutable_items()->add_items()->set_item(item);
    dispatcher_.Receive(number_, message);
  }
  void Release() {
    fleet_proto::FromClient message;
    message.mutable_release();
    dispatcher_.Receive(number_, message);
  }

 private:
  Dispatcher& dispatcher_;
  const std::shared_ptr<Mailbox<fleet_proto::ToClient>> mailbox_ =
      std::make_shared<Mailbox<fleet_proto::ToClient>>();
  const int64_t number_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_MADE_UP_CLIENT_FOR_TEST_H_
