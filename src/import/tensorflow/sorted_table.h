// Reads sorted string tables, the file format of LevelDB, which checkpoints use for their index.
#ifndef ATTUNE_IMPORT_TENSORFLOW_SORTED_TABLE_H_
#define ATTUNE_IMPORT_TENSORFLOW_SORTED_TABLE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune::tensorflow {

// All entries of the table in `bytes`. Blocks may be compressed with Snappy; their checksums are not
// verified. Safe for any bytes: reads and allocations are bounded. InvalidArgument if the table is damaged,
// or not a table.
//
// The format, from https://github.com/google/leveldb/blob/main/doc/table_format.md: blocks of entries, an
// index block whose values locate the blocks, and a footer that locates the index. An entry shares the
// beginning of its key with the previous entry.
absl::StatusOr<std::map<std::string, std::string>> ReadSortedTable(std::string_view bytes);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_SORTED_TABLE_H_
