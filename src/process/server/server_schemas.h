// The tables of all stores of a server.
#ifndef ATTUNE_PROCESS_SERVER_SERVER_SCHEMAS_H_
#define ATTUNE_PROCESS_SERVER_SERVER_SCHEMAS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"

namespace attune {

// SQLite has neither blobs, which are in folders, nor servers that share it.
std::vector<const SqlSchema*> ServerSchemas(const SqlLocation& location);

struct StoreVersion {
  std::string store = {};
  int64_t version = 0, latest = 0;  // of its tables, and that of this program
};

// Returns the stores that exist, in the fixed order of the list of stores.
absl::StatusOr<std::vector<StoreVersion>> StoreVersions(const SqlLocation& location);

// Brings the tables of one store, of all if it is empty, to a version: the latest if it is negative. NotFound
// if there is no such store, FailedPrecondition if a server uses them.
absl::Status MigrateStores(const SqlLocation& location, const std::string& store, int64_t version);

// Removes all tables from a database in PostgreSQL, with all that they hold. FailedPrecondition if a
// server uses it.
absl::Status RemoveStores(const SqlLocation& location);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_SERVER_SCHEMAS_H_
