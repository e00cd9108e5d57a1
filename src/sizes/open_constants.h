// Constants that an import has made of sizes, such as positions and masks, as operators that compute them.
#ifndef ATTUNE_SIZES_OPEN_CONSTANTS_H_
#define ATTUNE_SIZES_OPEN_CONSTANTS_H_

#include <span>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace attune {

// Rewrites the imported graphs of one network at several sizes, in the same way each.
//
// A constant that differs between them becomes an iota, a broadcast where all its elements are one number, or
// a concat of its elements where it is a short list of sizes.
// Other constants that are operands of nodes whose attributes differ are frozen, so that no pass computes at
// one size what depends on it. Fails with NotSupported where the graphs differ in more than sizes, or where a
// constant has other values at each size; it names the node.
absl::Status OpenConstants(std::span<Graph* const> graphs);

}  // namespace attune

#endif  // ATTUNE_SIZES_OPEN_CONSTANTS_H_
