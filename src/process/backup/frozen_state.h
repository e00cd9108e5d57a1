// The state of a server at one moment, while the server runs.
//
// Problem: a server's databases and blobs change all the time, and refer to one another: rows name blobs,
// which are removed when no row does. Idea: for a moment, no process may write to any of the databases.
// Meanwhile each is given a reader, which sees it as it is now however long it reads, and every other file
// gets one more name in a folder of ours, which keeps it even if the server removes its own. Files are
// written once or appended to, so that their first bytes stay as they are. Price: writers wait for as long as
// it takes to make these names, and databases are copied, beside the state, before they are read.
#ifndef ATTUNE_PROCESS_BACKUP_FROZEN_STATE_H_
#define ATTUNE_PROCESS_BACKUP_FROZEN_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

struct FrozenFile {
  std::string path = {};    // below the state's folder
  std::string source = {};  // where its bytes are
  int64_t mode = 0, bytes = 0;
  std::string same_as = {};  // the path of an earlier one that it is another name of; empty: none
};

// Its folder is removed in the end.
class FrozenState {
 public:
  // Unavailable if another process keeps a database locked for too long.
  static absl::StatusOr<FrozenState> Of(const std::string& folder);
  ~FrozenState();
  FrozenState(FrozenState&& other) noexcept;
  FrozenState& operator=(FrozenState&&) = delete;

  // In the order of their paths.
  const std::vector<FrozenFile>& files() const { return files_; }
  int64_t time_ms() const { return time_ms_; }  // of the moment, since 1970, UTC

 private:
  FrozenState() = default;

  std::string staging_;
  std::vector<FrozenFile> files_;
  int64_t time_ms_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_BACKUP_FROZEN_STATE_H_
