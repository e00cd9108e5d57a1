// Agents and clients that say what makes no sense, to a dispatcher as a server has it. Each conversation is
// one as our programs have it, but for one place. ATTUNE_FUZZED_CONVERSATIONS says how many there are, and
// ATTUNE_FUZZ_SEED makes others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/testing/manual_clock.h"
#include "base/testing/message_mutations.h"
#include "base/testing/temporary_folder.h"
#include "device/codec.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "fleet/server/made_up_client_for_test.h"
#include "fleet/server/mailbox.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/hello_for_test.h"
#include "measure/codec.h"
#include "target/target.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using testing::FuzzingRun;
using testing::MessageMutations;
using testing::SpoiledOrder;

constexpr int kConversationsAtOnce = 50;  // between two looks at those who are honest
constexpr size_t kMostMessageBytes = 2048;

// The errors that a member with invalid messages may get.
bool IsClearRefusal(const absl::Status& status) {
  return status.ok() || absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
         absl::IsResourceExhausted(status) || absl::IsNotFound(status) || absl::IsPermissionDenied(status) ||
         absl::IsAborted(status) || absl::IsUnavailable(status);
}

MeasureItem TimeItem() {
  return {
      .kind = MeasureItem::Kind::kTimeKernel, .subject = std::string(64, 'a'), .data = std::string(64, 'b')};
}

Measurement Answer(const MeasureItem& /*item*/) {
  Measurement measurement;
  measurement.outcome = TrialOutcome::kOk;
  measurement.timing = {.seconds = 1e-3, .low = 9e-4, .high = 2e-3, .repetitions = 9};
  return measurement;
}

class LiarsTest : public ::testing::Test {
 protected:
  LiarsTest()
      : store_(*FleetStore::Open(folder_ / "fleet.db")),
        dispatcher_(*Dispatcher::Create(
            *store_, {.lease_seconds = kLeaseSeconds, .heartbeat_seconds = kLeaseSeconds / 3}, clock_)) {
    honest_.emplace(*dispatcher_, Answer, MadeUpAgentOptions{.id = "honest", .keys = {"desk"}});
  }
  void SetUp() override {
    LogGrpcForDebugging();
    SetLogLevel(LogLevel::kOff);
  }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // Runs the conversations, each by `talk`, and checks after some that all others continue.
  void RunAll(const std::function<void(Random& random)>& talk) {
    const FuzzingRun run = FuzzingRun::FromEnvironment();
    RecordProperty("seed", absl::StrCat(run.seed));
    for (int64_t i = 0; i < run.count && !HasFailure(); ++i) {
      SCOPED_TRACE(absl::StrCat("ATTUNE_FUZZ_SEED=", run.seed, ", conversation ", i));
      Random random = run.RandomOf(i);
      talk(random);
      clock_.Advance(0.01);
      if (i % kConversationsAtOnce == 0 || i + 1 == run.count) ExpectOthersGoOn();
    }
    // Some lies are noticed, and some of what is said is right.
    EXPECT_GT(num_refused_, run.count / 20);
    EXPECT_LT(num_refused_, run.count);
    EXPECT_GT(dispatcher_->Snapshot().counters.results_passed_on, run.count / 10);
  }

  template <typename Link>
  void ExpectClear(const Link& link) {
    const std::optional<absl::Status> closed = link.closed();
    if (!closed) return;
    if (absl::IsInvalidArgument(*closed)) ++num_refused_;
    EXPECT_TRUE(IsClearRefusal(*closed)) << *closed;
    EXPECT_LE(closed->message().size(), kMostMessageBytes);
    EXPECT_EQ(WithoutControls(closed->message()), closed->message());
  }

