// The text format that Prometheus reads, version 0.0.4.
#ifndef ATTUNE_FLEET_SERVER_METRICS_TEXT_H_
#define ATTUNE_FLEET_SERVER_METRICS_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/server/dispatcher_snapshot.h"

namespace attune {

inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

// Names of metrics and labels are the caller's constants; values of labels may be any text.
class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  // Begins a metric; its samples follow. `type`: "counter", "gauge" or "histogram".
  void Begin(std::string_view name, std::string_view type, std::string_view help);
  void Add(double value, const Labels& labels = {});
  void Add(const SecondsHistogram& histogram);
  // `counts` by bucket, those below not part of it; one more than bounds, which rise.
  void AddHistogram(std::span<const double> bounds, std::span<const int64_t> counts, double sum,
                    const Labels& labels = {});

  const std::string& text() const { return text_; }

 private:
  void AddLine(std::string_view suffix, const Labels& labels, double value);

  std::string name_;  // of the current metric
  std::string text_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_METRICS_TEXT_H_
