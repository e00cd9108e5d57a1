#include "tune/job/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/svg.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportTest, ShowsTasksByWeightAndEscapesText) {
  TuningSummary summary;
  summary.model = "<script>.onnx";
  summary.untuned_seconds = 0.02;
  summary.tuned_seconds = 0.016;
  TaskSummary& small = summary.tasks.emplace_back();
  small.description = "small";
  small.uses = 1;
  small.default_seconds = small.best_seconds = 1e-4;
  TaskSummary& large = summary.tasks.emplace_back();
  large.description = "large & slow";
  large.uses = 4;
  large.default_seconds = 1e-3;
  large.best_seconds = 8e-4;
  large.bound_seconds = 4e-4;
  large.trials = 7;
  large.failed = 2;
  summary.curve = {{0, 0, 0.02}, {10, 32, 0.017}, {20, 64, 0.016}};
  const std::string html = ReportHtml(summary);
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;.onnx"));
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_THAT(html, HasSubstr("1.250×"));
  EXPECT_THAT(html, HasSubstr("50 %"));
  EXPECT_THAT(html, HasSubstr("7 (2 failed)"));
  EXPECT_LT(html.find("large &amp; slow"), html.find("small"));
  EXPECT_THAT(html, HasSubstr("not enough was measured"));  // by the cost model
}

TEST(ReportTest, NearnessIsOfAllKernels) {
  TuningSummary summary;
  EXPECT_EQ(NearnessOf(summary).of_least, 0);
  EXPECT_EQ(NearnessOf(summary).of_roofline, 0);
  for (const bool is_slow : {true, false}) {
    TaskSummary& task = summary.tasks.emplace_back();
    task.uses = is_slow ? 3 : 2;
    task.best_seconds = is_slow ? 2 : 1;
    task.least_seconds = is_slow ? 1 : 0;  // 0: no candidate was measured
    task.bound_seconds = is_slow ? 1 : 0.5;
  }
  EXPECT_DOUBLE_EQ(NearnessOf(summary).of_least, 5.0 / 8);
  EXPECT_DOUBLE_EQ(NearnessOf(summary).of_roofline, 4.0 / 8);
}

TEST(SvgTest, PlotsWithinItsFrame) {
  const std::string flat =
      ToSvg({.title = "flat", .x_label = "x", .y_label = "y", .points = {{0, 1}, {1, 1}}});
  EXPECT_THAT(flat, HasSubstr("<path class='line' d='M64.0,"));
  EXPECT_THAT(flat, Not(HasSubstr("nan")));
  const std::string steps =
      ToSvg({.title = "steps", .x_label = "x", .y_label = "y", .points = {{0, 2}, {1, 1}}, .steps = true});
  EXPECT_THAT(steps, HasSubstr("M64.0,28.0H624.0L624.0,216.0"));
}

}  // namespace
}  // namespace attune
