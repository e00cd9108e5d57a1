// A file of a job that comes from the server in pieces.
#ifndef ATTUNE_SERVICE_CLIENT_ARRIVING_FILE_H_
#define ATTUNE_SERVICE_CLIENT_ARRIVING_FILE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "work/job/job_spec.h"

namespace attune {

// Writes what comes, and keeps it only if it is what the server has named. The arguments must outlive it.
class ArrivingFile {
 public:
  ArrivingFile(const JobFile& file, OutputFile& output) : file_(file), output_(output) {}

  int64_t bytes() const { return file_.bytes; }
  // The bytes that have come.
  const int64_t& position() const { return position_; }
  // Adds the bytes at position(). DataLoss if there are too many.
  absl::Status Add(std::string_view piece);
  // DataLoss unless it is whole and has its digest.
  absl::Status Finish();
  // The DataLoss of one that is not what was named.
  absl::Status IsAnother() const;

 private:
  const JobFile& file_;
  OutputFile& output_;
  Sha256 sum_;
  int64_t position_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_ARRIVING_FILE_H_
