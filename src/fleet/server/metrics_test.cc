#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/metrics_text.h"
#include "fleet/server/fleet_monitor.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsText, IsThatOfPrometheus) {
  MetricsText text;
  text.Begin("requests", "gauge", "A \\ and\na line.");
  text.Add(3);
  text.Add(0.25, {{"key", "say \"hi\\\"\n"}, {"state", "free"}});
  EXPECT_EQ(text.text(),
            "# HELP requests A \\\\ and\\na line.\n"
            "# TYPE requests gauge\n"
            "requests 3\n"
            "requests{key=\"say \\\"hi\\\\\\\"\\n\",state=\"free\"} 0.25\n");
}

TEST(MetricsText, BucketsIncludeThoseBelow) {
  SecondsHistogram histogram;
  for (const double seconds : {0.05, 0.1, 0.7, 1e6}) histogram.Add(seconds);
  MetricsText text;
  text.Begin("wait_seconds", "histogram", "Waits.");
  text.Add(histogram);
  EXPECT_THAT(
      text.text(),
      AllOf(HasSubstr("wait_seconds_bucket{le=\"0.1\"} 2\n"),
            HasSubstr("wait_seconds_bucket{le=\"0.5\"} 2\n"), HasSubstr("wait_seconds_bucket{le=\"1\"} 3\n"),
            HasSubstr("wait_seconds_bucket{le=\"14400\"} 3\n"),
            HasSubstr("wait_seconds_bucket{le=\"+Inf\"} 4\n"), HasSubstr("wait_seconds_sum 1000000.85\n"),
            HasSubstr("wait_seconds_count 4\n")));
}

TEST(FormatMetrics, EachMetricIsExplainedOnceBeforeItsSamples) {
  std::istringstream lines(FormatMetrics({}));
  std::set<std::string> explained;
  std::string line, name;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (second == "HELP") {
      words >> name;
      EXPECT_TRUE(explained.insert(name).second) << name;
    } else if (first != "#") {
      EXPECT_EQ(line.substr(0, name.size()), name);
    }
  }
  EXPECT_GE(explained.size(), 14u);
}

TEST(FormatMetrics, SaysWhatIsCounted) {
  ServerMetrics metrics = {.blob_bytes = int64_t{3} << 30, .enrolled = 2, .refused_enrolments = 7};
  metrics.dispatcher.devices_held = 4;
  metrics.dispatcher.waiting = {{"zen4", 3}, {"a \"b\"", 1}};
  metrics.dispatcher.counters.results_refused = 5;
  EXPECT_THAT(
      FormatMetrics(metrics),
      AllOf(HasSubstr("\nattune_fleet_devices{state=\"held\"} 4\n"),
            HasSubstr("\nattune_fleet_requests_waiting 4\n"),
            HasSubstr("\nattune_fleet_requests_waiting_by_key{key=\"zen4\"} 3\n"),
            HasSubstr("{key=\"a \\\"b\\\"\"} 1\n"), HasSubstr("\nattune_fleet_results_refused_total 5\n"),
            HasSubstr("\nattune_fleet_blobs_bytes 3221225472\n"),
            HasSubstr("\nattune_fleet_enrolments_total{result=\"refused\"} 7\n")));
}

TEST(FormatMetrics, OnlySoManyKeysHaveASeries) {
  ServerMetrics metrics;
  for (int i = 0; i < 2 * kMostKeysInMetrics; ++i) metrics.dispatcher.waiting[absl::StrCat("key", i)] = 1 + i;
  const std::string text = FormatMetrics(metrics);
  EXPECT_THAT(text, AllOf(HasSubstr("{key=\"key99\"} 100\n"), HasSubstr("{key=\"key50\"} 51\n"),
                          Not(HasSubstr("{key=\"key49\"}")), HasSubstr("_waiting 5050\n")));
}

TEST(ObserveProcess, SeesThisOne) {
  ServerMetrics metrics;
  ObserveProcess(metrics);
  EXPECT_GT(metrics.resident_bytes, 0);
  EXPECT_GT(metrics.cpu_seconds, 0);
}

}  // namespace
}  // namespace attune
