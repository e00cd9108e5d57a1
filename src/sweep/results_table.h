// The results of a sweep as a table: a row for each run, with every option and every time.
#ifndef ATTUNE_SWEEP_RESULTS_TABLE_H_
#define ATTUNE_SWEEP_RESULTS_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "sweep/sweep_plan.h"
#include "sweep/sweep_result.h"

namespace attune {

// The columns of all rows of a plan: they do not depend on what has been run. Options have the names that the
// sweep's file gives them; no option has an underscore in its name, and all else has one or is "run",
// "state", "error", "repeat", "agreement" or "speedup".
std::vector<std::string> ResultColumns(const SweepPlan& plan);

// A value for each column; null: not measured.
std::vector<nlohmann::json> ResultRow(const SweepPlan& plan, const SweepRun& run, const SweepResult& result);

// Comma-separated values with a header, as RFC 4180 defines them; `results` are those of the plan's runs.
std::string ResultsCsv(const SweepPlan& plan, const std::vector<SweepResult>& results);
// The same for other programs: {"sweep": id, "commands": […], "runs": [{column: value, …}, …]}.
nlohmann::ordered_json ResultsJson(const SweepPlan& plan, const std::vector<SweepResult>& results);

// A field of RFC 4180: in quotes where it must be.
std::string CsvField(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_SWEEP_RESULTS_TABLE_H_
