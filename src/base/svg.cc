#include "base/svg.h"

#include <algorithm>
#include <array>
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

// The ticks of an axis: values, and what is written there.
std::vector<std::pair<double, std::string>> TicksOf(const Scale& scale) {
  std::vector<std::pair<double, std::string>> ticks;
  const double step = TickStep(scale.to - scale.from);
  // Where numbers are large and close together, a step may be too small to change them.
  constexpr int kMost = 20;
  for (int i = 0; i < kMost; ++i) {
    const double value = (std::ceil(scale.from / step) + i) * step;
    if (value > scale.to) break;
    ticks.emplace_back(value, absl::StrFormat("%g", value));
  }
  return ticks;
}

// `x_names`: those of x = 0, 1, …, in the place of numbers.
std::string Axes(const Scale& x, const Scale& y, std::string_view x_label, std::string_view heading,
                 const std::vector<std::string>& x_names = {}) {
  std::string svg;
  std::vector<std::pair<double, std::string>> x_ticks;
  for (const std::string& name : x_names) x_ticks.emplace_back(static_cast<double>(x_ticks.size()), name);
  if (x_names.empty()) x_ticks = TicksOf(x);
  for (const auto& [value, text] : x_ticks) {
    absl::StrAppendFormat(&svg, "<line class='grid' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", x(value),
                          x(value), y.begin, y.end);
    absl::StrAppend(&svg, Text(x(value), y.begin + 16, "middle", text));
  }
  for (const auto& [value, text] : TicksOf(y)) {
    absl::StrAppendFormat(&svg, "<line class='grid' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>", x.begin,
                          x.end, y(value), y(value));
    absl::StrAppend(&svg, Text(x.begin - 6, y(value) + 4, "end", text));
  }
  absl::StrAppend(&svg, Text(kWidth / 2, kHeight - 8, "middle", x_label),
                  Text(kLeft, kTop - 10, "start", heading));
  return svg;
}

std::string Heading(std::string_view title, std::string_view y_label) {
  return absl::StrCat(title, " (", y_label, ")");
}

std::string Frame(std::string_view title, std::string_view content) {
  return absl::StrFormat("<svg viewBox='0 0 %.0f %.0f' role='img' aria-label='%s'>%s</svg>", kWidth, kHeight,
                         Escaped(title), content);
}

std::string Series(const std::vector<PlotPoint>& points, const Scale& x, const Scale& y,
                   const std::string& color) {
  constexpr double kRadius = 3, kWhisker = 4;
  std::string path, marks;
  for (const PlotPoint& point : points) {
    const double px = x(point.x), py = y(point.y), low = y(point.low), high = y(point.high);
    absl::StrAppendFormat(&path, "%s%.1f,%.1f", path.empty() ? "M" : "L", px, py);
    absl::StrAppendFormat(
        &marks,
        "<circle cx='%.1f' cy='%.1f' r='%.0f' fill='%s'><title>%g (%g to %g)</title></circle>"
        "<path stroke='%s' d='M%.1f,%.1fV%.1fM%.1f,%.1fH%.1fM%.1f,%.1fH%.1f'/>",
        px, py, kRadius, color, point.y, point.low, point.high, color, px, low, high, px - kWhisker, low,
        px + kWhisker, px - kWhisker, high, px + kWhisker);
  }
  return absl::StrCat("<path fill='none' stroke='", color, "' stroke-width='1.8' d='", path, "'/>", marks);
}

}  // namespace

std::string Escaped(std::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&quot;"}});
}

// As many colours as needed that differ well: a list for the first ones, then hues by the golden angle, which
// keeps each new one far from those before it (Vogel, A better way to construct the sunflower head, 1979).
std::string PlotColor(size_t index) {
  constexpr std::array kFirst = {"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948",
                                 "#76b7b2", "#e15759", "#9c755f", "#ff9da7", "#1b5e20"};
  if (index < kFirst.size()) return kFirst[index];
  constexpr double kGoldenAngle = 137.508;
  const int lightness = 40 + 12 * static_cast<int>(index % 3);
  return absl::StrFormat("hsl(%.0f,60%%,%d%%)", std::fmod(static_cast<double>(index) * kGoldenAngle, 360.0),
                         lightness);
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
  return Frame(plot.title, absl::StrCat(Axes(x, y, plot.x_label, Heading(plot.title, plot.y_label)),
                                        "<path class='line' d='", path, "'/>"));
}

std::string ToSvg(const SeriesPlot& plot) {
  double left = 0, right = 0, low = 0, high = 0;
  bool is_empty = true;
  for (const std::vector<PlotPoint>& points : plot.series) {
    for (const PlotPoint& point : points) {
      left = is_empty ? point.x : std::min(left, point.x);
      right = is_empty ? point.x : std::max(right, point.x);
      low = is_empty ? point.low : std::min(low, point.low);
      high = is_empty ? point.high : std::max(high, point.high);
      is_empty = false;
    }
  }
  if (is_empty) return absl::StrCat("<p>", Escaped(plot.title), ": nothing was measured.</p>");
  if (!plot.x_names.empty()) {
    left = -0.5;
    right = static_cast<double>(plot.x_names.size()) - 0.5;
  }
  const Scale x = MakeScale(left, right, kLeft, kWidth - kRight);
  const Scale y = MakeScale(low, high, kHeight - kBottom, kTop);
  std::string svg = Axes(x, y, plot.x_label, Heading(plot.title, plot.y_label), plot.x_names);
  for (size_t i = 0; i < plot.series.size(); ++i)
    absl::StrAppend(&svg, Series(plot.series[i], x, y, PlotColor(i)));
  return Frame(plot.title, svg);
}

}  // namespace attune
