// Each long step reports its progress, and ends early when it is cancelled, wherever that happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "api/network.h"
#include "base/testing/kept_progress.h"
#include "base/testing/temporary_folder.h"
#include "export/onnx/export.h"
#include "quant/testing.h"

namespace attune {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::IsSupersetOf;

// Runs the step to its end, and then again several times, each time cancelled at another report. Returns
// the stages that it reported.
std::vector<std::string> ExpectCancellable(const std::function<absl::Status(const WorkControl&)>& step) {
  testing::KeptProgress whole;
  const absl::Status done = step(whole.control());
  EXPECT_TRUE(done.ok()) << done;
  EXPECT_TRUE(whole.is_within_total());
  const int64_t reports = whole.reports();
  for (const int64_t last : std::set<int64_t>{1, reports / 2, reports - 1}) {
    if (last < 1) continue;
    testing::KeptProgress cancelled(last);
    const absl::Status status = step(cancelled.control());
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << last << " of " << reports << ": " << status;
    EXPECT_THAT(std::string(status.message()), EndsWith(" was cancelled"));
    EXPECT_EQ(cancelled.reports(), last);
  }
  return whole.stages();
}

Network Classifier() { return Network::FromGraph(*quant::SmallClassifier(), "classifier.onnx"); }

TEST(Cancelled, Load) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "classifier.onnx";
  ASSERT_TRUE(ExportOnnx(*quant::SmallClassifier(), path).ok());
  EXPECT_THAT(ExpectCancellable([&](const WorkControl& control) {
                ModelOptions options;
                options.control = control;
                return Network::Load(path, options).status();
              }),
              Contains("importing"));
}

TEST(Cancelled, Optimize) {
  const Network network = Classifier();
  EXPECT_THAT(ExpectCancellable([&](const WorkControl& control) {
                OptimizeOptions options;
                options.control = control;
                return network.Optimize(DefaultPlan(), options).status();
              }),
              Contains("pass fuse"));
}

TEST(Cancelled, Compile) {
  const Network network = Classifier().Optimize();
  EXPECT_THAT(ExpectCancellable([&](const WorkControl& control) {
                CompileOptions options;
                options.control = control;
                options.jobs = 1;
                return network.Compile(options).status();
              }),
              IsSupersetOf({"planning", "packing weights", "compiling kernels", "linking"}));
}

TEST(Cancelled, Quantize) {
  const std::unique_ptr<Graph> graph = quant::SmallClassifier();
  std::vector<std::vector<NamedTensor>> samples;
  for (const quant::Sample& sample : quant::RandomSamples(*graph, 4))
    samples.push_back({{graph->inputs()[0]->name(), sample[0]}});
  const Interpreter interpreter;
  EXPECT_THAT(ExpectCancellable([&](const WorkControl& control) {
                QuantizeOptions options;
                options.executor = &interpreter;
                options.is_mixed = true;
                options.control = control;
                return QuantizeGraph(*graph, samples, options).status();
              }),
              IsSupersetOf({"calibrating", "measuring layers", "comparing with f32"}));
}

}  // namespace
}  // namespace attune
