#include "compile/compile.h"

#include <gtest/gtest.h>

#include "plan/timed_chooser_for_test.h"

namespace attune {
namespace {

TEST_F(TimedKernelsTest, CompilationFollowsMeasuredLayouts) {
  Know({}, 2e-3);
  Know({0}, 1e-3);
  CompileOptions options;
  options.target = target_;
  CompileReport report;
  const auto compile = [&](const KernelChooser* chooser) {
    options.chooser = chooser;
    return Compile({graph_.get()}, options, &report);
  };
  const auto predicted = compile(nullptr), measured = compile(&chooser_);
  ASSERT_TRUE(predicted.ok() && measured.ok()) << predicted.status() << measured.status();
  EXPECT_NE(*predicted, *measured);
  EXPECT_EQ(report.num_changed, report.num_kernels);
  options.layout_overrides = LayoutOverrides{};
  EXPECT_EQ(*compile(&chooser_), *predicted);
}

}  // namespace
}  // namespace attune
