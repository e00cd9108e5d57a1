// Reads sorted string tables, the file format of LevelDB that checkpoints have their index in.
#ifndef ATTUNE_IMPORT_TENSORFLOW_SORTED_TABLE_H_
#define ATTUNE_IMPORT_TENSORFLOW_SORTED_TABLE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune::tensorflow {

// All entries of the table that `bytes` are. Blocks may be compressed with Snappy; their checksums are not
// verified. Any bytes may be given: what is read and what is allocated is bounded. InvalidArgument where they
// are no table, or a damaged one.
//
// The format, from https://github.com/google/leveldb/blob/main/doc/table_format.md: blocks of entries, an
// index block whose values say where the blocks lie, and a footer that says where the index lies. An entry
// shares the beginning of its key with the entry before it.
absl::StatusOr<std::map<std::string, std::string>> ReadSortedTable(std::string_view bytes);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_SORTED_TABLE_H_