  void ExpectOthersGoOn() {
    // A member that fell silent has lost its leases.
    clock_.Advance(kLeaseSeconds);
    honest_->Tick();
    dispatcher_->Tick();
    MadeUpClient client(*dispatcher_, "desk");
    ASSERT_TRUE(client.WasGranted());
    client.SendItem(EncodeWorkerRequest(TimeItem()));
    const int64_t before = dispatcher_->Snapshot().counters.results_passed_on;
    honest_->Tick();
    EXPECT_EQ(dispatcher_->Snapshot().counters.results_passed_on, before + 1);
    client.Release();
    EXPECT_EQ(client.closed(), absl::OkStatus());
    ExpectListsAreRead();
  }

  void ExpectListsAreRead() {
    const auto stored = store_->Devices();
    ASSERT_TRUE(stored.ok()) << stored.status();
    std::map<std::string, int> devices;
    for (const FleetDevice& device : *stored) {
      EXPECT_LE(++devices[device.agent], kMaxDevicesOfAgent);
      EXPECT_TRUE(DecodeDevice(device.info).ok());
      EXPECT_LE(device.keys.size(), kMaxKeysOfDevice + 2);
      for (const std::string& key : device.keys) EXPECT_EQ(WithoutControls(key), key);
    }
    EXPECT_TRUE(store_->Leases().ok());
    for (const proto::Device& device : dispatcher_->Devices("")) {
      EXPECT_TRUE(std::isfinite(device.load()));
      EXPECT_EQ(WithoutControls(device.program()), device.program());
      EXPECT_LE(device.ByteSizeLong(), size_t{4} << 20);
    }
    // No client that has left still waits.
    EXPECT_TRUE(dispatcher_->Waiting().empty());
    EXPECT_EQ(dispatcher_->Snapshot().agents, 1);
  }

  static constexpr double kLeaseSeconds = 15;
  const std::vector<std::string> known_ = {"desk", "honest/cpu", "honest", "liar-0/cpu",
                                           "ann",  "the fleet",  "cpu"};
  ManualClock clock_;
  const testing::TemporaryFolder folder_;
  const std::unique_ptr<FleetStore> store_;
  const std::unique_ptr<Dispatcher> dispatcher_;
  std::optional<MadeUpAgent> honest_;
  int64_t num_refused_ = 0;
};

// An agent that lies in one place of its messages, and a client that measures on its device.
class LyingAgent {
 public:
  LyingAgent(Dispatcher& dispatcher, Random& random, const std::vector<std::string>& known)
      : dispatcher_(dispatcher),
        mutations_(random, known),
        id_(absl::StrCat("liar-", mutations_.Below(5))),
        key_(absl::StrCat("of ", id_)),
        number_(
            dispatcher.AddAgent({.who = {.role = FleetRole::kAgent, .owner = "eve", .id = id_}}, mailbox_)) {}
  ~LyingAgent() { dispatcher_.RemoveAgent(number_); }
  LyingAgent(const LyingAgent&) = delete;
  LyingAgent& operator=(const LyingAgent&) = delete;

  void Talk() {
    constexpr size_t kSteps = 6;
    const std::vector<size_t> order = SpoiledOrder(mutations_, kSteps);
    const size_t lie = mutations_.Below(kSteps);
    for (const size_t step : order) {
      // Its victim, who trusts it, asks as soon as there is a device.
      if (!victim_ && ShareDevices()) {
        victim_.emplace(dispatcher_, key_);
        victim_->SendItem(EncodeWorkerRequest(TimeItem()));
      }
      if (!Say(step, step == lie)) return;
    }
  }

  const Mailbox<proto::ToAgent>& mailbox() const { return *mailbox_; }
  const MadeUpClient* victim() const { return victim_ ? &*victim_ : nullptr; }

