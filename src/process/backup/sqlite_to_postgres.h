// Moves the state of a server with SQLite files into PostgreSQL.
//
// Problem: beside SQLite, blobs are files in folders that do not name their owners, and the authority's keys
// are a file too; in PostgreSQL all of them are rows. Idea: rows are copied as a backup has them; they name
// the owners, whose blobs are then taken from the folders by the store that will have them. Price: uploads
// that are not complete begin again.
#ifndef ATTUNE_PROCESS_BACKUP_SQLITE_TO_POSTGRES_H_
#define ATTUNE_PROCESS_BACKUP_SQLITE_TO_POSTGRES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"

namespace attune {

// No other process may use the state meanwhile, and the database must have no tables of a server. Keeps in
// the folder what a server with PostgreSQL has there. Returns the number of rows. If it fails, the database
// is as before, and the folder is of no use any more.
absl::StatusOr<int64_t> MoveToPostgres(const std::string& folder, const SqlLocation& database);

}  // namespace attune

#endif  // ATTUNE_PROCESS_BACKUP_SQLITE_TO_POSTGRES_H_
