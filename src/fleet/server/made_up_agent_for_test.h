// For tests: an agent within this process, whose device answers with made-up measurements.
#ifndef ATTUNE_FLEET_SERVER_MADE_UP_AGENT_FOR_TEST_H_
#define ATTUNE_FLEET_SERVER_MADE_UP_AGENT_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "device/codec.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/mailbox.h"
#include "fleet/wire/checked_messages.h"
#include "measure/codec.h"
#include "target/target.h"

namespace attune {

struct MadeUpAgentOptions {
  std::string id = "desk";  // its device is "desk/cpu"
  std::string owner = kServersOwner;
  std::set<std::string> keys = {};
  std::set<std::string> trusted_owners = {};
  std::string fingerprint = "board";
  double disturbance = 0;  // that it tells with each sign of life
};

// The dispatcher must outlive it.
class MadeUpAgent {
 public:
  using Answer = std::function<Measurement(const MeasureItem&)>;
  explicit MadeUpAgent(Dispatcher& dispatcher, Answer answer = nullptr, MadeUpAgentOptions options = {})
      : dispatcher_(dispatcher),
        answer_(std::move(answer)),
        disturbance_(options.disturbance),
        number_(dispatcher.AddAgent(
            {.who = {.role = FleetRole::kAgent, .owner = options.owner, .id = options.id}}, mailbox_)) {
    dispatcher_.Receive(number_, HelloOf(options));
    EXPECT_EQ(mailbox_->closed(), std::nullopt);
  }
  ~MadeUpAgent() { dispatcher_.RemoveAgent(number_); }
  MadeUpAgent(const MadeUpAgent&) = delete;
  MadeUpAgent& operator=(const MadeUpAgent&) = delete;

  // Returns the reason why such an agent is refused, which is gone afterwards; nothing if it is admitted.
  static std::optional<absl::Status> Refusal(Dispatcher& dispatcher, const MadeUpAgentOptions& options) {
    const auto mailbox = std::make_shared<Mailbox<fleet_proto::ToAgent>>();
    const int64_t number = dispatcher.AddAgent(
        {.who = {.role = FleetRole::kAgent, .owner = options.owner, .id = options.id}}, mailbox);
    dispatcher.Receive(number, HelloOf(options));
    dispatcher.RemoveAgent(number);
    return mailbox->closed();
  }

  // Gives a sign of life, and answers all that has come.
  void Tick() {
    fleet_proto::FromAgent alive;
    (*alive.mutable_heartbeat()->mutable_disturbance())["cpu"] = disturbance_;
    dispatcher_.Receive(number_, alive);
    for (const fleet_proto::ToAgent& message : mailbox_->Take()) {
      if (!message.has_work() || answer_ == nullptr) continue;
      for (const fleet_proto::Item& item : message.work().items()) AnswerItem(message.work(), item);
    }
  }

 private:
  static fleet_proto::FromAgent HelloOf(const MadeUpAgentOptions& options) {
    fleet_proto::FromAgent message;
    fleet_proto::Hello* hello = message.mutable_hello();
    hello->set_version(kFleetVersion);
    fleet_proto::AgentDevice* device = hello->add_devices();
    device->set_name("cpu");
    device->set_info(EncodeDevice({.fingerprint = options.fingerprint,
                                   .target = *TargetByName("znver3"),
                                   .usable = {1},
                                   .processors = {{0, 0, 0}, {1, 1, 0}}}));
    device->mutable_keys()->Assign(options.keys.begin(), options.keys.end());
    device->mutable_trusted_owners()->Assign(options.trusted_owners.begin(), options.trusted_owners.end());
    return message;
  }

  void AnswerItem(const fleet_proto::Work& work, const fleet_proto::Item& item) {
    const auto request = DecodeWorkerRequest(item.item());
    const Measurement measurement =
        request.ok() ? answer_(std::get<MeasureItem>(*request))
                     : FailedMeasurement(TrialOutcome::kRetry, std::string(request.status().message()));
    fleet_proto::FromAgent message;
    fleet_proto::Result* result = message.mutable_result();
    *result->mutable_token() = work.token();
    result->set_index(item.index());
    result->set_measurement(EncodeMeasurement(measurement));
    dispatcher_.Receive(number_, message);
  }

  Dispatcher& dispatcher_;
  const Answer answer_;
  const double disturbance_;
  const std::shared_ptr<Mailbox<fleet_proto::ToAgent>> mailbox_ =
      std::make_shared<Mailbox<fleet_proto::ToAgent>>();
  const int64_t number_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_MADE_UP_AGENT_FOR_TEST_H_
