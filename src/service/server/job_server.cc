#include "service/server/job_server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/server/blob_pieces.h"
#include "fleet/server/caller.h"
#include "fleet/server/server_stream.h"
#include "fleet/wire/rpc_status.h"
#include "service/job_files.h"
#include "service/server/submitted_job.h"
#include "service/wire/jobs.grpc.pb.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr std::initializer_list<FleetRole> kClients = {FleetRole::kClient, FleetRole::kOperator};
constexpr int kMostListed = 1000, kMostJobs = 10'000;
constexpr size_t kMostKeyBytes = 256;

// An operator sees the jobs of all owners.
JobQuery QueryOf(const FleetIdentity& who, const std::string& id = "") {
  return {.id = id, .owner = who.role == FleetRole::kOperator ? "" : who.owner};
}

absl::Status NotItsJob() { return absl::PermissionDeniedError("this runner does not have the job"); }

class JobServer final : public FleetExtension,
                        public proto::Jobs::WithCallbackMethod_Run<proto::Jobs::Service> {
 public:
  JobServer(std::unique_ptr<JobSchedule> schedule, const FleetServerParts& parts)
      : parts_(parts), schedule_(std::move(schedule)) {}

  grpc::Service& service() override { return *this; }
  void AddMetrics(MetricsText& text) const override {
    const JobCounts counts = schedule_->counts();
    text.Begin("attune_jobs", "gauge", "Submitted jobs that are not over, by their state.");
    text.Add(static_cast<double>(counts.waiting), {{"state", "waiting"}});
    text.Add(static_cast<double>(counts.running), {{"state", "running"}});
    text.Begin("attune_jobs_runners", "gauge", "Runners that are connected.");
    text.Add(static_cast<double>(counts.runners));
    text.Begin("attune_jobs_stages_ended_total", "counter",
               "Stages of jobs that have ended, in whatever way.");
    text.Add(static_cast<double>(counts.stages));
    text.Begin("attune_jobs_are_kept", "gauge", "Whether jobs can be stored: 0 while the disk is full.");
    text.Add(counts.are_kept ? 1 : 0);
  }
  absl::Status Begin() override { return schedule_->Begin(); }
  void Stop() override { schedule_->Stop(); }
  void Close(const MemberRefusal& refusal) override { schedule_->hub().Close(refusal); }

  grpc::Status Submit(grpc::ServerContext* context, const proto::Submission* request,
                      proto::JobList* answer) override {
    const auto who = CallerOf(*context, kClients, parts_.admission);
    return who.ok() ? GiveList(Submitted(who->who, *request), answer) : ToRpc(who.status());
  }

  grpc::Status List(grpc::ServerContext* context, const proto::ListRequest* request,
                    proto::JobList* answer) override {
    const auto who = CallerOf(*context, kClients, parts_.admission);
    if (!who.ok()) return ToRpc(who.status());
    JobQuery query = QueryOf(who->who);
    query.unfinished = request->unfinished();
    query.most = request->most() > 0 ? std::min(request->most(), kMostListed) : kMostListed;
    return GiveList(schedule_->List(query), answer);
  }

  grpc::Status Show(grpc::ServerContext* context, const proto::JobName* request,
                    proto::JobDetail* answer) override {
    const auto who = CallerOf(*context, kClients, parts_.admission);
    if (!who.ok()) return ToRpc(who.status());
    return Give(schedule_->Show(QueryOf(who->who, request->id())), answer);
  }

  grpc::Status Cancel(grpc::ServerContext* context, const proto::JobName* request,
                      proto::Job* answer) override {
    const auto who = CallerOf(*context, kClients, parts_.admission);
    if (!who.ok()) return ToRpc(who.status());
    absl::StatusOr<proto::Job> cancelled = schedule_->Cancel(QueryOf(who->who, request->id()));
    Log(LogLevel::kInfo, "job is cancelled", "job", request->id(), "by", who->who.id, "result",
        cancelled.status().ToString());
    return Give(std::move(cancelled), answer);
  }

  grpc::Status ReadFile(grpc::ServerContext* context, const proto::FileRequest* request,
                        grpc::ServerWriter<proto::FilePiece>* pieces) override {
    const auto who =
        CallerOf(*context, {FleetRole::kClient, FleetRole::kOperator, FleetRole::kRunner}, parts_.admission);
    return ToRpc(who.ok() ? GiveFile(who->who, *request, *pieces) : who.status());
  }

  grpc::Status WriteFile(grpc::ServerContext* context, grpc::ServerReader<proto::FilePiece>* pieces,
                         proto::FileWritten* /*answer*/) override {
    const auto who = CallerOf(*context, {FleetRole::kRunner}, parts_.admission);
    return ToRpc(who.ok() ? TakeFile(who->who, *pieces) : who.status());
  }

  grpc::ServerBidiReactor<proto::FromRunner, proto::ToRunner>* Run(
      grpc::CallbackServerContext* context) override {
    return BeginStream<proto::FromRunner>(CallerOf(*context, {FleetRole::kRunner}, parts_.admission),
                                          schedule_->hub(), &RunnerHub::Add, &RunnerHub::Remove);
  }

 private:
  static grpc::Status GiveList(absl::StatusOr<std::vector<proto::Job>> jobs, proto::JobList* answer) {
    if (!jobs.ok()) return ToRpc(jobs.status());
    for (proto::Job& job : *jobs) *answer->add_jobs() = std::move(job);
    return grpc::Status::OK;
  }

  absl::StatusOr<std::vector<proto::Job>> Submitted(const FleetIdentity& who,
                                                    const proto::Submission& submission) {
    if (submission.key().empty() || submission.key().size() > kMostKeyBytes)
      return InvalidInput("a submission without a key, or with one that is too long");
    if (submission.jobs_size() == 0 || submission.jobs_size() > kMostJobs)
      return InvalidInput("a submission has 1 to ", kMostJobs, " jobs, and this one ",
                          submission.jobs_size());
    // Two owners may choose the same key.
    const std::string key = Sha256Hex(absl::StrCat(who.owner, "\n", submission.key()));
    std::vector<JobRecord> jobs;
    for (const proto::SubmittedJob& submitted : submission.jobs()) {
      ASSIGN_OR_RETURN(JobRecord job, CheckSubmittedJob(submitted, who.owner));
      if (!job.spec.on.empty())
        RETURN_IF_ERROR(Annotate(parts_.dispatcher.CheckKey(job.spec.on, who.owner), job.spec.id));
      job.spec.base = absl::StrCat(key, "/", jobs.size());
      jobs.push_back(std::move(job));
    }
    // One at a time, since the same may come again while the first is still being taken.
    const std::lock_guard<std::mutex> lock(submit_mutex_);
    const absl::Status kept = KeepAll(who.owner, jobs);
    using Jobs = absl::StatusOr<std::vector<proto::Job>>;
    Jobs added = kept.ok() ? schedule_->Submit(key, jobs) : Jobs(kept);
    if (!added.ok() && !absl::IsUnavailable(added.status())) ForgetAll(jobs);
    Log(LogLevel::kInfo, "jobs are submitted", "owner", who.owner, "by", who.id, "jobs",
        submission.jobs_size(), "result", added.status().ToString());
    return added;
  }

  absl::Status KeepAll(const std::string& owner, const std::vector<JobRecord>& jobs) {
    std::map<std::string, std::string> having;  // by digest: a job of this submission that has the file
    for (const JobRecord& job : jobs) {
      for (const JobFile& file : job.files) {
        const auto [other, is_first] = having.try_emplace(file.digest, job.spec.base);
        if (is_first) {
          RETURN_IF_ERROR(Keep(owner, job, file));
        } else {
          RETURN_IF_ERROR(schedule_->files().Share(other->second, job.spec.base, file.digest));
        }
      }
    }
    return absl::OkStatus();
  }

  // A submission that has failed leaves nothing.
  void ForgetAll(const std::vector<JobRecord>& jobs) {
    for (const JobRecord& job : jobs) {
      for (const JobFile& file : job.files) {
        const absl::Status forgotten = schedule_->files().Forget(job.spec.base, file.digest);
        if (!forgotten.ok()) Log(LogLevel::kWarning, "an input stays", "reason", forgotten.message());
      }
    }
  }

  // Copies a file from what the owner has sent: that may be evicted, and a job's files may not.
  absl::Status Keep(const std::string& owner, const JobRecord& job, const JobFile& file) {
    BlobStore& files = schedule_->files();
    if (files.Has(job.spec.base, file.digest)) return absl::OkStatus();
    const auto sent = parts_.blobs.Read(owner, file.digest);
    if (!sent.ok()) return Annotate(sent.status(), absl::StrCat(job.spec.id, ": ", file.name));
    const auto& [content, bytes] = *sent;
    if (bytes != file.bytes)
      return InvalidInput(job.spec.id, ": ", file.name, ": has ", bytes, " bytes, and not ", file.bytes);
    ASSIGN_OR_RETURN(int64_t offset, files.Sent(job.spec.base, file.digest));
    std::string piece;
    do {
      RETURN_IF_ERROR(Annotate(ReadPiece(content.get(), bytes, offset, piece), file.name));
      RETURN_IF_ERROR(files.Append(job.spec.base, file.digest, offset, piece));
      offset += std::ssize(piece);
    } while (offset < bytes);
    return files.Finish(job.spec.base, file.digest);
  }

  absl::Status GiveFile(const FleetIdentity& who, const proto::FileRequest& request,
                        grpc::ServerWriter<proto::FilePiece>& pieces) {
    if (who.role == FleetRole::kRunner) {
      // A runner fetches many files, so nobody else is asked for these.
      const auto supplies = schedule_->hub().SuppliesOf(who.id, request.job());
      if (supplies == nullptr) return NotItsJob();
      return GiveFile(supplies->files, supplies->files_owner, request, pieces);
    }
    ASSIGN_OR_RETURN(const JobRecord job, schedule_->Find(QueryOf(who, request.job())));
    return GiveFile(job.files, job.spec.base, request, pieces);
  }

  absl::Status GiveFile(const std::vector<JobFile>& files, const std::string& owner,
                        const proto::FileRequest& request, grpc::ServerWriter<proto::FilePiece>& pieces) {
    const auto file = std::ranges::find(files, request.name(), &JobFile::name);
    if (file == files.end())
      return absl::NotFoundError(absl::StrCat(request.job(), ": has no file \"", request.name(), "\""));
    ASSIGN_OR_RETURN(const auto blob, schedule_->files().Read(owner, file->digest));
    return GivePieces(blob, request.offset(), pieces);
  }

  absl::Status TakeFile(const FleetIdentity& who, grpc::ServerReader<proto::FilePiece>& pieces) {
    proto::FilePiece first;
    if (!pieces.Read(&first)) return absl::OkStatus();
    const auto supplies = schedule_->hub().SuppliesOf(who.id, first.job());
    if (supplies == nullptr) return NotItsJob();
    const std::string& owner = supplies->files_owner;
    BlobStore& files = schedule_->files();
    // A runner sends a file from its begin, whatever one before it has sent.
    if (!files.Has(owner, first.digest())) RETURN_IF_ERROR(files.Forget(owner, first.digest()));
    return TakePieces(files, owner, std::move(first), pieces);
  }

  const FleetServerParts parts_;
  const std::unique_ptr<JobSchedule> schedule_;
  std::mutex submit_mutex_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FleetExtension>> MakeJobServer(const JobScheduleOptions& options,
                                                              const FleetServerParts& parts) {
  ASSIGN_OR_RETURN(std::unique_ptr<JobSchedule> schedule, JobSchedule::Open(options, parts));
  return std::make_unique<JobServer>(std::move(schedule), parts);
}

}  // namespace attune
