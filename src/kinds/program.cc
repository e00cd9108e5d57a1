// A job that is any program which speaks the protocol of docs/job-protocol.md.
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/printable.h"
#include "base/process/message.h"
#include "base/status.h"
#include "kinds/kind_functions.h"
#include "kinds/program_process.h"
#include "kinds/program_protocol.h"
#include "nlohmann/json.hpp"
#include "work/job/settings.h"

namespace attune {
namespace {

constexpr double kOpenSeconds = 60;   // until a program has named its first stage
constexpr double kSendSeconds = 10;   // until it has read a command
constexpr double kCancelSeconds = 5;  // until it has ended a stage that is cancelled

struct ProgramSettings {
  std::vector<std::string> command;
  std::string program;             // in its place: the name under which a runner has a command
  std::vector<std::string> files;  // for the program to read
};

absl::StatusOr<ProgramSettings> ReadSettings(const JobSpec& spec) {
  ProgramSettings settings;
  SettingsReader reader(spec.settings, spec.base);
  reader.Read("command", settings.command);
  reader.Read("program", settings.program);
  reader.ReadPaths("files", settings.files);
  const nlohmann::json own = reader.ReadJson("settings");  // which only the program understands
  const bool has_command = !settings.command.empty() && !settings.command[0].empty();
  if (!has_command && settings.program.empty()) reader.Fail("command", "is missing");
  if (!settings.command.empty() && !settings.program.empty())
    reader.Fail("program", "stands in the place of command, and both are there");
  for (const std::string& text : settings.command) {
    if (text.find('\0') != std::string::npos) reader.Fail("command", "has a zero byte");
  }
  if (!own.is_null() && !own.is_object()) reader.Fail("settings", "is not a mapping");
  RETURN_IF_ERROR(reader.Finish());
  return settings;
}

class ProgramJob final : public Job {
 public:
  static absl::StatusOr<std::unique_ptr<Job>> Open(const JobSpec& spec, const JobPlace& place) {
    ASSIGN_OR_RETURN(const ProgramSettings settings, ReadSettings(spec));
    // A runner has put the command in the place of a name that it knows.
    if (!settings.program.empty())
      return absl::NotFoundError(
          absl::StrCat("the runner lists no program \"", Printable(settings.program), "\""));
    const std::string name = Printable(absl::StrJoin(settings.command, " "));
    FileDescriptor cancel_event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (cancel_event.get() < 0) return absl::ResourceExhaustedError(absl::StrCat(name, ": no eventfd"));
    absl::StatusOr<std::unique_ptr<ProgramProcess>> process =
        ProgramProcess::Start(settings.command, spec.base);
    if (!process.ok()) return Annotate(process.status(), name);
    std::unique_ptr<ProgramJob> job(
        new ProgramJob(place, name, *std::move(process), std::move(cancel_event)));
    RETURN_IF_ERROR(Annotate(job->Begin(OpeningLine(spec, place, settings.files)), name));
    return job;
  }

  const std::string& id() const override { return place_.id; }

  // The program names a stage only once it has ended the one before. So while one runs, that one is given: a
  // program's stages are often alike.
  std::optional<JobStage> Next() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return next_;
  }

  absl::Status Run(const JobGrant& grant) override {
    if (process_ == nullptr) return absl::FailedPreconditionError(absl::StrCat(name_, ": has ended"));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      running_.emplace();
    }
    const absl::Status status = RunStage(grant);
    if (!status.ok() || !Next().has_value()) process_.reset();
    const std::lock_guard<std::mutex> lock(mutex_);
    spent_seconds_ += running_->Seconds();
    running_.reset();
    return Annotate(status, name_);
  }

  void Cancel() override {
    const int error = errno;  // of whatever the signal has interrupted
    is_cancelled_.store(true);
    const uint64_t one = 1;
    // If it fails, the event has been raised before.
    if (write(cancel_event_.get(), &one, sizeof(one)) < 0) errno = error;
  }

