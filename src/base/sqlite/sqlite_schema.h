// Makes the tables of a database, and recognizes those of other programs and of newer versions.
#ifndef ATTUNE_BASE_SQLITE_SQLITE_SCHEMA_H_
#define ATTUNE_BASE_SQLITE_SQLITE_SCHEMA_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "base/sqlite/sqlite.h"

namespace attune {

// A step from the tables of one version to those of the next.
struct SqliteUpgrade {
  int from = 0;
  const char* statement = nullptr;
};

struct SqliteSchema {
  int64_t application_id = 0;                    // identifies the file as ours
  int version = 0;                               // of the tables
  std::span<const char* const> statements;       // that make the tables
  std::span<const SqliteUpgrade> upgrades = {};  // in order; from all versions that this one can read
  DatabaseWords words = {};
};

// Creates the missing folders of the database's path. Errors name the path.
absl::Status MakeFoldersOf(const std::string& path, const SqliteSchema& schema);

// Makes the tables if the database is new and `access` allows it, or brings older ones up to date, and sets
// how it is written: safe if the process ends suddenly, without waiting for the disk. Errors name the file.
absl::Status PrepareDatabase(SqliteConnection& connection, const SqliteSchema& schema, DatabaseAccess access);

}  // namespace attune

#endif  // ATTUNE_BASE_SQLITE_SQLITE_SCHEMA_H_
