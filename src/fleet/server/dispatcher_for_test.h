// For tests: a dispatcher with a store and a clock of the test's own, and agents and clients whose messages
// the test sees.
#ifndef ATTUNE_FLEET_SERVER_DISPATCHER_FOR_TEST_H_
#define ATTUNE_FLEET_SERVER_DISPATCHER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "device/codec.h"
#include "fleet/server/dispatcher.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/checked_messages.h"
#include "measure/codec.h"
#include "target/target.h"

namespace attune {

class DispatcherTest : public ::testing::Test {
 protected:
  // A link whose messages stay here.
  template <typename Message>
  class LinkOfTest final : public Link<Message> {
   public:
    void Send(const Message& message) override { sent.push_back(message); }
    void Close(const absl::Status& why) override {
      if (!closed) closed = why;
    }

    std::vector<Message> sent;
    std::optional<absl::Status> closed;
  };

  struct AgentOfTest {
    int64_t number = 0;
    std::shared_ptr<LinkOfTest<fleet_proto::ToAgent>> link =
        std::make_shared<LinkOfTest<fleet_proto::ToAgent>>();

    // The latest work that it got.
    const fleet_proto::Work& work() const {
      const auto last =
          std::ranges::find_if(link->sent.rbegin(), link->sent.rend(), &fleet_proto::ToAgent::has_work);
      return last->work();
    }
  };

  struct ClientOfTest {
    int64_t number = 0;
    std::shared_ptr<LinkOfTest<fleet_proto::ToClient>> link =
        std::make_shared<LinkOfTest<fleet_proto::ToClient>>();

    bool has_device() const { return std::ranges::any_of(link->sent, &fleet_proto::ToClient::has_granted); }
    fleet_proto::Token token() const {
      return std::ranges::find_if(link->sent, &fleet_proto::ToClient::has_granted)->granted().token();
    }
    int64_t num_results() const {
      return std::ranges::count_if(link->sent, &fleet_proto::ToClient::has_result);
    }
  };

  DispatcherTest() : store_(*FleetStore::Open(folder_ / "fleet.db")) { Start(); }

  void Start() {
    dispatcher_.reset();
    dispatcher_ = *Dispatcher::Create(
        *store_, {.lease_seconds = kLeaseSeconds, .heartbeat_seconds = kLeaseSeconds / 3}, clock_);
  }

  static CertificateFacts Who(FleetRole role, const std::string& owner, const std::string& id) {
    return {.who = {.role = role, .owner = owner, .id = id}, .serial = id, .begin_ms = 0, .end_ms = 1};
  }
  static fleet_proto::FromAgent Hello(const std::vector<std::string>& trusted = {}) {
    const DeviceInfo info = {.fingerprint = "board",
                             .target = *TargetByName("x86-64-v3"),
                             .usable = {0},
                             .processors = {{.number = 0, .core = 0, .cache = 0}}};
    fleet_proto::FromAgent message;
    message.mutable_hello()->set_version(kFleetVersion);
    fleet_proto::AgentDevice* device = message.mutable_hello()->add_devices();
    device->set_name("cpu");
    device->set_info(EncodeDevice(info));
    for (const std::string& owner : trusted) device->add_trusted_owners(owner);
    return message;
  }
  AgentOfTest Agent(const std::string& id, const fleet_proto::FromAgent& hello = Hello()) {
    AgentOfTest agent;
    agent.number = dispatcher_->AddAgent(Who(FleetRole::kAgent, kServersOwner, id), agent.link);
    dispatcher_->Receive(agent.number, hello);
    return agent;
  }
  ClientOfTest Client(const std::string& owner, int priority = 0,
                      const fleet_proto::Token* resumed = nullptr) {
    ClientOfTest client;
    client.number = dispatcher_->AddClient(Who(FleetRole::kClient, owner, "of " + owner), client.link);
    fleet_proto::FromClient message;
    message.mutable_ask()->set_version(kFleetVersion);
    message.mutable_ask()->set_key("board");
    message.mutable_ask()->set_priority(priority);
    if (resumed != nullptr) *message.mutable_ask()->mutable_resumed() = *resumed;
    dispatcher_->Receive(client.number, message);
    return client;
  }
  void SendItem(const ClientOfTest& client, int index) {
    fleet_proto::FromClient message;
    fleet_proto::Item* item = message.mutable_items()->add_items();
    item->set_index(index);
    item->set_item(EncodeWorkerRequest(item_));
    dispatcher_->Receive(client.number, message);
  }
  void Beat(const AgentOfTest& agent) {
    fleet_proto::FromAgent message;
    message.mutable_heartbeat();
    dispatcher_->Receive(agent.number, message);
  }
  void Beat(const ClientOfTest& client) {
    fleet_proto::FromClient message;
    message.mutable_heartbeat();
    dispatcher_->Receive(client.number, message);
  }
  void Release(const ClientOfTest& client) {
    fleet_proto::FromClient message;
    message.mutable_release();
    dispatcher_->Receive(client.number, message);
  }
  void Answer(const AgentOfTest& agent, const fleet_proto::Token& token, int index) {
    fleet_proto::FromAgent message;
    *message.mutable_result()->mutable_token() = token;
    message.mutable_result()->set_index(index);
    dispatcher_->Receive(agent.number, message);
  }

  static constexpr double kLeaseSeconds = 15;
  MeasureItem item_ = {.kind = MeasureItem::Kind::kMeasurePeaks};
  ManualClock clock_;
  testing::TemporaryFolder folder_;
  std::unique_ptr<FleetStore> store_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_DISPATCHER_FOR_TEST_H_
