// A network with open sizes as it was seen at several points.
#ifndef ATTUNE_PLAN_WITNESSES_H_
#define ATTUNE_PLAN_WITNESSES_H_

#include <span>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "lower/open_definition.h"
#include "sizes/fit.h"
#include "tensor/stmt.h"

namespace attune {

// Finds for the nodes and values of the first graph the same ones in the others, and what their sizes follow.
class Witnesses {
 public:
  // No open sizes.
  Witnesses() = default;
  // Everything must outlive this. Fails with NotSupported where the graphs differ in more than sizes, or
  // where a dimension follows no expression.
  static absl::StatusOr<Witnesses> Of(std::span<Graph* const> graphs, std::span<const SizePoint> points,
                                      std::span<const OpenDim> dims);

  bool empty() const { return points_.empty(); }
  std::span<const OpenDim> dims() const { return dims_; }
  std::span<const SizePoint> points() const { return points_; }
  // The variables that stand for the open dimensions.
  const std::vector<SizeParam>& sizes() const { return sizes_; }

  // The node of each graph.
  const std::vector<const Node*>& Same(const Node& node) const { return nodes_.at(&node); }
  // The open dimensions of a value's physical shape; the others are null. Empty if none is open.
  std::vector<Expr> OpenShape(const Value& value) const;
  // The numbers of a list, given at each point, by sizes(); empty if they are constant, or follow no
  // expression.
  std::vector<Expr> OpenNumbers(const std::vector<std::vector<int64_t>>& lists) const;

 private:
  absl::Status AddShape(const std::vector<const Value*>& same);

  std::span<const SizePoint> points_;
  std::span<const OpenDim> dims_;
  std::vector<SizeParam> sizes_;
  std::unordered_map<const Node*, std::vector<const Node*>> nodes_;
  std::unordered_map<const Value*, std::vector<Expr>> shapes_;  // only open ones
};

}  // namespace attune

#endif  // ATTUNE_PLAN_WITNESSES_H_
