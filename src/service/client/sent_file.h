// The content that a server has of a file, so that only what has changed is sent.
//
// Problem: a database changes in a few places after each stage of a job, and is sent after each. Idea:
// content is compared in chunks of fixed length, since databases write pages where they were; what is the
// same is told and not sent. The digest of the whole shows whether the server has put together the same.
// Cost: bytes that are inserted change all chunks after them.
#ifndef ATTUNE_SERVICE_CLIENT_SENT_FILE_H_
#define ATTUNE_SERVICE_CLIENT_SENT_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/input_file.h"

namespace attune {

inline constexpr int64_t kFileChunkBytes = int64_t{16} << 10;

struct SentFile {
  std::string digest = {};
  std::vector<std::string> chunks = {};  // the digest of each, whose last one may be shorter
};

absl::StatusOr<SentFile> SentFileOf(const InputFile& file, const std::string& digest);

// A part of a file: all of it is as it was before at the same offset, or it has to be sent.
struct FileRun {
  int64_t offset = 0, bytes = 0;
  bool is_same = false;

  bool operator==(const FileRun&) const = default;
};
// The runs of a file of `bytes` bytes, in order, each of at most `most` bytes if it has to be sent. An empty
// file is one empty run.
std::vector<FileRun> RunsOf(const SentFile& before, const SentFile& now, int64_t bytes, int64_t most);

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_SENT_FILE_H_
