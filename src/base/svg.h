// Line plots as SVG, for reports.
#ifndef ATTUNE_BASE_SVG_H_
#define ATTUNE_BASE_SVG_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {

// Escapes `text` for HTML and SVG.
std::string Escaped(std::string_view text);

// A colour for SVG and HTML. Colours of different indices differ well.
std::string PlotColor(size_t index);

struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<std::pair<double, double>> points;  // finite, ascending in x
  bool steps = false;                             // a value is constant until the next point
  // The range of the y axis; taken from the points if both are 0.
  double y_min = 0, y_max = 0;
};

// An <svg> element, or a note instead if there are fewer than two points.
std::string ToSvg(const LinePlot& plot);

// A value and the ends of its interval; all are finite.
struct PlotPoint {
  double x = 0, y = 0, low = 0, high = 0;
};

// Several lines with error bars, each in the colour of its index.
struct SeriesPlot {
  std::string title, x_label, y_label;
  std::vector<std::string> x_names;            // of x = 0, 1, …; empty: x is a number
  std::vector<std::vector<PlotPoint>> series;  // points ascending in x
};

// An <svg> element, or a note instead if there are no points.
std::string ToSvg(const SeriesPlot& plot);

}  // namespace attune

#endif  // ATTUNE_BASE_SVG_H_
