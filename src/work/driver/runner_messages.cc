#include "work/driver/runner_messages.h"

#include "base/overloaded.h"
#include "base/process/message_checks.h"
#include "base/processor_set.h"
#include "base/status.h"
#include "work/driver/runner.pb.h"

namespace attune {
namespace {

namespace proto = jobs_proto;

// Sums of amounts, and of bytes of memory, do not overflow.
constexpr int64_t kMaxAmount = 1'000'000'000, kMaxMemoryBytes = int64_t{1} << 50;
constexpr int kMaxNeeds = 100, kMaxNames = 1 << 16, kMaxParts = 1024;
constexpr int kMaxStageNameBytes = 1024, kMaxKeyBytes = 1024;

void Encode(const JobStage& stage, proto::Stage* to) {
  to->set_name(stage.name);
  for (const ResourceNeed& need : stage.needs) {
    proto::Need* added = to->add_needs();
    added->set_key(need.key);
    added->set_amount(need.amount);
    added->set_exclusive(need.exclusive);
  }
  to->set_memory_bytes(stage.memory_bytes);
  to->set_low(stage.seconds.low);
  to->set_median(stage.seconds.median);
  to->set_high(stage.seconds.high);
}

JobStage Decode(const proto::Stage& from, MessageChecks& checks) {
  JobStage stage;
  stage.name = checks.Line(from.name(), 0, kMaxStageNameBytes);
  checks.Count(from.needs_size(), kMaxNeeds);
  for (const proto::Need& need : from.needs())
    stage.needs.push_back({checks.Line(need.key(), 1, kMaxKeyBytes),
                           checks.Integer(need.amount(), 0, kMaxAmount), need.exclusive()});
  stage.memory_bytes = checks.Integer(from.memory_bytes(), 0, kMaxMemoryBytes);
  stage.seconds = {checks.Seconds(from.low()), checks.Seconds(from.median()), checks.Seconds(from.high())};
  return stage;
}

void Encode(const AssignJob& assign, proto::Assign* to) {
  to->set_id(assign.spec.id);
  to->set_kind(assign.spec.kind);
  to->set_settings(assign.spec.settings.dump());
  to->set_base(assign.spec.base);
  to->set_folder(assign.place.folder);
  to->set_position(assign.place.position);
  to->set_processors(assign.place.processors);
  to->mutable_devices()->Add(assign.place.devices.begin(), assign.place.devices.end());
  to->set_on(assign.place.on);
  to->set_credentials(assign.place.credentials);
  to->set_confinement(static_cast<int32_t>(assign.place.confinement));
  to->set_parts(assign.spec.parts);
  to->set_part(assign.spec.part);
}

absl::StatusOr<AssignJob> Decode(const proto::Assign& from, MessageChecks& checks) {
  AssignJob assign;
  assign.spec.id = assign.place.id = from.id();
  assign.spec.kind = from.kind();
  assign.spec.settings = nlohmann::json::parse(from.settings(), nullptr, /*allow_exceptions=*/false);
  if (assign.spec.settings.is_discarded()) return DamagedMessage();
  assign.spec.base = from.base();
  assign.place.folder = from.folder();
  assign.place.position = checks.Integer(from.position(), 0, INT64_MAX);
  assign.place.processors = checks.Int(from.processors(), 1, kMaxProcessors);
  checks.Count(from.devices_size(), kMaxNames);
  assign.place.devices.assign(from.devices().begin(), from.devices().end());
  assign.place.on = from.on();
  assign.place.credentials = from.credentials();
  assign.place.confinement =
      static_cast<Confinement>(checks.Int(from.confinement(), 0, static_cast<int>(Confinement::kMust)));
  assign.spec.parts = checks.Int(from.parts(), 1, kMaxParts);
  assign.spec.part = checks.Int(from.part(), 0, assign.spec.parts);
  return assign;
}

RunStage Decode(const proto::Run& from, MessageChecks& checks) {
  RunStage run;
  checks.Count(from.processors_size(), kMaxProcessors);
  for (const int processor : from.processors())
    run.processors.push_back(checks.Int(processor, 0, kMaxProcessors - 1));
  run.lease = checks.OneOf(from.lease(), StageLease::kExclusive);
  run.isolation = checks.OneOf(from.isolation(), Isolation::kDevice);
  return run;
}

RunnerStageEnded Decode(const proto::StageEnded& from, MessageChecks& checks) {
  RunnerStageEnded ended;
  constexpr int kLastCode = 16;
  ended.status = {static_cast<absl::StatusCode>(checks.Int(from.code(), 0, kLastCode)), from.message()};
  ended.seconds = checks.Seconds(from.seconds());
  if (from.has_next()) ended.next = Decode(from.next(), checks);
  ended.remaining = checks.Seconds(from.remaining());
  ended.progress = from.progress();
  ended.result = from.result();
  ended.figures = from.figures();
  return ended;
}

}  // namespace

std::string Encode(const RunnerCommand& command) {
  proto::Command message;
  message.set_version(kRunnerVersion);
  std::visit(Overloaded{[&](const AssignJob& assign) { Encode(assign, message.mutable_assign()); },
                        [&](const RunStage& run) {
                          proto::Run* to = message.mutable_run();
                          to->mutable_processors()->Add(run.processors.begin(), run.processors.end());
                          to->set_lease(static_cast<uint32_t>(run.lease));
                          to->set_isolation(static_cast<uint32_t>(run.isolation));
                        },
                        [&](const CancelStage&) { message.mutable_cancel(); }},
             command);
  return message.SerializeAsString();
}

absl::StatusOr<RunnerCommand> DecodeRunnerCommand(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::Command message, ParseRequest<proto::Command>(text, kRunnerVersion));
  MessageChecks checks;
  RunnerCommand command;
  if (message.has_assign()) {
    ASSIGN_OR_RETURN(command, Decode(message.assign(), checks));
  } else if (message.has_run()) {
    command = Decode(message.run(), checks);
  } else if (message.has_cancel()) {
    command = CancelStage{};
  } else {
    return DamagedMessage();
  }
  RETURN_IF_ERROR(checks.Finish());
  return command;
}

std::string Encode(const RunnerReport& report) {
  proto::Report message;
  message.set_version(kRunnerVersion);
  std::visit(Overloaded{[&](const RunnerRegistered& registered) {
                          message.mutable_registered()->mutable_kinds()->Add(registered.kinds.begin(),
                                                                             registered.kinds.end());
                        },
                        [&](const RunnerStageEnded& ended) {
                          proto::StageEnded* to = message.mutable_ended();
                          to->set_code(static_cast<int>(ended.status.code()));
                          to->set_message(std::string(ended.status.message()));
                          to->set_seconds(ended.seconds);
                          if (ended.next.has_value()) Encode(*ended.next, to->mutable_next());
                          to->set_remaining(ended.remaining);
                          to->set_progress(ended.progress);
                          to->set_result(ended.result);
                          to->set_figures(ended.figures);
                        }},
             report);
  return message.SerializeAsString();
}

absl::StatusOr<RunnerReport> DecodeRunnerReport(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::Report message, ParseRequest<proto::Report>(text, kRunnerVersion));
  MessageChecks checks;
  RunnerReport report;
  if (message.has_registered()) {
    checks.Count(message.registered().kinds_size(), kMaxNames);
    report = RunnerRegistered{{message.registered().kinds().begin(), message.registered().kinds().end()}};
  } else if (message.has_ended()) {
    report = Decode(message.ended(), checks);
  } else {
    return DamagedMessage();
  }
  RETURN_IF_ERROR(checks.Finish());
  return report;
}

}  // namespace attune
