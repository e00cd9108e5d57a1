#include "service/client/sent_file.h"

#include <algorithm>

#include "base/file.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<SentFile> SentFileOf(const InputFile& file, const std::string& digest) {
  SentFile sent = {.digest = digest};
  std::string chunk;
  for (int64_t offset = 0; offset < file.bytes; offset += kFileChunkBytes) {
    chunk.resize(static_cast<size_t>(std::min(kFileChunkBytes, file.bytes - offset)));
    RETURN_IF_ERROR(ReadRange(file, offset, std::ssize(chunk), chunk.data()));
    sent.chunks.push_back(Sha256Hex(chunk));
  }
  return sent;
}

std::vector<FileRun> RunsOf(const SentFile& before, const SentFile& now, int64_t bytes, int64_t most) {
  std::vector<FileRun> runs;
  for (size_t i = 0; i < now.chunks.size(); ++i) {
    const int64_t offset = static_cast<int64_t>(i) * kFileChunkBytes;
    const int64_t length = std::min(kFileChunkBytes, bytes - offset);
    const bool is_same = i < before.chunks.size() && before.chunks[i] == now.chunks[i];
    const bool joins =
        !runs.empty() && runs.back().is_same == is_same && (is_same || runs.back().bytes + length <= most);
    if (joins) {
      runs.back().bytes += length;
    } else {
      runs.push_back({.offset = offset, .bytes = length, .is_same = is_same});
    }
  }
  if (runs.empty()) runs.emplace_back();
  return runs;
}

}  // namespace attune
