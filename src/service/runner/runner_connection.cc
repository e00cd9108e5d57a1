#include "service/runner/runner_connection.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "base/threads.h"
#include "fleet/wire/rpc_status.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr double kPollSeconds = 0.5;

// Any text may be a job's id, and not any text is a folder's name. Absolute, as programs get it.
std::string FolderOf(const std::string& folder, const std::string& job) {
  constexpr size_t kDigits = 32;
  return absl::StrCat(std::filesystem::absolute(folder).string(), "/", Sha256Hex(job).substr(0, kDigits));
}

// Readers of the report know the job's files by their names, and not by their paths here.
RunnerStageEnded WithoutPaths(RunnerStageEnded report, const std::string& folder) {
  const auto strip = [&](std::string_view text) { return absl::StrReplaceAll(text, {{folder + "/", ""}}); };
  report.status = absl::Status(report.status.code(), strip(report.status.message()));
  report.progress = strip(report.progress);
  report.result = strip(report.result);
  return report;
}

}  // namespace

RunnerConnection::RunnerConnection(const FleetCredentials& credentials, RunnerConnectionOptions options)
    : options_(std::move(options)),
      client_(std::make_shared<JobFilesClient>(credentials)),
      stub_(client_->stub()),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      processes_("", wake_.get()) {
  std::error_code error;
  std::filesystem::remove_all(options_.folder, error);  // a job's folder is emptied again in any case
}

RunnerConnection::~RunnerConnection() = default;

void RunnerConnection::Post(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const uint64_t one = 1;
  // If it fails, the event has been raised before.
  if (write(wake_.get(), &one, sizeof(one)) < 0) return;
}

void RunnerConnection::Read() {
  proto::ToRunner message;
  while (stream_->Read(&message)) Post([this, message] { Receive(message); });
  Post([this] { is_over_ = true; });
}

absl::Status RunnerConnection::Serve(const proto::RunnerHello& hello, const std::atomic<bool>& is_stopped,
                                     const std::function<bool()>& must_end) {
  context_ = std::make_unique<grpc::ClientContext>();
  stream_ = stub_->Run(context_.get());
  proto::FromRunner message;
  *message.mutable_hello() = hello;
  stream_->Write(message);
  std::thread reader;
  if (!StartThread(reader, [this] { Read(); })) {
    context_->TryCancel();
    is_over_ = true;
  }
  while (!is_over_) {
    if (is_stopped || !failed_.ok()) context_->TryCancel();
    const std::vector<RunnerEvent> events = processes_.Await(kPollSeconds);
    uint64_t raised = 0;
    if (read(wake_.get(), &raised, sizeof(raised)) < 0) raised = 0;  // nothing was posted
    for (const RunnerEvent& event : events) Handle(event);
    std::deque<std::function<void()>> posted;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      posted.swap(posted_);
    }
    for (const std::function<void()>& work : posted) work();
    if (must_end()) context_->TryCancel();
  }
  if (reader.joinable()) reader.join();
  // The server continues the jobs on another machine.
  for (const auto& [process, job] : job_of_process_) processes_.End(process);
  jobs_.clear();
  const absl::Status ended = FromRpc(stream_->Finish());
  return failed_.ok() ? ended : failed_;
}

void RunnerConnection::Receive(const proto::ToRunner& message) {
  if (message.has_welcome()) {
    was_welcomed_ = true;
  } else if (message.has_start()) {
    Begin(message.start());
  } else if (message.has_end()) {
    End(message.end().job());
  } else if (message.has_command()) {
    const auto found = jobs_.find(message.command().job());
    if (found == jobs_.end()) return;
    absl::StatusOr<RunnerCommand> command = DecodeRunnerCommand(message.command().command());
    if (!command.ok()) return SendLost(found->first, std::string(command.status().message()));
    if (found->second->is_ready) return Command(found->first, *std::move(command));
    found->second->waiting.push_back(*std::move(command));
  }
}

