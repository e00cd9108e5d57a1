// Gantt charts as SVG: who used what, and when.
#ifndef ATTUNE_WORK_REPORT_GANTT_H_
#define ATTUNE_WORK_REPORT_GANTT_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace attune {

struct GanttBar {
  double start = 0, end = 0;  // seconds, 0 <= start <= end
  size_t color = 0;           // an index into GanttChart::colors
  bool is_waiting = false;    // drawn thin and pale, without a color
  bool is_broken = false;     // what it did came to nothing
  size_t item = 0;            // what it stands for
};

struct GanttRow {
  std::string label;
  std::vector<GanttBar> bars;  // in any order
};

struct GanttChart {
  std::string title;
  double seconds = 0;  // the length of the time axis
  std::vector<GanttRow> rows;
  std::vector<std::string> colors;  // the meaning of each colour
  // The text that appears under the mouse; is asked of the bars that are drawn alone.
  std::function<std::string(size_t item)> describe;
};

// An <svg> element with its legend; a note if there are no rows or no time. All texts are escaped. If there
// are very many rows, the first ones are drawn. Bars that are narrower than a pixel are merged with those
// beside them, and wider ones too if there were still too many for a browser.
std::string GanttHtml(const GanttChart& chart);

}  // namespace attune

#endif  // ATTUNE_WORK_REPORT_GANTT_H_
