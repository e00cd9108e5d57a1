// The text format that Prometheus reads, version 0.0.4.
#ifndef ATTUNE_BASE_METRICS_TEXT_H_
#define ATTUNE_BASE_METRICS_TEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {

inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

// How often something took how long.
class SecondsHistogram {
 public:
  // The upper bounds of the buckets, in seconds; a last bucket has no bound.
  static constexpr std::array<double, 12> kBounds = {0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900, 3600, 14400};

  void Add(double seconds) {
    size_t bucket = 0;
    while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
    ++counts_[bucket];
    sum_ += seconds;
  }

  // By bucket; those below are not part of it.
  const std::array<int64_t, kBounds.size() + 1>& counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::array<int64_t, kBounds.size() + 1> counts_ = {};
  double sum_ = 0;
};

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

#endif  // ATTUNE_BASE_METRICS_TEXT_H_
