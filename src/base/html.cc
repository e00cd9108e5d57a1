#include "base/html.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/svg.h"

namespace attune {
namespace {

constexpr char kStyle[] = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
th.text, td.text { text-align: left; overflow-wrap: anywhere; }
svg { width: 100%; display: block; margin: 0.5rem 0; }
svg text { font-size: 11px; fill: #444; } svg .grid { stroke: #e5e5e5; }
svg .pale { fill: #bbb; } svg .broken { stroke: #d00; stroke-width: 1.5; }
.legend { font-size: 13px; } .legend span { margin-right: 1.2em; white-space: nowrap; }
.legend i { display: inline-block; width: 0.9em; height: 0.9em; margin-right: 0.4em; vertical-align: -0.1em; }
.big { font-size: 1.25rem; } .note { color: #666; font-size: 13px; }
)";

}  // namespace

std::string HtmlPage(std::string_view title, std::string_view body) {
  return absl::StrCat("<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>", Escaped(title),
                      "</title><style>", kStyle, "</style></head><body>\n", body, "</body></html>\n");
}

std::string HtmlTable(const std::vector<std::vector<std::string>>& rows, size_t num_texts) {
  std::string html = "<table><thead>";
  for (size_t r = 0; r < rows.size(); ++r) {
    const char* cell = r == 0 ? "th" : "td";
    absl::StrAppend(&html, "<tr>");
    for (size_t c = 0; c < rows[r].size(); ++c)
      absl::StrAppend(&html, "<", cell, c < num_texts ? " class='text'>" : ">", Escaped(rows[r][c]), "</",
                      cell, ">");
    absl::StrAppend(&html, "</tr>", r == 0 ? "</thead><tbody>\n" : "\n");
  }
  return absl::StrCat(html, "</tbody></table>\n");
}

std::string HtmlLegend(const std::vector<std::string>& names) {
  constexpr size_t kMostInLegend = 60;
  std::string html = "<p class='legend'>";
  for (size_t i = 0; i < std::min(names.size(), kMostInLegend); ++i)
    absl::StrAppend(&html, "<span><i style='background:", PlotColor(i), "'></i>", Escaped(names[i]),
                    "</span> ");
  if (names.size() > kMostInLegend)
    absl::StrAppend(&html, "<span>and ", names.size() - kMostInLegend, " more</span>");
  return absl::StrCat(html, "</p>\n");
}

std::string SecondsText(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds >= 1000 * kHour) return absl::StrFormat("%.0f h", seconds / kHour);
  if (seconds >= 2 * kHour) return absl::StrFormat("%.3g h", seconds / kHour);
  if (seconds >= 2 * kMinute) return absl::StrFormat("%.3g min", seconds / kMinute);
  return absl::StrFormat("%.3g s", seconds);
}

std::string PercentText(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::string CountText(int64_t count, std::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace attune
