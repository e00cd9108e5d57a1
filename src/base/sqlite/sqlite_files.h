// Restricts the files that a SQLite connection may touch.
//
// Problem: SQLite trusts the files beside a database. A rollback journal may name a "super-journal", any path
// at all, which SQLite deletes once it has rolled back the journal's transaction; and it overwrites a log or
// an index that is a link to another file. So an attacker who makes us open a database could destroy our
// other files. Idea: each connection has its own SQLite VFS in front of the system's. It knows the names of
// the database, its journal and its log, and refuses all other files. We never combine transactions of
// several files, so our own journals name no super-journal.
#ifndef ATTUNE_BASE_SQLITE_SQLITE_FILES_H_
#define ATTUNE_BASE_SQLITE_SQLITE_FILES_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct sqlite3_file;
struct sqlite3_vfs;

namespace attune {

// For one connection, and one thread at a time. Must outlive the connection.
class SqliteFiles {
 public:
  // In front of the SQLite VFS with the name `base`; of the system's if that is empty.
  static absl::StatusOr<std::unique_ptr<SqliteFiles>> Create(const std::string& base);
  ~SqliteFiles();
  SqliteFiles(const SqliteFiles&) = delete;
  SqliteFiles& operator=(const SqliteFiles&) = delete;

  // The VFS name for sqlite3_open_v2().
  const char* vfs_name() const { return name_.c_str(); }

  // Why a file was refused since the last call, as a text between the database's name and advice to remove
  // that file; empty if no file was.
  std::string TakeRefusal();

 private:
  explicit SqliteFiles(sqlite3_vfs* base);

  // Functions of the VFS; `self` leads to this object.
  static int Open(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out_flags);
  static int Delete(sqlite3_vfs* self, const char* name, int sync);
  static int Access(sqlite3_vfs* self, const char* name, int flags, int* result);

  // If `name` must not be touched, notes the reason and returns true.
  bool Refuses(std::string_view name);
  bool RefusesBeside(std::string_view suffix);

  sqlite3_vfs* const base_;
  const std::unique_ptr<sqlite3_vfs> vfs_;
  const std::string name_;
  std::string database_;  // its path, without symbolic links; empty until it is opened
  std::string refusal_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_SQLITE_SQLITE_FILES_H_
