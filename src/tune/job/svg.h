// Line plots as SVG, for the report.
#ifndef ATTUNE_TUNE_JOB_SVG_H_
#define ATTUNE_TUNE_JOB_SVG_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {

// Escapes `text` for HTML and SVG.
std::string Escaped(std::string_view text);

struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<std::pair<double, double>> points;  // finite, ascending in x
  bool steps = false;                             // a value is constant until the next point
  // The range of the y axis; taken from the points if both are 0.
  double y_min = 0, y_max = 0;
};

// An <svg> element, or a note instead if there are fewer than two points.
std::string ToSvg(const LinePlot& plot);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_SVG_H_
