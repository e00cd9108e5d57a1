#include "fleet/host/host_messages.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "device/codec.h"
#include "fleet/host/host.pb.h"

namespace attune {
namespace {

std::string DigestOf(char letter) { return std::string(64, letter); }

RunBatch SampleBatch() {
  MeasureItem item{.kind = MeasureItem::Kind::kTimeKernel, .subject = DigestOf('1'), .data = DigestOf('2')};
  item.options.threads = 3;
  return {.number = 7, .items = {{.index = 0, .item = item}, {.index = 5, .item = item}}};
}

std::vector<HostCommand> SampleCommands() {
  return {NewBlob{DigestOf('a')}, ForgetBlob{DigestOf('b')}, SampleBatch(), CancelBatch{7}};
}

std::vector<HostReport> SampleReports() {
  HostReady ready = {.lacks = {"It lacks something."}};
  ready.device = {.fingerprint = "board",
                  .target = *TargetByName("znver3"),
                  .usable = {1},
                  .processors = {{0, 0, 0}, {1, 1, 0}}};
  Measurement measurement = FailedMeasurement(TrialOutcome::kRetry, "a reason");
  measurement.seconds = 0.5;
  return {ready, HostLeased{.number = 7, .is_exclusive = true, .processors = {1}, .isolated = {0, 3}},
          HostResult{.number = 7, .index = 5, .measurement = measurement, .missing = {DigestOf('c')}},
          HostBatchOver{7}, HostAlive{}};
}

TEST(HostMessages, EverythingComesBackAsItWas) {
  for (const HostCommand& command : SampleCommands()) {
    const auto decoded = DecodeHostCommand(EncodeHostCommand(command));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->index(), command.index());
    EXPECT_EQ(EncodeHostCommand(*decoded), EncodeHostCommand(command));
  }
  for (const HostReport& report : SampleReports()) {
    const auto decoded = DecodeHostReport(EncodeHostReport(report));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->index(), report.index());
    EXPECT_EQ(EncodeHostReport(*decoded), EncodeHostReport(report));
  }
}

TEST(HostMessages, ValuesThatCannotBeAreErrors) {
  RunBatch too_many = SampleBatch(), negative = SampleBatch(), bad_digest = SampleBatch();
  too_many.items.resize(kMaxBatchItems + 1);
  negative.items[0].index = -1;
  bad_digest.items[0].item.subject = "short";
  for (const HostCommand& command : {HostCommand(too_many), HostCommand(negative), HostCommand(bad_digest),
                                     HostCommand(NewBlob{}), HostCommand(CancelBatch{-1})})
    EXPECT_TRUE(absl::IsDataLoss(DecodeHostCommand(EncodeHostCommand(command)).status()));
  for (const HostReport& report :
       {HostReport(HostLeased{.processors = {-1}}), HostReport(HostLeased{.isolated = {1 << 20}}),
        HostReport(HostResult{.missing = {"short"}}), HostReport(HostResult{.index = -1})})
    EXPECT_TRUE(absl::IsDataLoss(DecodeHostReport(EncodeHostReport(report)).status()));
}

TEST(HostMessages, AnItemThatIsSomethingElseIsRefused) {
  fleet_proto::HostCommand command;
  command.set_version(kDeviceHostVersion);
  command.mutable_run()->add_items()->set_request(EncodeWorkerRequest(NewBlob{DigestOf('a')}));
  EXPECT_TRUE(absl::IsDataLoss(DecodeHostCommand(command.SerializeAsString()).status()));
}

TEST(HostMessages, AnotherVersionIsRefused) {
  fleet_proto::HostCommand command;
  command.set_version(kDeviceHostVersion + 1);
  command.set_cancel(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(DecodeHostCommand(command.SerializeAsString()).status()));
}

TEST(HostMessages, DamagedMessagesAreErrorsOrOtherMessages) {
  std::vector<std::string> messages;
  for (const HostCommand& command : SampleCommands()) messages.push_back(EncodeHostCommand(command));
  for (const HostReport& report : SampleReports()) messages.push_back(EncodeHostReport(report));
  Random random(1);
  for (const std::string& good : messages) {
    for (int i = 0; i < 5000; ++i) {
      std::string bad = good.substr(0, static_cast<size_t>(random.Integer(1, std::ssize(good))));
      bad[static_cast<size_t>(random.Integer(0, std::ssize(bad) - 1))] = static_cast<char>(random.Next());
      const auto command = DecodeHostCommand(bad);
      if (command.ok() && std::holds_alternative<RunBatch>(*command)) {
        for (const HostItem& item : std::get<RunBatch>(*command).items) EXPECT_GE(item.index, 0);
      }
      DecodeHostReport(bad).status().IgnoreError();
    }
  }
}

}  // namespace
}  // namespace attune
