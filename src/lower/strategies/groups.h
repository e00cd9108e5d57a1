// Groups of stages that one root loop nest computes together.
#ifndef ATTUNE_LOWER_STRATEGIES_GROUPS_H_
#define ATTUNE_LOWER_STRATEGIES_GROUPS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensor/compute.h"

namespace attune {

// A stage that is computed at a loop of its group's root. `along` says which of its axes runs along with an
// axis of the root.
struct Member {
  Stage stage;
  std::map<size_t, size_t> along;  // root axis → own axis
};

// A root stage, and the stages that only the group reads. Each element belongs to one row, a combination of
// values of the root's row axes, so all stages can be computed row by row.
struct StageGroup {
  Stage root;
  std::vector<Member> members;  // readers before the stages that they read
  std::vector<size_t> rows;     // axes of the root, ascending
};

// The group of stages[index]. Stages whose names are in `taken` belong to other groups; `kept` are the
// buffers that exist beyond the kernel.
StageGroup FindGroup(const std::vector<Stage>& stages, size_t index, const std::set<std::string>& taken,
                     const std::set<Buffer>& kept);

// Whether a statement reads `buffer`.
bool Reads(const Stmt& s, const Buffer& buffer);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_GROUPS_H_
