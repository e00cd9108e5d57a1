// One job as its file describes it, and what it gets from the process that runs it.
#ifndef ATTUNE_WORK_JOB_JOB_SPEC_H_
#define ATTUNE_WORK_JOB_JOB_SPEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace attune {

class MeasuringService;  // measure/service.h

struct JobSpec {
  std::string id;    // differs from all others of the same schedule; one line
  std::string kind;  // a name among the JobKinds (kind.h)
  std::string owner = {};
  int priority = 0;                             // higher goes first
  std::optional<double> deadline_seconds = {};  // after the schedule has begun
  nlohmann::json settings = {};                 // an object; the kind knows its keys
  std::string base = {};                        // the folder that relative paths in the settings start from
  std::string agreement = {};                   // on a server: what was promised, JSON; empty: nothing was
  std::string on = {};                          // the key of a device elsewhere; empty: it measures here
  // A job on a server may have parts, which run at the same time and are jobs of the schedule as well: how
  // many (1: it has none), and which of them this is, from 1. 0: the whole job, which follows when all have
  // ended.
  int parts = 1, part = 0;
};

// Between the id of a whole job and the number of a part, in the part's id.
inline constexpr char kPartEnding[] = ".part";

// A file below a job's folder that is kept elsewhere too.
struct JobFile {
  std::string name;    // with slashes between its parts
  std::string digest;  // SHA-256, 64 hexadecimal digits
  int64_t bytes = 0;

  bool operator==(const JobFile&) const = default;
};

// How far the process of a job is confined (job_sandbox.h).
enum class Confinement : uint8_t {
  kNone,        // the user who runs the job has submitted it
  kIfPossible,  // as far as the system can
  kMust,        // jobs of others are beside it: it does not run unless it is kept from their files
};

// The place where a job runs.
struct JobPlace {
  std::string id;                    // the job's
  std::string folder;                // exists, belongs to this job alone, and outlives the process
  int64_t position = 0;              // how many of the job's stages have ended before, in other processes
  int processors = 1;                // the most that a stage can be granted
  std::vector<std::string> devices;  // the keys of the devices, each once
  // If the job measures on a device elsewhere: the device's key, what proves that it may, and, in the process
  // that has the job, the service that measures there.
  std::string on = {}, credentials = {};
  std::shared_ptr<MeasuringService> service = nullptr;
  Confinement confinement = Confinement::kNone;
};

}  // namespace attune

#endif  // ATTUNE_WORK_JOB_JOB_SPEC_H_
