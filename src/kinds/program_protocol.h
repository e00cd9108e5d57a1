// The lines that a job's program and its job exchange: docs/job-protocol.md.
#ifndef ATTUNE_KINDS_PROGRAM_PROTOCOL_H_
#define ATTUNE_KINDS_PROGRAM_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/job.h"
#include "work/job/job_spec.h"

namespace attune {

// It counts up with each change that a program of the version before would not understand.
inline constexpr int kProgramProtocolVersion = 1;
// The most bytes of a line, without the character that ends it.
inline constexpr size_t kMostLineBytes = size_t{1} << 20;

// Lines for the program, each with the character that ends it. `files` are those that it is to read.
std::string OpeningLine(const JobSpec& spec, const JobPlace& place, const std::vector<std::string>& files);
std::string RunLine(const JobGrant& grant);
std::string CancelLine();

struct ProgramAnswer {
  enum class Kind : uint8_t {
    kProgress,  // not an answer yet: the stage still runs
    kStage,
    kDone,
    kFailed,
  };
  Kind kind = Kind::kProgress;
  std::string progress;  // printable; empty if the program says nothing about it
  JobStage stage = {};
  double remaining_seconds = 0;
  std::string result = {};  // a JSON object
  std::string why = {};     // it has failed; printable
};

// Reads a line from the program, without the character that ends it. The keys of its needs are resolved:
// "device" becomes the key of the place's first device. Fails, saying what is wrong but not quoting the line,
// if it is no such message, has a field that there is not, or asks for what the place cannot have.
absl::StatusOr<ProgramAnswer> ParseProgramAnswer(std::string_view line, const JobPlace& place);

}  // namespace attune

#endif  // ATTUNE_KINDS_PROGRAM_PROTOCOL_H_
