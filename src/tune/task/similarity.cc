#include "tune/task/similarity.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "tune/task/task.h"

namespace attune {
namespace {

constexpr double kOtherOperator = 0.25;  // per operator that only one of the two has beside the anchor

void AddValue(const TensorType& type, TaskShape& shape) {
  shape.types.push_back(absl::StrCat(DTypeName(type.dtype), " ", type.rank(), " block ", type.layout.block));
  for (const int64_t size : type.shape()) {
    shape.log_sizes.push_back(std::log2(static_cast<double>(std::max<int64_t>(size, 1))));
  }
}

// The properties that distinguish kernels more than sizes do; for most operators only the name.
std::string Describe(const Node& node) {
  std::string text(OpName(node.op()));
  for (const char* name : {"strides", "dilations"}) {
    if (node.attrs().Has(name))
      absl::StrAppend(&text, " ", name, " ", absl::StrJoin(node.attrs().IntList(name), "x"));
  }
  for (const char* name : {"transpose_a", "transpose_b"}) {
    if (node.attrs().Bool(name)) absl::StrAppend(&text, " ", name);
  }
  if (node.attrs().Has("group")) {
    const int64_t group = node.attrs().Int("group", 1), channels = node.output()->type().shape()[1];
    absl::StrAppend(&text, group == 1 ? " dense" : group == channels ? " depthwise" : " grouped");
  }
  return text;
}

}  // namespace

TaskShape ShapeOfTask(const Workload& workload) {
  TaskShape shape;
  if (workload.anchor == nullptr) return shape;
  // Depth-first fusions have their own configs, which are similar whatever the later operators are.
  shape.anchor = absl::StrCat(workload.num_anchors > 1 ? "chain from " : "", Describe(*workload.anchor));
  for (const Value* input : workload.anchor->inputs()) {
    if (input != nullptr) AddValue(input->type(), shape);
  }
  AddValue(workload.anchor->output()->type(), shape);
  for (const auto& node : workload.region->nodes()) {
    if (node.get() != workload.anchor && node->op() != Op::kConstant) shape.others.push_back(Describe(*node));
  }
  std::ranges::sort(shape.others);
  return shape;
}

absl::StatusOr<TaskShape> ShapeOfTask(const std::string& text) {
  ASSIGN_OR_RETURN(const TuningTask task, ParseTask(text));
  ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
  return ShapeOfTask(workload);
}

double TaskDistance(const TaskShape& a, const TaskShape& b) {
  if (a.anchor.empty() || a.anchor != b.anchor || a.types != b.types)
    return std::numeric_limits<double>::infinity();
  double distance = 0;
  for (size_t i = 0; i < a.log_sizes.size(); ++i) distance += std::abs(a.log_sizes[i] - b.log_sizes[i]);
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(a.others, b.others, std::back_inserter(different));
  return distance + kOtherOperator * static_cast<double>(different.size());
}

}  // namespace attune
