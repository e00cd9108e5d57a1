// Names of nodes that come from files: as long as a file likes, and repeated by each call that is expanded.
#ifndef ATTUNE_IMPORT_COMMON_NAMES_H_
#define ATTUNE_IMPORT_COMMON_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace attune::importing {

// No name that an import gives a node, a region or what belongs to one is longer, in bytes.
inline constexpr size_t kMaxNameLength = 512;

// `prefix` (the path of calls that a node is expanded from) and `name` as one. Where both together are too
// long, the end stays, which tells the nodes of one call apart, behind "...".
std::string ScopedName(std::string_view prefix, std::string_view name);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_NAMES_H_
