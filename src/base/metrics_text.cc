#include "base/metrics_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace attune {
namespace {

std::string NumberText(double value) { return absl::StrFormat("%.15g", value); }

}  // namespace

void MetricsText::Begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  const std::string escaped = absl::StrReplaceAll(help, {{"\\", "\\\\"}, {"\n", "\\n"}});
  absl::StrAppend(&text_, "# HELP ", name, " ", escaped, "\n# TYPE ", name, " ", type, "\n");
}

void MetricsText::Add(double value, const Labels& labels) { AddLine("", labels, value); }

void MetricsText::Add(const SecondsHistogram& histogram) {
  AddHistogram(SecondsHistogram::kBounds, histogram.counts(), histogram.sum());
}

void MetricsText::AddHistogram(std::span<const double> bounds, std::span<const int64_t> counts, double sum,
                               const Labels& labels) {
  int64_t so_far = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    so_far += counts[i];
    Labels with_bound = labels;
    with_bound.emplace_back("le", i < bounds.size() ? NumberText(bounds[i]) : "+Inf");
    AddLine("_bucket", with_bound, static_cast<double>(so_far));
  }
  AddLine("_sum", labels, sum);
  AddLine("_count", labels, static_cast<double>(so_far));
}

void MetricsText::AddLine(std::string_view suffix, const Labels& labels, double value) {
  absl::StrAppend(&text_, name_, suffix);
  const char* before = "{";
  for (const auto& [label, text] : labels) {
    const std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
    absl::StrAppend(&text_, before, label, "=\"", escaped, "\"");
    before = ",";
  }
  absl::StrAppend(&text_, labels.empty() ? "" : "}", " ", NumberText(value), "\n");
}

}  // namespace attune
