#include "service/queue/job_reader.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/records/job_records.h"

namespace attune {

namespace proto = jobs_service_proto;

absl::StatusOr<std::vector<proto::Job>> JobReader::List(const JobQuery& query, bool with_judged) {
  return queue_.Read([&](const KnownJobs& known) { return known.List(query, with_judged); });
}

absl::StatusOr<proto::JobDetail> JobReader::Show(const JobQuery& query) {
  return queue_.Read([&](const KnownJobs& known) -> absl::StatusOr<proto::JobDetail> {
    ASSIGN_OR_RETURN(const auto found, known.Find(query));
    return known.Detail(found.first, found.second);
  });
}

absl::StatusOr<JobRecord> JobReader::Find(const JobQuery& query) {
  return queue_.Read([&](const KnownJobs& known) -> absl::StatusOr<JobRecord> {
    ASSIGN_OR_RETURN(auto found, known.Find(query));
    return std::move(found.second);
  });
}

absl::StatusOr<std::vector<proto::Job>> JobReader::Changes(std::vector<JobMark>& marks) {
  return queue_.Read([&](const KnownJobs& known) { return known.Changes(marks); });
}

absl::StatusOr<OpenedJobFile> JobReader::OpenFile(const JobQuery& query, const std::string& name) {
  ASSIGN_OR_RETURN(const JobRecord job, Find(query));
  const auto file = std::ranges::find(job.files, name, &JobFile::name);
  if (file == job.files.end())
    return absl::NotFoundError(absl::StrCat(query.id, ": has no file \"", name, "\""));
  ASSIGN_OR_RETURN(auto blob, files_.Read(job.spec.base, file->digest));
  return OpenedJobFile{.file = {std::move(blob.first), blob.second}, .digest = file->digest};
}

absl::StatusOr<std::string> JobReader::RecordsForOthers(const JobQuery& query, const std::string& device,
                                                        int threads) {
  ASSIGN_OR_RETURN(const JobRecord job, Find(query));
  const std::lock_guard<std::mutex> lock(folder_mutex_);
  ASSIGN_OR_RETURN(const std::unique_ptr<JobRecords> records, JobRecords::Open(job, files_, folder_));
  return records->ForOthers(device, threads);
}

absl::StatusOr<int64_t> JobReader::Unfinished(const std::string& owner) {
  return queue_.Read([&](const KnownJobs& known) { return known.Unfinished(owner); });
}

absl::StatusOr<int64_t> JobReader::StoredBytes(const std::string& owner) {
  constexpr int64_t kJobsAtOnce = 300;   // so that the schedule continues in between
  constexpr size_t kTellingDigits = 15;  // hexadecimal; a short string needs no memory of its own
  JobQuery query = {.owner = owner, .with_parts = true, .most = kJobsAtOnce, .results = ResultsWanted::kNone};
  // The store has each content once, however many jobs and parts of jobs share it.
  std::unordered_set<std::string> counted;
  int64_t bytes = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const auto found,
                     queue_.Read([&](const KnownJobs& known) { return known.Jobs(query); }));
    for (const auto& [number, job] : found)
      for (const JobFile& file : job.files)
        if (counted.insert(file.digest.substr(0, kTellingDigits)).second) bytes += file.bytes;
    if (std::ssize(found) < kJobsAtOnce) return bytes;
    query.before = found.begin()->second.spec.id;
  }
}

absl::StatusOr<MachineLack> JobReader::LackOf(const std::string& owner) {
  return queue_.Ask(
      [&](LiveSchedule& schedule) -> absl::StatusOr<MachineLack> { return schedule.hosts().LackOf(owner); });
}

}  // namespace attune