 private:
  // With everybody. Whether it has one.
  bool ShareDevices() {
    bool is_there = false;
    for (const proto::Device& device : dispatcher_.Devices(key_)) {
      if (!device.is_there() || device.owner() != "eve") continue;
      const auto all = [](std::set<std::string>& owners) { owners.insert("*"); };
      is_there = dispatcher_.Share(device.id(), "eve", all).ok() || is_there;
    }
    return is_there;
  }
  proto::FromAgent Message(size_t step) {
    proto::FromAgent message;
    if (step == 0) {
      message = HelloOfTest(key_, "bob");
    } else if (step % 2 == 1) {
      message.mutable_heartbeat()->set_load(0.5);
    } else {
      for (const proto::ToAgent& from : mailbox_->Take())
        if (from.has_work()) work_ = from.work();
      proto::Result* result = message.mutable_result();
      *result->mutable_token() = work_.token();
      result->set_index(work_.items_size() > 0 ? work_.items(0).index() : 0);
      result->set_measurement(EncodeMeasurement(Answer({})));
      if (mutations_.Happens(3)) result->add_missing(std::string(64, 'a'));
    }
    return message;
  }
  // False if its stream is cut.
  bool Say(size_t step, bool lies) {
    std::string bytes = Message(step).SerializeAsString();
    if (lies) bytes = mutations_.Spoil(bytes);
    proto::FromAgent message;
    if (!message.ParseFromString(bytes)) return false;
    dispatcher_.Receive(number_, message);
    return true;
  }

  Dispatcher& dispatcher_;
  MessageMutations mutations_;
  const std::string id_, key_;
  const std::shared_ptr<Mailbox<proto::ToAgent>> mailbox_ = std::make_shared<Mailbox<proto::ToAgent>>();
  const int64_t number_;
  std::optional<MadeUpClient> victim_;
  proto::Work work_;
};

TEST_F(LiarsTest, LyingAgentsHarmNobodyElse) {
  ASSERT_TRUE(dispatcher_->SetTrust("bob", [](std::set<std::string>& owners) { owners.insert("eve"); }).ok());
  RunAll([&](Random& random) {
    LyingAgent agent(*dispatcher_, random, known_);
    agent.Talk();
    ExpectClear(agent.mailbox());
    if (agent.victim() == nullptr) return;
    // The device is taken away from it at the latest when it has been silent for long enough.
    clock_.Advance(kLeaseSeconds);
    dispatcher_->Tick();
    const std::optional<absl::Status> closed = agent.victim()->closed();
    const bool takes_others = closed && absl::IsPermissionDenied(*closed);
    EXPECT_TRUE(!closed || takes_others || absl::IsUnavailable(*closed)) << *closed;
    honest_->Tick();
  });
}

TEST_F(LiarsTest, LyingClientsHarmNobodyElse) {
  RunAll([&](Random& random) {
    MessageMutations mutations(random, known_);
    const auto mailbox = std::make_shared<Mailbox<proto::ToClient>>();
    const std::string id = absl::StrCat("liar-", mutations.Below(5));
    const int64_t number =
        dispatcher_->AddClient({.who = {.role = FleetRole::kClient, .owner = "eve", .id = id}}, mailbox);
    constexpr size_t kSteps = 6;
    const std::vector<size_t> order = SpoiledOrder(mutations, kSteps);
    const size_t lie = mutations.Below(kSteps);
    for (const size_t step : order) {
      proto::FromClient message;
      if (step == 0) {
        message.mutable_ask()->set_version(kFleetVersion);
        message.mutable_ask()->set_key("desk");
        message.mutable_ask()->set_priority(3);
        if (mutations.Happens(2)) message.mutable_ask()->mutable_resumed()->set_number(1);
      } else if (step == 2 || step == 4) {
        for (int i = 0; i < 3; ++i) {
          proto::Item* item = message.mutable_items()->add_items();
          item->set_index(i);
          item->set_item(EncodeWorkerRequest(TimeItem()));
        }
      } else if (step == 5) {
        message.mutable_release();
      } else {
        message.mutable_heartbeat();
      }
      std::string bytes = message.SerializeAsString();
      if (step == lie) bytes = mutations.Spoil(bytes);
      if (!message.ParseFromString(bytes)) break;
      dispatcher_->Receive(number, message);
      honest_->Tick();
    }
    ExpectClear(*mailbox);
    dispatcher_->RemoveClient(number);
  });
}

}  // namespace
}  // namespace attune
