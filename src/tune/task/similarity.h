// How alike two tasks are: what was found for one is worth trying for the other.
#ifndef ATTUNE_TUNE_TASK_SIMILARITY_H_
#define ATTUNE_TUNE_TASK_SIMILARITY_H_

#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lower/strategy.h"

namespace attune {

// What of a task counts for that, apart from its graph.
struct TaskShape {
  // The operator that dominates, in a chain the first that does, with its attributes but sizes; empty: none.
  std::string anchor;
  std::vector<std::string> others;  // operators beside it, likewise, sorted
  std::vector<double> log_sizes;    // base 2, of the anchor's inputs and its output, axis by axis
  std::vector<std::string> types;   // dtypes, layouts and ranks of these
};
TaskShape ShapeOfTask(const Workload& workload);
// Of a task by its text, as records have it. Fails where the text is none.
absl::StatusOr<TaskShape> ShapeOfTask(const std::string& text);

// 0 for tasks that are the same but for what does not matter, 1 where one size is twice as large, and so on.
// Infinite where what is fast for one says nothing about the other.
double TaskDistance(const TaskShape& a, const TaskShape& b);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_SIMILARITY_H_
