#include "sweep/expansion.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/status.h"

namespace attune {
namespace {

// An exclusion, by the indices of its options in a row.
using ExcludedValues = std::vector<std::pair<size_t, std::set<SweepValue>>>;

std::vector<ExcludedValues> ExcludedOf(const SweepFile& file, const std::vector<std::string>& options) {
  std::map<std::string, size_t> indices;
  for (size_t i = 0; i < options.size(); ++i) indices.emplace(options[i], i);
  std::vector<ExcludedValues> all;
  for (const SweepExclusion& exclusion : file.exclusions) {
    ExcludedValues& excluded = all.emplace_back();
    for (const auto& [option, values] : exclusion)
      excluded.emplace_back(indices.at(option), std::set<SweepValue>(values.begin(), values.end()));
  }
  return all;
}

bool IsExcluded(const std::vector<SweepValue>& row, const std::vector<ExcludedValues>& all) {
  return std::ranges::any_of(all, [&](const ExcludedValues& excluded) {
    return std::ranges::all_of(
        excluded, [&](const auto& condition) { return condition.second.contains(row[condition.first]); });
  });
}

// Moves to the next combination of the points of all axes; returns false after the last one.
bool Advance(const std::vector<SweepAxis>& axes, std::vector<size_t>& position) {
  for (size_t axis = axes.size(); axis-- > 0;) {
    if (++position[axis] < axes[axis].points.size()) return true;
    position[axis] = 0;
  }
  return false;
}

}  // namespace

absl::StatusOr<ExpandedSweep> ExpandSweep(const SweepFile& file) {
  ExpandedSweep expanded;
  int64_t combinations = 1;
  for (const SweepAxis& axis : file.axes) {
    combinations *= std::ssize(axis.points);
    if (combinations > kMostSweepCombinations)
      return InvalidInput(file.path, ": has more than ", kMostSweepCombinations,
                          " combinations of values; make several sweeps of it");
    expanded.options.insert(expanded.options.end(), axis.options.begin(), axis.options.end());
  }
  for (const auto& [option, value] : file.options) expanded.options.push_back(option);
  const std::vector<ExcludedValues> excluded = ExcludedOf(file, expanded.options);
  std::vector<size_t> position(file.axes.size());
  do {
    std::vector<SweepValue> row;
    for (size_t axis = 0; axis < file.axes.size(); ++axis) {
      const std::vector<SweepValue>& point = file.axes[axis].points[position[axis]];
      row.insert(row.end(), point.begin(), point.end());
    }
    for (const auto& [option, value] : file.options) row.push_back(value);
    if (IsExcluded(row, excluded)) {
      ++expanded.num_excluded;
      continue;
    }
    if ((std::ssize(expanded.rows) + 1) * file.repeat > kMostSweepRuns)
      return InvalidInput(file.path, ": has more than ", kMostSweepRuns, " runs; make several sweeps of it");
    expanded.rows.push_back(std::move(row));
  } while (Advance(file.axes, position));
  if (expanded.rows.empty()) return InvalidInput(file.path, ": exclude: leaves no run");
  return expanded;
}

}  // namespace attune