void RunnerConnection::Begin(const proto::StartJob& start) {
  End(start.job());
  Log(LogLevel::kInfo, "job is here", "job", start.job(), "files", start.files_size());
  auto job =
      JobHere::Begin(start.job(), FolderOf(options_.folder, start.job()), FromWire(start.files()), client_,
                     [this](const FilesEvent& event) { Post([this, event] { Handle(event); }); });
  if (absl::IsInvalidArgument(job.status()))
    return SendLost(start.job(), std::string(job.status().message()));  // its files have no names
  if (!job.ok()) return Fail(start.job(), job.status());
  (*job)->credentials = start.credentials();
  jobs_[start.job()] = *std::move(job);
}

void RunnerConnection::Handle(const FilesEvent& event) {
  const auto found = jobs_.find(event.job);
  if (found == jobs_.end()) return;
  if (const absl::Status& status = event.files.status(); !status.ok())
    return event.is_jobs_fault ? SendLost(event.job, std::string(status.message())) : Fail(event.job, status);
  if (event.report.has_value()) return SendReport(event.job, *event.report, *event.files);
  found->second->is_ready = true;
  for (RunnerCommand& command : std::exchange(found->second->waiting, {}))
    Command(event.job, std::move(command));
}

void RunnerConnection::Command(const std::string& id, RunnerCommand command) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  JobHere& job = *found->second;
  if (auto* assign = std::get_if<AssignJob>(&command)) {
    const absl::Status opened = Open(job, std::move(*assign));
    if (!opened.ok()) Fail(id, opened);
  } else if (job.process != 0) {
    processes_.Send(job.process, command);
  }
}

absl::Status RunnerConnection::Open(JobHere& job, AssignJob assign) {
  assign.spec.base = assign.place.folder = job.folder();
  assign.place.credentials = job.credentials;
  // A program is one that the runner's operator has listed, and may need whatever the machine has.
  if (assign.spec.kind != "program") assign.place.confinement = options_.confinement;
  nlohmann::json& settings = assign.spec.settings;
  const auto named = settings.is_object() ? settings.find("program") : settings.end();
  if (assign.spec.kind == "program" && named != settings.end() && named->is_string()) {
    const auto program = options_.programs.find(named->get<std::string>());
    if (program == options_.programs.end())
      return absl::NotFoundError(absl::StrCat("this runner lists no program ", named->get<std::string>()));
    settings.erase(named);
    settings["command"] = program->second;
  }
  ASSIGN_OR_RETURN(job.process, processes_.Start(0));
  job_of_process_[job.process] = job.id();
  processes_.Send(job.process, assign);
  return absl::OkStatus();
}

void RunnerConnection::Handle(const RunnerEvent& event) {
  const auto found = job_of_process_.find(event.runner);
  if (found == job_of_process_.end()) return;
  const std::string job = found->second;
  if (const auto* lost = std::get_if<RunnerLost>(&event.what)) {
    job_of_process_.erase(found);
    return SendLost(job, lost->reason);
  }
  const auto& report = std::get<RunnerReport>(event.what);
  const auto* ended = std::get_if<RunnerStageEnded>(&report);
  if (ended == nullptr) return;
  JobHere& here = *jobs_.at(job);
  RunnerStageEnded told = WithoutPaths(*ended, here.folder());
  if (told.status.ok()) return here.Keep(std::move(told));
  SendReport(job, told, {});
}

void RunnerConnection::SendReport(const std::string& job, const RunnerReport& report,
                                  const std::vector<JobFile>& files) {
  proto::FromRunner message;
  message.mutable_reported()->set_job(job);
  message.mutable_reported()->set_report(Encode(report));
  *message.mutable_reported()->mutable_files() = ToWire(files);
  stream_->Write(message);
}

void RunnerConnection::SendLost(const std::string& job, const std::string& reason) {
  proto::FromRunner message;
  message.mutable_lost()->set_job(job);
  message.mutable_lost()->set_reason(WithoutControls(reason));
  stream_->Write(message);
  End(job);
}

void RunnerConnection::Fail(const std::string& job, const absl::Status& why) {
  Log(LogLevel::kError, "this machine cannot run jobs now", "job", job, "reason", why.message());
  failed_ = absl::UnavailableError(why.message());
}

void RunnerConnection::End(const std::string& job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  job_of_process_.erase(found->second->process);
  processes_.End(found->second->process);
  jobs_.erase(found);
}

}  // namespace attune
