#include "api/profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/peaks_for_test.h"

namespace attune {
namespace {

KernelInfo KernelOf(int number, uint64_t flops, uint64_t read, uint64_t written,
                    const std::string& strategy) {
  KernelInfo kernel;
  kernel.op = "conv";
  kernel.strategy = strategy;
  kernel.digest = absl::StrCat(number);
  kernel.flops = flops;
  kernel.bytes_read = read;
  kernel.bytes_written = written;
  return kernel;
}

// Peaks that were measured beside other programs are too low: then the kernels show what is possible.
TEST(ProfileTest, NoKernelIsAboveItsRoofline) {
  std::mt19937_64 random(1);
  const auto draw = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  for (int i = 0; i < 300; ++i) {
    std::vector<KernelInfo> kernels;
    std::vector<InstructionTime> times;
    for (int k = 0; k < 8; ++k) {
      const auto count = [&] { return static_cast<uint64_t>(draw(1, 1e9)); };
      kernels.push_back(
          KernelOf(k, count(), count(), count(), k % 2 == 0 ? "conv_winograd tile=6" : "loops"));
      times.push_back({.kernel = k, .seconds = draw(1e-7, 1)});
    }
    const ProfileReport report = AssembleProfile(kernels, times, kPeaksOfTest, kCachesOfTest, 1 + i % 4);
    ASSERT_EQ(report.kernels.size(), kernels.size());
    for (const KernelProfile& kernel : report.kernels) {
      EXPECT_GE(kernel.roofline_share, 0);
      EXPECT_LE(kernel.roofline_share, 1 + 1e-9) << kernel.strategy;
    }
    EXPECT_GE(report.peaks.gflops_per_core, kPeaksOfTest.gflops_per_core);
  }
}

TEST(ProfileTest, WinogradsRoofIsThatOfFewerOperations) {
  const std::vector<KernelInfo> kernels = {KernelOf(0, 1'000'000'000, 1, 1, "conv_winograd tile=6")};
  const ProfileReport report = AssembleProfile(
      kernels, std::vector<InstructionTime>{{.kernel = 0, .seconds = 5e-3}}, kPeaksOfTest, kCachesOfTest, 1);
  EXPECT_DOUBLE_EQ(report.kernels[0].peak_share, 2);
  EXPECT_LT(report.kernels[0].roofline_share, 0.5);
  EXPECT_EQ(report.peaks.gflops_per_core, kPeaksOfTest.gflops_per_core);
}

}  // namespace
}  // namespace attune
