#include "work/report/gantt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/html.h"
#include "base/svg.h"

namespace attune {
namespace {

constexpr double kWidth = 1200, kLeft = 200, kRight = 20, kTop = 8, kBottom = 24, kRow = 20, kBar = 16,
                 kWaitingBar = 4;
constexpr double kLeastSeconds = 1e-9;
constexpr size_t kMostRows = 200, kMostBars = 10000;

// Several bars of one row drawn as one.
struct Cluster {
  const GanttBar* first = nullptr;  // the longest of them gives its colour and title
  double start = 0, end = 0;
  int64_t count = 1;
  bool is_broken = false;
};

double XOf(double seconds, const GanttChart& chart) {
  return kLeft + std::clamp(seconds / chart.seconds, 0.0, 1.0) * (kWidth - kLeft - kRight);
}

// Merges bars of one sort as long as they fit into `pixels`.
std::vector<Cluster> Merge(const std::vector<const GanttBar*>& bars, double pixels, const GanttChart& chart) {
  std::vector<Cluster> clusters;
  const double width = pixels / (kWidth - kLeft - kRight) * chart.seconds;  // in seconds
  for (const GanttBar* bar : bars) {
    Cluster* last = clusters.empty() ? nullptr : &clusters.back();
    if (last == nullptr || std::max(bar->end, last->end) - last->start >= width) {
      clusters.push_back({bar, bar->start, bar->end, 1, bar->is_broken});
      continue;
    }
    if (bar->end - bar->start > last->first->end - last->first->start) last->first = bar;
    last->end = std::max(last->end, bar->end);
    last->is_broken |= bar->is_broken;
    ++last->count;
  }
  return clusters;
}

// The bars of each row: those that wait first, as the others lie above them.
std::vector<std::vector<Cluster>> MergeRows(const GanttChart& chart, size_t num_rows) {
  std::vector<std::array<std::vector<const GanttBar*>, 2>> sorted(num_rows);
  for (size_t row = 0; row < num_rows; ++row) {
    for (const GanttBar& bar : chart.rows[row].bars) sorted[row][bar.is_waiting ? 0 : 1].push_back(&bar);
    for (auto& bars : sorted[row])
      std::ranges::sort(bars, {}, [](const GanttBar* bar) { return std::pair(bar->start, bar); });
  }
  for (double pixels = 1;; pixels *= 2) {
    std::vector<std::vector<Cluster>> rows(num_rows);
    size_t count = 0;
    for (size_t row = 0; row < num_rows; ++row) {
      for (const auto& bars : sorted[row]) {
        const std::vector<Cluster> merged = Merge(bars, pixels, chart);
        rows[row].insert(rows[row].end(), merged.begin(), merged.end());
      }
      count += rows[row].size();
    }
    if (count <= kMostBars || pixels > kWidth) return rows;
  }
}

std::string Rectangle(const Cluster& cluster, double y, const GanttChart& chart) {
  const GanttBar& bar = *cluster.first;
  const double x = XOf(cluster.start, chart), width = std::max(XOf(cluster.end, chart) - x, 0.3);
  const double height = bar.is_waiting ? kWaitingBar : kBar;
  std::string title = chart.describe(bar.item);
  if (cluster.count > 1) absl::StrAppend(&title, "\n(and ", cluster.count - 1, " more stages nearby)");
  return absl::StrFormat("<rect x='%.2f' y='%.1f' width='%.2f' height='%.0f'%s><title>%s</title></rect>\n", x,
                         y + (kRow - height) / 2, width, height,
                         bar.is_waiting ? " class='pale'"
                                        : absl::StrCat(cluster.is_broken ? " class='broken'" : "", " fill='",
                                                       PlotColor(bar.color), "'"),
                         Escaped(title));
}

// 1, 2 or 5 times a power of ten, or the like in minutes and hours, that gives at most about ten ticks.
double TickStep(double seconds) {
  for (const double step : {60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0}) {
    if (seconds >= 300 && seconds / step <= 10) return step;
  }
  const double unit = seconds >= 300 ? 3600 : 1;
  const double power = std::pow(10, std::floor(std::log10(seconds / unit / 10))) * unit;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (seconds / (factor * power) <= 10) return factor * power;
  }
  return 10 * power;
}

std::string Axis(const GanttChart& chart, double bottom) {
  std::string svg;
  const double step = TickStep(chart.seconds);
  for (int tick = 0; tick * step <= chart.seconds; ++tick) {
    const double x = XOf(tick * step, chart);
    absl::StrAppendFormat(&svg,
                          "<line class='grid' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>"
                          "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n",
                          x, x, kTop, bottom, x, bottom + 16, SecondsText(tick * step));
  }
  return svg;
}

// Cut to what fits left of the chart, not within a character.
std::string Label(const std::string& label) {
  constexpr size_t kMostBytes = 30;
  if (label.size() <= kMostBytes) return label;
  size_t end = kMostBytes - 1;
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xC0u) == 0x80) --end;
  return label.substr(0, end) + "…";
}

}  // namespace

std::string GanttHtml(const GanttChart& chart) {
  std::string html = absl::StrCat("<h2>", Escaped(chart.title), "</h2>\n");
  if (chart.rows.empty() || chart.seconds < kLeastSeconds)
    return absl::StrCat(html, "<p>Nothing has run.</p>\n");
  const size_t num_rows = std::min(chart.rows.size(), kMostRows);
  const double bottom = kTop + kRow * static_cast<double>(num_rows);
  absl::StrAppend(&html, HtmlLegend(chart.colors));
  absl::StrAppendFormat(&html, "<svg viewBox='0 0 %.0f %.0f' role='img' aria-label='%s'>\n%s", kWidth,
                        bottom + kBottom, Escaped(chart.title), Axis(chart, bottom));
  const std::vector<std::vector<Cluster>> rows = MergeRows(chart, num_rows);
  for (size_t row = 0; row < num_rows; ++row) {
    const double y = kTop + kRow * static_cast<double>(row);
    absl::StrAppendFormat(&html, "<text x='%.0f' y='%.1f' text-anchor='end'>%s<title>%s</title></text>\n",
                          kLeft - 8, y + kRow / 2 + 4, Escaped(Label(chart.rows[row].label)),
                          Escaped(chart.rows[row].label));
    for (const Cluster& cluster : rows[row]) absl::StrAppend(&html, Rectangle(cluster, y, chart));
  }
  absl::StrAppend(&html, "</svg>\n");
  if (chart.rows.size() > num_rows)
    absl::StrAppend(&html, "<p class='note'>", chart.rows.size() - num_rows,
                    " more rows are not shown.</p>\n");
  return html;
}

}  // namespace attune
