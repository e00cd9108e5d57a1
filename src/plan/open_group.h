// The kernel of a group whose sizes are open.
//
// Problem: strategies know how to schedule loops of constant extents. Idea: one is chosen, and its primitives
// are recorded, at the sizes of one point; the record is replayed on the definition of open extents. Inner
// tiles are constant in both, because channels, taps and heads are.
#ifndef ATTUNE_PLAN_OPEN_GROUP_H_
#define ATTUNE_PLAN_OPEN_GROUP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lower/strategy.h"
#include "plan/chooser.h"
#include "plan/group_kernel.h"
#include "plan/witnesses.h"
#include "target/target.h"

namespace attune {

// The numbers that a group's kernel is given, and those of each call: as few of the dimensions that its
// values have as tell the others. The rows of a batch of matrices that became one matrix are one number, and
// of the widths that a convolution reads and writes only the first is one.
struct GroupSizes {
  std::vector<OpenDim> dims;
  std::vector<SizePoint> points;  // the sizes at the points of the network
  std::vector<Expr> arguments;    // by the sizes of the network
};

// `regions` are the group at the points of `witnesses`, and `flat` the same after pixels or rows were
// flattened, whose numbers may be products of those before. Fails with NotSupported where a dimension follows
// no expression.
absl::StatusOr<GroupSizes> SizesOfGroup(const std::vector<const Graph*>& regions,
                                        const std::vector<const Graph*>& flat, const Witnesses& witnesses);

struct OpenGroup {
  KernelChoice choice;
  // Why the chooser's choice does not apply to open extents, if the group has a product; else empty.
  std::string why_slow;
  ScheduledGroup scheduled;  // the workload is that of the first region
};
// The first choice of these whose primitives apply to open extents: the chooser's, then the general strategy.
// If neither does, the loops are as the definition has them.
absl::StatusOr<OpenGroup> ScheduleOpenGroup(const std::vector<const Graph*>& regions,
                                            const GroupIdentity& identity, const GroupSizes& sizes,
                                            const Target& target, const KernelChooser& chooser);

}  // namespace attune

#endif  // ATTUNE_PLAN_OPEN_GROUP_H_
