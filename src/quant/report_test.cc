#include "quant/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune::quant {
namespace {

QuantizationReport TimedReport(double float_seconds, double seconds) {
  QuantizationReport report;
  report.float_seconds = float_seconds;
  report.seconds = seconds;
  report.agreement.agreement = 0.9931;
  return report;
}

TEST(QuantizationReport, SaysThatIntegersAreSlowerAndWhy) {
  QuantizationReport report = TimedReport(0.96e-3, 1.11e-3);
  EXPECT_TRUE(report.is_slower());
  EXPECT_EQ(Verdict(report),
            "quantized, one inference takes 1.110 ms instead of 0.960 in fp32: int8 is slower than "
            "fp32 on this processor; agreement with fp32 0.9931");
  report.missing_instructions = "VNNI";
  EXPECT_EQ(Verdict(report),
            "quantized, one inference takes 1.110 ms instead of 0.960 in fp32: int8 is slower than "
            "fp32 on this processor, which has no VNNI; agreement with fp32 0.9931");
  EXPECT_EQ(Summarize(report).back(), Verdict(report));
}

TEST(QuantizationReport, SaysWhatIsGained) {
  EXPECT_EQ(
      Verdict(TimedReport(18.4e-3, 9.2e-3)),
      "quantized, one inference takes 9.200 ms instead of 18.400 in fp32, 2.00 times as fast; agreement with "
      "fp32 0.9931");
  for (const double seconds : {0.99e-3, 1.01e-3}) {
    const QuantizationReport report = TimedReport(1e-3, seconds);
    EXPECT_FALSE(report.is_slower());
    EXPECT_THAT(Verdict(report), ::testing::HasSubstr("about as long"));
  }
}

TEST(QuantizationReport, SaysNothingOfTimesThatWereNotMeasured) {
  const QuantizationReport report = TimedReport(0, 0);
  EXPECT_EQ(Verdict(report), "");
  EXPECT_FALSE(report.is_slower());
  EXPECT_TRUE(ToJson(report)["seconds"].is_null());
}

}  // namespace
}  // namespace attune::quant
