// Means of feature maps, in the kernels that make the maps.
#ifndef ATTUNE_PLAN_AVERAGES_H_
#define ATTUNE_PLAN_AVERAGES_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "target/target.h"

namespace attune {

// Of a graph whose groups have their layouts: a group that only averages each channel of another group's
// result becomes a second output of that group, where its kernel adds up rows as it makes them.
absl::Status FuseAverages(Graph& graph, const Target& target);

}  // namespace attune

#endif  // ATTUNE_PLAN_AVERAGES_H_
