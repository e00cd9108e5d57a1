// Names of nodes from files, which may be arbitrarily long, and which each expanded call repeats.
#ifndef ATTUNE_IMPORT_COMMON_NAMES_H_
#define ATTUNE_IMPORT_COMMON_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace attune::importing {

// The maximum length in bytes of a name that an import gives a node, a region or anything in them.
inline constexpr size_t kMaxNameLength = 512;

// Joins `prefix` (the path of calls from which a node is expanded) and `name`. If the result is too long,
// the end is kept after "...", since it distinguishes the nodes of a call.
std::string ScopedName(std::string_view prefix, std::string_view name);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_NAMES_H_
