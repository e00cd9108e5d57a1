// How similar two tasks are: configs that are good for one are worth trying for the other.
#ifndef ATTUNE_TUNE_TASK_SIMILARITY_H_
#define ATTUNE_TUNE_TASK_SIMILARITY_H_

#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lower/strategy.h"

namespace attune {

// The properties of a task that matter for its similarity, apart from its graph.
struct TaskShape {
  // The dominant operator (in a depth-first fusion, the first one) with its attributes but not its sizes;
  // empty: none.
  std::string anchor;
  std::vector<std::string> others;  // the other operators, described in the same way, sorted
  std::vector<double> log_sizes;    // base 2, of the anchor's inputs and output, axis by axis
  std::vector<std::string> types;   // their dtypes, layouts and ranks
};
TaskShape ShapeOfTask(const Workload& workload);
// Parses the text of a task, as in records. Fails if it is not a task.
absl::StatusOr<TaskShape> ShapeOfTask(const std::string& text);

// 0 for tasks that are the same except for irrelevant details, 1 if one size is twice as large, and so on.
// Infinite if a config that is fast for one says nothing about the other.
double TaskDistance(const TaskShape& a, const TaskShape& b);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_SIMILARITY_H_
