// Takes submissions and questions about jobs, from each protocol.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_DESK_H_
#define ATTUNE_SERVICE_QUEUE_JOB_DESK_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/input_file.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/fleet_parts.h"
#include "service/queue/job_schedule.h"
#include "service/wire/jobs.pb.h"

namespace attune {

struct OpenedJobFile {
  InputFile file;
  std::string digest = {};  // SHA-256, that it had when it was kept
};

// Thread safe. The arguments must outlive it. Errors are for those who ask; Unavailable passes by itself.
class JobDesk {
 public:
  JobDesk(JobSchedule& schedule, const FleetParts& parts) : schedule_(schedule), parts_(parts) {}

  // Takes all jobs of the submission, or none; the same key of the same owner again submits nothing and
  // returns the same jobs. Their inputs are copied from what the owner has sent to `sent`, which may then
  // forget them. `by`: who submits, for the log. `records`: that tuning jobs begin with, as JSON lines,
  // unless they name some or are to know of none; empty: there are none.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> Submit(
      const std::string& owner, const std::string& by, const jobs_service_proto::Submission& submission,
      BlobStore& sent, const std::string& records = "");
  // The same for one job whose result is there already: it is done at once, and needs none of its inputs. The
  // one file of the result is that of another job, whose files have the owner `files_owner`
  // (JobSchedule::files()).
  struct KnownResult {
    std::string files_owner = {};
    JobFile file = {};
    std::string result = {};  // JSON
  };
  absl::StatusOr<std::vector<jobs_service_proto::Job>> SubmitKnown(
      const std::string& owner, const std::string& by, const jobs_service_proto::Submission& submission,
      const KnownResult& known);
  // The first job that came under this key of the owner's; nothing if none did.
  absl::StatusOr<std::optional<jobs_service_proto::Job>> FindSubmitted(const std::string& owner,
                                                                       const std::string& key);
  // The latest first.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> List(const JobQuery& query, bool with_judged = false) {
    return schedule_.List(query, with_judged);
  }
  // NotFound if there is no such job, here and below.
  absl::StatusOr<jobs_service_proto::JobDetail> Show(const JobQuery& query) { return schedule_.Show(query); }
  absl::StatusOr<JobRecord> Find(const JobQuery& query) { return schedule_.Find(query); }
  // As in JobSchedule.
  absl::StatusOr<std::string> RecordsForOthers(const JobQuery& query, const std::string& device,
                                               int threads) {
    return schedule_.RecordsForOthers(query, device, threads);
  }
  BlobStore& files() { return schedule_.files(); }
  // JobSchedule::TellEnded().
  void TellEnded(std::function<void(const std::string& job)> on_ended) {
    schedule_.TellEnded(std::move(on_ended));
  }
  // As JobSchedule::Changes().
  absl::StatusOr<std::vector<jobs_service_proto::Job>> Changes(std::vector<JobMark>& marks) {
    return schedule_.Changes(marks);
  }
  absl::StatusOr<jobs_service_proto::Job> Cancel(const JobQuery& query, const std::string& by);
  // As in JobSchedule.
  absl::StatusOr<int64_t> Unfinished(const std::string& owner) { return schedule_.Unfinished(owner); }
  absl::StatusOr<MachineLack> LackOf(const std::string& owner) { return schedule_.LackOf(owner); }
  absl::StatusOr<int64_t> StoredBytes(const std::string& owner) { return schedule_.StoredBytes(owner); }
  absl::StatusOr<bool> RemoveJobs(const std::string& owner) { return schedule_.RemoveJobs(owner); }
  // Opens a file of the job. Its bytes may be damaged, and then have another digest.
  absl::StatusOr<OpenedJobFile> OpenFile(const JobQuery& query, const std::string& name);
  // Whether jobs can be stored now.
  bool AreKept() const { return schedule_.counts().are_kept; }

  // By which the artifacts of jobs are signed.
  const ArtifactSigner& signer() const { return schedule_.signer(); }
  SharedLearning& learning() { return schedule_.learning(); }

 private:
  absl::StatusOr<std::vector<JobRecord>> Checked(const std::string& owner, const std::string& key,
                                                 const jobs_service_proto::Submission& submission) const;
  absl::Status KeepAll(const std::string& owner, const std::vector<JobRecord>& jobs, BlobStore& sent);
  absl::Status Keep(const std::string& owner, const JobRecord& job, const JobFile& file, BlobStore& sent);
  void ForgetAll(const std::vector<JobRecord>& jobs);

  // Tuning jobs without a cost model of their own begin with the one that jobs share, and those without
  // records with these.
  absl::Status GiveWhatIsKnown(const std::string& key, const std::string& records,
                               std::vector<JobRecord>& jobs);
  // Makes the text an input of the job, which the setting names.
  absl::Status Give(const std::string& setting, const std::string& file, const std::string& text,
                    JobRecord& job);
  // A file of the job's.
  absl::Status KeepText(const std::string& job, const std::string& digest, std::string_view text);

  JobSchedule& schedule_;
  const FleetParts parts_;
  std::mutex submit_mutex_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_DESK_H_