  // The stages that this process has run.
  double SpentSeconds() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return spent_seconds_ + (running_.has_value() ? running_->Seconds() : 0);
  }
  double RemainingSeconds() const override { return remaining_seconds_; }
  std::string Progress() const override { return progress_; }
  std::string Result() const override { return result_; }

 private:
  ProgramJob(JobPlace place, std::string name, std::unique_ptr<ProgramProcess> process,
             FileDescriptor cancel_event)
      : place_(std::move(place)),
        name_(std::move(name)),
        process_(std::move(process)),
        cancel_event_(std::move(cancel_event)) {}

  // Opens the job.
  absl::Status Begin(const std::string& line) {
    if (line.size() > kMostLineBytes)
      return InvalidInput("settings: are more than ", kMostLineBytes, " bytes");
    const Deadline deadline = After(kOpenSeconds);
    RETURN_IF_ERROR(process_->Send(line, deadline));
    for (bool has_answered = false; !has_answered;) {
      ASSIGN_OR_RETURN(const std::optional<std::string> answer, process_->ReadLine(deadline));
      if (!answer.has_value()) {
        process_->Kill();
        return absl::DeadlineExceededError(absl::StrCat("names no stage within ", kOpenSeconds, " s"));
      }
      ASSIGN_OR_RETURN(has_answered, Take(*answer));
    }
    if (!Next().has_value()) process_.reset();
    return absl::OkStatus();
  }

  absl::Status RunStage(const JobGrant& grant) {
    RETURN_IF_ERROR(ReadEarlyLines());
    process_->RunOn(grant.processors);
    if (is_cancelled_) RETURN_IF_ERROR(SendCancel());
    RETURN_IF_ERROR(process_->Send(RunLine(grant), After(kSendSeconds)));
    Deadline deadline = is_cancelled_ ? After(kCancelSeconds) : kNoDeadline;
    for (;;) {
      absl::StatusOr<std::optional<std::string>> line =
          process_->ReadLine(deadline, has_sent_cancel_ ? -1 : cancel_event_.get());
      if (line.ok() && line->has_value()) {
        ASSIGN_OR_RETURN(const bool has_answered, Take(**line));
        if (has_answered) return absl::OkStatus();
      } else if (has_sent_cancel_ && absl::IsUnavailable(line.status())) {
        return absl::CancelledError("is cancelled");
      } else if (!line.ok()) {
        return line.status();
      }
      if (is_cancelled_ && !has_sent_cancel_) {
        RETURN_IF_ERROR(SendCancel());
        deadline = After(kCancelSeconds);
      } else if (std::chrono::steady_clock::now() >= deadline) {
        process_->Kill();
        return absl::CancelledError(
            absl::StrCat("is cancelled, and killed since it did not end within ", kCancelSeconds, " s"));
      }
    }
  }

  // A program that sends something between two stages answers no command with it.
  absl::Status ReadEarlyLines() {
    while (!is_cancelled_) {
      ASSIGN_OR_RETURN(const std::optional<std::string> line, process_->ReadLine(After(0)));
      if (!line.has_value()) return absl::OkStatus();
      ASSIGN_OR_RETURN(const bool has_answered, Take(*line));
      if (has_answered) return InvalidInput("answers before it is asked: ", Printable(*line));
    }
    return absl::OkStatus();
  }

  absl::Status SendCancel() {
    has_sent_cancel_ = true;
    return process_->Send(CancelLine(), After(kSendSeconds));
  }

  // Takes in a line. Returns whether the stage has ended with it.
  absl::StatusOr<bool> Take(const std::string& line) {
    using Kind = ProgramAnswer::Kind;
    absl::StatusOr<ProgramAnswer> answer = ParseProgramAnswer(line, place_);
    if (!answer.ok()) {
      return InvalidInput("has sent a line that is wrong: ", answer.status().message(), ": ",
                          Printable(line));
    }
    if (answer->kind == Kind::kFailed) return absl::FailedPreconditionError("has failed: " + answer->why);
    if (!answer->progress.empty()) progress_ = std::move(answer->progress);
    if (answer->kind == Kind::kProgress) return false;
    remaining_seconds_ = answer->remaining_seconds;
    result_ = std::move(answer->result);
    const std::lock_guard<std::mutex> lock(mutex_);
    next_.reset();
    if (answer->kind == Kind::kStage) next_ = std::move(answer->stage);
    return true;
  }

  const JobPlace place_;
  const std::string name_;                   // the command, for messages
  std::unique_ptr<ProgramProcess> process_;  // null once the job has ended
  FileDescriptor cancel_event_;              // can be read once the job is cancelled
  std::atomic<bool> is_cancelled_ = false;
  bool has_sent_cancel_ = false;
  double remaining_seconds_ = 0;
  std::string progress_, result_;

  mutable std::mutex mutex_;  // for all below
  std::optional<JobStage> next_;
  std::optional<Stopwatch> running_;  // while a stage runs
  double spent_seconds_ = 0;
};

}  // namespace

absl::Status CheckProgramJob(const JobSpec& spec) { return ReadSettings(spec).status(); }

absl::StatusOr<std::unique_ptr<Job>> OpenProgramJob(const JobSpec& spec, const JobPlace& place) {
  return ProgramJob::Open(spec, place);
}

}  // namespace attune
