#include "fleet/calibration/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace attune {
namespace {

using ::testing::HasSubstr;

constexpr Peaks kSound = {.gflops_per_core = 100,
                          .bf16_gflops_per_core = 200,
                          .int8_gops_per_core = 400,
                          .l2_gb_per_s = 80,
                          .l3_gb_per_s = 40,
                          .memory_gb_per_s = 10};

Peaks Scaled(double factor, Peaks peaks = kSound) {
  for (const PeakRate& rate : PeakRates()) peaks.*rate.rate *= factor;
  return peaks;
}

// `count` calibrations of a device with noise of up to 3 %, each rate by itself.
std::vector<Peaks> Noisy(int count, uint32_t seed) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<double> factor(0.97, 1.03);
  std::vector<Peaks> series;
  for (int i = 0; i < count; ++i) {
    Peaks& peaks = series.emplace_back(kSound);
    for (const PeakRate& rate : PeakRates()) peaks.*rate.rate *= factor(random);
  }
  return series;
}

// The number of calibrations after which the device counts as drifted; 0: never.
size_t DriftsAfter(const std::vector<Peaks>& series) {
  for (size_t count = 1; count <= series.size(); ++count)
    if (FindDrift(std::span(series).first(count))) return count;
  return 0;
}

TEST(FindDrift, NoiseIsNoDrift) {
  for (uint32_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(DriftsAfter(Noisy(200, seed)), 0u) << seed;
}

TEST(FindDrift, AStepIsOneOnceItIsSeenTwice) {
  for (const double factor : {0.8, 1.25}) {
    for (const size_t sound : {5, 6, 30}) {
      std::vector<Peaks> series = Noisy(static_cast<int>(sound), 7);
      for (const Peaks& peaks : Noisy(3, 8)) series.push_back(Scaled(factor, peaks));
      EXPECT_EQ(DriftsAfter(series), sound + 2) << factor;
    }
  }
}

TEST(FindDrift, OneOutlierIsNone) {
  for (size_t at = 0; at < 30; ++at) {
    std::vector<Peaks> series = Noisy(30, 5);
    series[at] = Scaled(0.5);
    EXPECT_EQ(DriftsAfter(series), 0u) << at;
  }
}

TEST(FindDrift, TwoOutliersOfDifferentRatesOrDirectionsAreNone) {
  std::vector<Peaks> rates = Noisy(10, 5), directions = rates;
  rates[8].gflops_per_core *= 0.7;
  rates[9].memory_gb_per_s *= 0.7;
  EXPECT_EQ(DriftsAfter(rates), 0u);
  directions[8] = Scaled(0.7);
  directions[9] = Scaled(1.3);
  EXPECT_EQ(DriftsAfter(directions), 0u);
}

TEST(FindDrift, OneRateIsEnoughAndTheTextNamesTheWorst) {
  std::vector<Peaks> series(7, kSound);
  for (size_t i = 5; i < 7; ++i) {
    series[i].memory_gb_per_s *= 0.69;
    series[i].l3_gb_per_s *= 0.85;
  }
  const std::optional<Drift> drift = FindDrift(series);
  ASSERT_TRUE(drift);
  EXPECT_EQ(drift->Text(), "31 % slower than usual at memory (6.9 instead of 10.0 GB/s per core)");
}

TEST(FindDrift, ADeviceThatBecomesSlowerBitByBitIsComparedWithItsFirst) {
  std::vector<Peaks> series;
  for (int i = 0; i < 60; ++i) series.push_back(Scaled(1 - 0.004 * i));
  const size_t count = DriftsAfter(series);
  EXPECT_GT(count, 25u);  // before, it is less than 10 % slower
  ASSERT_GT(series.size(), count);
  EXPECT_THAT(FindDrift(std::span(series).first(count))->Text(), HasSubstr("slower than usual"));
}

TEST(FindDrift, CalibrationsInTheMiddleMayBeForgotten) {
  std::vector<Peaks> series;
  for (int i = 0; i < 60; ++i) {
    series.push_back(Scaled(1 - 0.004 * i));
    if (series.size() > kBaselineCalibrations + kUsualCalibrations + 2)
      series.erase(series.begin() + kBaselineCalibrations);
  }
  EXPECT_TRUE(FindDrift(series));
}

TEST(FindDrift, ADeviceThatIsNeverAtRestMayDifferByMore) {
  std::minstd_rand random(3);
  std::uniform_real_distribution<double> rate(9, 11);
  constexpr int kRounds = 50;
  int wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Peaks> series(100, kSound);
    for (Peaks& peaks : series) peaks.memory_gb_per_s = rate(random);
    if (DriftsAfter(series) != 0) ++wrong;
  }
  EXPECT_LE(wrong, 1);  // of thousands of calibrations
  // Its other rates are judged all the same.
  std::vector<Peaks> series(100, kSound);
  for (Peaks& peaks : series) peaks.memory_gb_per_s = rate(random);
  series[98].gflops_per_core = series[99].gflops_per_core = 80;
  EXPECT_EQ(DriftsAfter(series), 100u);
}

TEST(FindDrift, ARateThatADeviceDoesNotHaveIsIgnored) {
  Peaks none = kSound;
  none.bf16_gflops_per_core = 0;
  std::vector<Peaks> series(10, none);
  EXPECT_EQ(DriftsAfter(series), 0u);
}

}  // namespace
}  // namespace attune
