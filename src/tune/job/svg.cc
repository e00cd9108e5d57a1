#include "tune/job/svg.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace attune {
namespace {

constexpr double kWidth = 640, kHeight = 260, kLeft = 64, kRight = 16, kTop = 28, kBottom = 44;

struct Scale {
  double from, to, begin, end;  // values, and their coordinates

  double operator()(double value) const { return begin + (value - from) / (to - from) * (end - begin); }
};

// A scale with a non-empty range.
Scale MakeScale(double from, double to, double begin, double end) {
  if (!(to > from)) to = from + std::max(1e-9, std::abs(from) * 0.1);
  return {from, to, begin, end};
}

// 1, 2 or 5 times a power of ten, which gives about four to eight ticks.
double TickStep(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 4)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= 8) return factor * power;
  }
  return 10 * power;
}

std::string Text(double x, double y, std::string_view anchor, std::string_view text) {
  return absl::StrFormat("<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>", x, y, anchor, Escaped(text));
}

std::string Axes(const LinePlot& plot, const Scale& x, const Scale& y) {
  std::string svg;
  const double x_step = TickStep(x.to - x.from), y_step = TickStep(y.to - y.from);
  for (double value = std::ceil(x.from / x_step) * x_step; value <= x.to; value += x_step) {
    absl::StrAppendFormat(&svg, "<line class='grid' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", x(value),
                          x(value), y.begin, y.end);
    absl::StrAppend(&svg, Text(x(value), y.begin + 16, "middle", absl::StrFormat("%g", value)));
  }
  for (double value = std::ceil(y.from / y_step) * y_step; value <= y.to; value += y_step) {
    absl::StrAppendFormat(&svg, "<line class='grid' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", x.begin,
                          x.end, y(value), y(value));
    absl::StrAppend(&svg, Text(x.begin - 6, y(value) + 4, "end", absl::StrFormat("%g", value)));
  }
  absl::StrAppend(&svg, Text(kWidth / 2, kHeight - 8, "middle", plot.x_label),
                  Text(kLeft, kTop - 10, "start", absl::StrCat(plot.title, " (", plot.y_label, ")")));
  return svg;
}

}  // namespace

std::string Escaped(std::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&quot;"}});
}

std::string ToSvg(const LinePlot& plot) {
  if (plot.points.size() < 2)
    return absl::StrCat("<p>", Escaped(plot.title), ": not enough was measured.</p>");
  const auto [low, high] =
      std::ranges::minmax_element(plot.points, {}, [](const auto& point) { return point.second; });
  const bool given = plot.y_min != plot.y_max;
  const Scale x = MakeScale(plot.points.front().first, plot.points.back().first, kLeft, kWidth - kRight);
  const Scale y =
      MakeScale(given ? plot.y_min : low->second, given ? plot.y_max : high->second, kHeight - kBottom, kTop);
  std::string path;
  for (size_t i = 0; i < plot.points.size(); ++i) {
    const auto& [px, py] = plot.points[i];
    if (i > 0 && plot.steps) absl::StrAppendFormat(&path, "H%.1f", x(px));
    absl::StrAppendFormat(&path, "%s%.1f,%.1f", i == 0 ? "M" : "L", x(px), y(py));
  }
  return absl::StrFormat(
      "<svg viewBox='0 0 %.0f %.0f' role='img' aria-label='%s'>%s<path class='line' d='%s'/></svg>", kWidth,
      kHeight, Escaped(plot.title), Axes(plot, x, y), path);
}

}  // namespace attune
