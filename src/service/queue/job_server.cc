#include "service/queue/job_server.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/admission/caller.h"
#include "fleet/serving/blob_pieces.h"
#include "fleet/serving/server_stream.h"
#include "fleet/wire/rpc_status.h"
#include "service/queue/job_file_pieces.h"
#include "service/wire/checked_messages.h"
#include "service/wire/job_files.h"
#include "service/wire/jobs.grpc.pb.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

absl::Status NotItsJob() { return absl::PermissionDeniedError("this runner does not have the job"); }

class JobService final : public JobServer, public proto::Jobs::WithCallbackMethod_Run<proto::Jobs::Service> {
 public:
  JobService(std::unique_ptr<JobSchedule> schedule, const FleetParts& parts)
      : parts_(parts), schedule_(std::move(schedule)) {}

  JobSchedule& schedule() override { return *schedule_; }
  grpc::Service& service() override { return *this; }
  void AddMetrics(MetricsText& text) const override {
    const JobCounts counts = schedule_->counts();
    text.Begin("attune_jobs", "gauge", "Submitted jobs that are not over, by their state.");
    text.Add(static_cast<double>(counts.waiting), {{"state", "waiting"}});
    text.Add(static_cast<double>(counts.running), {{"state", "running"}});
    text.Begin("attune_jobs_runners", "gauge", "Runners that are connected.");
    text.Add(static_cast<double>(counts.runners));
    text.Begin("attune_jobs_runners_with_shared_credentials", "gauge",
               "Runners whose credentials two places have used within ten minutes.");
    text.Add(static_cast<double>(schedule_->hub().NumShared()));
    text.Begin("attune_jobs_stages_ended_total", "counter",
               "Stages of jobs that have ended, in whatever way.");
    text.Add(static_cast<double>(counts.stages));
    text.Begin("attune_jobs_are_kept", "gauge", "Whether jobs can be stored: 0 while the disk is full.");
    text.Add(schedule_->AreKept() ? 1 : 0);
  }
  absl::Status Begin() override { return schedule_->Begin(); }
  void Stop() override { schedule_->Stop(); }
  void Close(const MemberRefusal& refusal) override { schedule_->hub().Close(refusal); }

  grpc::Status ReadFile(grpc::ServerContext* context, const proto::FileRequest* request,
                        grpc::ServerWriter<proto::FilePiece>* pieces) override {
    const auto who = CallerOf(*context, {FleetRole::kRunner}, parts_.admission);
    return ToRpc(who.ok() ? GiveFile(*context, who->who, *request, *pieces) : who.status());
  }

  grpc::Status WriteFile(grpc::ServerContext* context, grpc::ServerReader<proto::FilePiece>* pieces,
                         proto::FileWritten* /*answer*/) override {
    const auto who = CallerOf(*context, {FleetRole::kRunner}, parts_.admission);
    return ToRpc(who.ok() ? TakeFile(*context, who->who, *pieces) : who.status());
  }

  grpc::ServerBidiReactor<proto::FromRunner, proto::ToRunner>* Run(
      grpc::CallbackServerContext* context) override {
    return BeginStream<proto::FromRunner>(CallerOf(*context, {FleetRole::kRunner}, parts_.admission),
                                          context->peer(), schedule_->hub(), &RunnerHub::Add,
                                          &RunnerHub::Remove);
  }

 private:
  using ReadPieceOfFile = std::function<bool(proto::FilePiece&)>;

  absl::Status GiveFile(grpc::ServerContext& context, const FleetIdentity& who,
                        const proto::FileRequest& request, grpc::ServerWriter<proto::FilePiece>& pieces) {
    ASSIGN_OR_RETURN(const auto call, parts_.file_calls.Begin(who, [&] { context.TryCancel(); }));
    // A runner fetches many files, so only the store is asked for these.
    const auto supplies = schedule_->hub().SuppliesOf(who.id, request.job());
    if (supplies == nullptr) return NotItsJob();
    const auto file = std::ranges::find(supplies->files, request.name(), &JobFile::name);
    if (file == supplies->files.end())
      return absl::NotFoundError(
          absl::StrCat(request.job(), ": has no file \"", Printable(request.name()), "\""));
    ASSIGN_OR_RETURN(const auto blob, schedule_->files().Read(supplies->files_owner, file->digest));
    return GivePieces(blob, request.offset(), *call, pieces);
  }

  absl::Status TakeFile(grpc::ServerContext& context, const FleetIdentity& who,
                        grpc::ServerReader<proto::FilePiece>& pieces) {
    ASSIGN_OR_RETURN(const auto call, parts_.file_calls.Begin(who, [&] { context.TryCancel(); }));
    const ReadPieceOfFile read = [&](proto::FilePiece& piece) {
      return call->Await([&] { return pieces.Read(&piece); });
    };
    proto::FilePiece first;
    if (!read(first)) return absl::OkStatus();
    RETURN_IF_ERROR(CheckFirstPiece(first));
    const auto supplies = schedule_->hub().SuppliesOf(who.id, first.job());
    if (supplies == nullptr) return NotItsJob();
    return TakeFileOf(supplies, std::move(first), read);
  }

  absl::Status TakeFileOf(const std::shared_ptr<const JobSupplies>& supplies, proto::FilePiece first,
                          const ReadPieceOfFile& read) {
    RunnerHub& hub = schedule_->hub();
    const std::string job = first.job(), digest = first.digest();
    absl::Status refused;
    const absl::Status taken = TakeJobFile(
        schedule_->files(), supplies->files_owner, std::move(first),
        [&](proto::FilePiece& piece) { return hub.AreInUse(supplies) && read(piece); },
        [&](int64_t bytes) {
          refused = schedule_->sent().Admit(supplies->spec.owner, supplies->files_owner, digest, bytes);
          return refused;
        });
    const bool is_refused = absl::IsResourceExhausted(refused);
    if (is_refused) hub.Fail(supplies, refused);
    // The job has ended or moved meanwhile.
    if (!hub.AreInUse(supplies)) schedule_->cleaner().ForgetLate(job, supplies->files_owner);
    return is_refused ? RefusedFile(taken) : taken;
  }

  const FleetParts parts_;
  const std::unique_ptr<JobSchedule> schedule_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<JobServer>> MakeJobServer(const JobScheduleOptions& options,
                                                         const FleetParts& parts) {
  ASSIGN_OR_RETURN(std::unique_ptr<JobSchedule> schedule, JobSchedule::Open(options, parts));
  return std::make_unique<JobService>(std::move(schedule), parts);
}

}  // namespace attune
