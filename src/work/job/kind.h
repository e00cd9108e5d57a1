// The kinds of jobs.
//
// A kind makes a Job (base/job.h) from settings. All that runs and schedules jobs knows kinds by this
// interface alone, and is given a table of them: the program's own is in kinds/kinds.h.
#ifndef ATTUNE_WORK_JOB_KIND_H_
#define ATTUNE_WORK_JOB_KIND_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/job.h"
#include "work/job/job_spec.h"

namespace attune {

// A setting that names what a job reads: a file or folder, or a list of these.
struct InputSetting {
  std::string_view name;
  // A value that names no file; empty: there is none.
  std::string_view none = {};
  // The files that belong to one that is named, relative to its folder; null: there are none.
  absl::StatusOr<std::vector<std::string>> (*files_beside)(const std::string& path) = nullptr;
};

// A setting that names what a job writes: a file or folder.
struct OutputSetting {
  std::string_view name;
  // A job on a server without this setting writes it nevertheless, under the name of its first input without
  // the ending, followed by this. Empty: it does not write it.
  std::string_view ending_on_server = {};
};

// A setting that makes sense only for a job on this machine, or only for one on a server.
struct PlacedSetting {
  std::string_view name;
  std::string_view why_not;  // for people: why it is refused in the other place
};

struct JobKind {
  std::string_view name;
  std::string_view help;  // what such a job does, for people
  // Fails if a setting is missing, unknown or wrong. Cheap: opens no file. The error names the setting.
  absl::Status (*check)(const JobSpec& spec);
  // Makes the job, which resumes from the files that an earlier process has left in its folder or elsewhere.
  // May take seconds: it loads models.
  absl::StatusOr<std::unique_ptr<Job>> (*open)(const JobSpec& spec, const JobPlace& place);
  // The stages that the job will ask for, as far as its settings tell; null: they cannot be predicted.
  std::vector<JobStage> (*foreseen)(const JobSpec& spec, const JobPlace& place);
  // The subject of the job, such as its model's name: jobs with the same one take about as long.
  std::string (*subject)(const JobSpec& spec);
  std::span<const InputSetting> inputs = {};
  std::span<const OutputSetting> outputs = {};
  // Only for jobs on this machine, and only for those on a server.
  std::span<const PlacedSetting> local = {}, remote = {};
  // Whether a job may have parts (JobSpec). The whole job finds their files below PartFolder().
  bool can_be_split = false;
};

// The folder of a part's files in the folder of the whole job, with a slash at its end.
std::string PartFolder(int part);

// A table of kinds. Immutable; the rows must outlive it.
class JobKinds {
 public:
  constexpr explicit JobKinds(std::span<const JobKind> rows) : rows_(rows) {}

  std::span<const JobKind> rows() const { return rows_; }
  // Returns null if there is none with this name.
  const JobKind* Find(std::string_view name) const;
  // Returns the subject of the job; empty if its kind is not known.
  std::string SubjectOf(const JobSpec& spec) const;

  // Fails, naming the job, if there is no such kind or it finds a setting wrong.
  absl::Status Check(const JobSpec& spec) const;
  // Fail, naming the job and the setting, if it has one that makes sense only in the other place. The kind
  // must be known.
  absl::Status CheckForThisMachine(const JobSpec& spec) const;
  absl::Status CheckForServer(const JobSpec& spec) const;

 private:
  std::span<const JobKind> rows_;
};

}  // namespace attune

#endif  // ATTUNE_WORK_JOB_KIND_H_
