// The parts of which pages about schedules are made.
#ifndef ATTUNE_BASE_HTML_H_
#define ATTUNE_BASE_HTML_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// A page that needs no other file. `title` is text, `body` is HTML.
std::string HtmlPage(std::string_view title, std::string_view body);

// The cells are texts; the first row is the header. The first `num_texts` columns are left-aligned.
std::string HtmlTable(const std::vector<std::vector<std::string>>& rows, size_t num_texts);

// Says what the colours of a chart mean, each by its index for PlotColor().
std::string HtmlLegend(const std::vector<std::string>& names);

// "0.25 s", "12.5 s", "3.5 min", "2.25 h".
std::string SecondsText(double seconds);
// "12.5 %", of a share of 1.
std::string PercentText(double share);
// "1 job", "2 jobs"; `what` is one of them.
std::string CountText(int64_t count, std::string_view what);

}  // namespace attune

#endif  // ATTUNE_BASE_HTML_H_
