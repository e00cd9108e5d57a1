// The files that a SQLite connection may touch.
//
// Problem: SQLite believes what lies beside a database. A rollback journal may name a "super-journal", any
// path at all, which SQLite deletes once it has undone the journal's transaction; and it overwrites a log or
// an index that is a link to another file. Whoever gets us to open a database could so destroy our other
// files. Idea: each connection has a SQLite VFS of its own, in front of the system's, that knows the
// database, its journal and its log by name and refuses all else. We never join transactions of several
// files, so that no journal of ours names a super-journal.
#ifndef ATTUNE_TUNE_RECORDS_SQLITE_FILES_H_
#define ATTUNE_TUNE_RECORDS_SQLITE_FILES_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct sqlite3_file;
struct sqlite3_vfs;

namespace attune {

// For one connection, and one thread at a time. Outlives the connection.
class SqliteFiles {
 public:
  // In front of the SQLite VFS of the name `base`; of the system's where that is empty.
  static absl::StatusOr<std::unique_ptr<SqliteFiles>> Create(const std::string& base);
  ~SqliteFiles();
  SqliteFiles(const SqliteFiles&) = delete;
  SqliteFiles& operator=(const SqliteFiles&) = delete;

  // What sqlite3_open_v2() is given.
  const char* vfs_name() const { return name_.c_str(); }

  // Why a file was refused since this was last asked, to stand behind the database's name; empty where none
  // was.
  std::string TakeRefusal();

 private:
  explicit SqliteFiles(sqlite3_vfs* base);

  // Of a VFS, whose `self` leads to this object.
  static int Open(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out_flags);
  static int Delete(sqlite3_vfs* self, const char* name, int sync);
  static int Access(sqlite3_vfs* self, const char* name, int flags, int* result);

  // Notes why `name` may not be touched, and returns true; false where it may.
  bool Refuses(std::string_view name);
  bool RefusesBeside(std::string_view suffix);

  sqlite3_vfs* const base_;
  const std::unique_ptr<sqlite3_vfs> vfs_;
  const std::string name_;
  std::string database_;  // its path, without symbolic links; empty until it is opened
  std::string refusal_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_SQLITE_FILES_H_
