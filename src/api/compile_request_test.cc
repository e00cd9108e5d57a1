#include "api/compile_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/target_device.h"
#include "base/file.h"
#include "base/processors.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A device elsewhere, on which nothing is measured here.
class Elsewhere final : public MeasuringService {
 public:
  Elsewhere() {
    device_.fingerprint = "desk";
    device_.target = *TargetByName("sapphirerapids");
    device_.usable = {0, 2, 4};
  }
  const DeviceInfo& device() const override { return device_; }
  bool Has(const std::string&) const override { return false; }
  absl::Status Put(const Blob&) override { return absl::OkStatus(); }
  std::unique_ptr<MeasureBatch> Submit(std::vector<MeasureItem>) override { return nullptr; }

 private:
  DeviceInfo device_;
};

PassPlan PlanOf(const CompileRequest& request) {
  absl::StatusOr<PassPlan> plan = PassPlanOf(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : PassPlan();
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

std::vector<std::string> NamesOf(const absl::StatusOr<std::vector<Target>>& targets) {
  std::vector<std::string> names;
  if (targets.ok())
    for (const Target& target : *targets) names.push_back(target.name);
  return names;
}

TEST(CompileRequest, EachOptionChangesThePlan) {
  EXPECT_EQ(PlanOf({}), DefaultPlan());
  CompileRequest bf16, products, weights, unchecked, given;
  bf16.precision = Precision::kBF16;
  EXPECT_TRUE(IsBF16(PlanOf(bf16)));
  products.precision = Precision::kBF16x3;
  EXPECT_TRUE(IsBF16x3(PlanOf(products)));
  EXPECT_EQ(WeightsOf(PlanOf({})), DType::kF32);
  weights.weights = DType::kF16;
  EXPECT_EQ(WeightsOf(PlanOf(weights)), DType::kF16);
  unchecked.unchecked_indices = true;
  EXPECT_TRUE(HasUncheckedIndices(PlanOf(unchecked)));
  given.passes = "dead_code\nfuse";
  EXPECT_THAT(PlanOf(given).steps, SizeIs(2));
  given.passes = "";
  EXPECT_THAT(PlanOf(given).steps, IsEmpty());
}

TEST(CompileRequest, AWrongPlanIsNamedByItsSource) {
  CompileRequest request;
  request.passes = "fly";
  EXPECT_THAT(ErrorOf(PassPlanOf(request).status()), StartsWith("pass plan, line 1: no pass 'fly'"));
  request.passes_source = "mine.passes";
  EXPECT_THAT(ErrorOf(PassPlanOf(request).status()),
              StartsWith("mine.passes: pass plan, line 1: no pass 'fly'"));
  // A plan that lacks the pass that the precision needs.
  request.passes = "fuse";
  request.precision = Precision::kBF16;
  EXPECT_THAT(ErrorOf(PassPlanOf(request).status()), StartsWith("mine.passes: "));
}

TEST(CompileRequest, CompilesForTheNamedProcessorsOrTheDevice) {
  CompileRequest request;
  request.cpus = {"znver3", "x86-64-v3"};
  EXPECT_THAT(NamesOf(TargetsOf(request)), ElementsAre("znver3", "x86-64-v3"));
  EXPECT_FALSE(request.is_for_this_machine());
  EXPECT_THAT(ErrorOf(TargetOf(request).status()), StartsWith("processors znver3,x86-64-v3: several"));
  request.cpus = {"z80"};
  EXPECT_EQ(TargetsOf(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.cpus = {};
  EXPECT_TRUE(request.is_for_this_machine());
  request.service = std::make_shared<Elsewhere>();
  EXPECT_FALSE(request.is_for_this_machine());
  EXPECT_THAT(NamesOf(TargetsOf(request)), ElementsAre("sapphirerapids"));
  EXPECT_EQ(TargetOf(request)->name, "sapphirerapids");
}

TEST(CompileRequest, AProcessorNeedsTheInstructionsOfThePrecision) {
  CompileRequest request;
  request.cpus = {"sapphirerapids", "x86-64-v3"};
  request.precision = Precision::kBF16;
  EXPECT_THAT(ErrorOf(TargetsOf(request).status()),
              StartsWith("not supported: precision bf16: x86-64-v3 has no avx512_bf16; "));
  request.precision = Precision::kBF16x3;
  EXPECT_THAT(ErrorOf(TargetsOf(request).status()),
              StartsWith("not supported: precision bf16x3: x86-64-v3 has no amx_bf16, "));
  request.cpus = {"sapphirerapids"};
  EXPECT_THAT(NamesOf(TargetsOf(request)), ElementsAre("sapphirerapids"));
  request.precision = Precision::kF16;
  EXPECT_THAT(ErrorOf(TargetsOf(request).status()), StartsWith("not supported: precision fp16: "));
  EXPECT_EQ(CheckPrecision(Precision::kF16).code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(CheckPrecision(Precision::kInt8).ok());
}

TEST(CompileRequest, SaysWhatFollowsFromItsOptions) {
  CompileRequest request;
  EXPECT_FALSE(request.is_quantized());
  EXPECT_FALSE(request.compresses_weights());
  request.compact = true;
  EXPECT_TRUE(request.compresses_weights());
  request = {};
  request.weights = DType::kBF16;
  EXPECT_TRUE(request.compresses_weights());
  for (const Precision precision : {Precision::kInt8, Precision::kAuto}) {
    request.precision = precision;
    EXPECT_TRUE(request.is_quantized());
  }
}

TEST(CompileRequest, RunsOnAllProcessorsOfTheDeviceUnlessToldOtherwise) {
  CompileRequest request;
  EXPECT_EQ(ThreadsOf(request), Processors());
  request.service = std::make_shared<Elsewhere>();
  EXPECT_EQ(ThreadsOf(request), 3);
  request.threads = 2;
  EXPECT_EQ(ThreadsOf(request), 2);
}

TEST(CompileRequest, NoRecordsChooseForNamedProcessorsOrWithoutADatabase) {
  const testing::TemporaryFolder folder;
  const std::string damaged = folder / "damaged.db";
  ASSERT_TRUE(WriteFileAtomically(damaged, std::string(5000, 'x')).ok());
  CompileRequest request;
  request.records = damaged;
  EXPECT_FALSE(ChooserOf(request).ok());
  request.cpus = {"znver3"};
  EXPECT_EQ(*ChooserOf(request), nullptr);
  request.cpus = {};
  request.records = "none";
  EXPECT_EQ(*ChooserOf(request), nullptr);
}

TEST(CompileRequest, TheUsersOwnRecordsMayBeDamaged) {
  const testing::TemporaryFolder folder;
  const std::string damaged = folder / "damaged.db";
  ASSERT_TRUE(WriteFileAtomically(damaged, std::string(5000, 'x')).ok());
  const char* const before = std::getenv("ATTUNE_RECORDS");
  const std::optional<std::string> restored =
      before == nullptr ? std::nullopt : std::optional<std::string>(before);
  ASSERT_EQ(setenv("ATTUNE_RECORDS", damaged.c_str(), /*overwrite=*/1), 0);
  std::string note;
  CompileRequest request;
  request.note = [&note](std::string_view text) { note = text; };
  const auto chooser = ChooserOf(request);
  ASSERT_EQ(restored ? setenv("ATTUNE_RECORDS", restored->c_str(), 1) : unsetenv("ATTUNE_RECORDS"), 0);
  ASSERT_TRUE(chooser.ok()) << chooser.status();
  EXPECT_EQ(*chooser, nullptr);
  EXPECT_THAT(note, StartsWith("compiled without records: " + damaged));
}

TEST(TargetDevice, IsThisMachineOrThatOfTheService) {
  const Elsewhere elsewhere;
  EXPECT_EQ(FingerprintOfDevice(&elsewhere), "desk");
  EXPECT_EQ(TargetOfDevice(&elsewhere)->name, "sapphirerapids");
  EXPECT_EQ(*ProcessorsOfDevice(&elsewhere), 3);
  const auto here = TargetOfDevice(nullptr);
  if (!here.ok()) GTEST_SKIP() << here.status();
  EXPECT_FALSE(here->name.empty());
  EXPECT_GT(*ProcessorsOfDevice(nullptr), 0);
}

}  // namespace
}  // namespace attune
