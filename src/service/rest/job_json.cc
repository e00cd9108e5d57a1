#include "service/rest/job_json.h"

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "kinds/kinds.h"
#include "options/settings.h"
#include "service/access/texts.h"
#include "service/agreement/promises_of_job.h"
#include "service/queue/submitted_job.h"
#include "service/rest/operation.h"
#include "service/wire/job_files.h"
#include "work/report/schedule_json.h"
#include "work/sched/priority_class.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr int kMaxKeyLength = 256;  // of a device

// Each is a job's kind.
JsonSchema KindSchema() {
  JsonSchema kinds = JsonSchema::array();
  for (const JobKind& kind : AllJobKinds().rows()) kinds.push_back(kind.name);
  return {{"type", "string"}, {"enum", kinds}};
}

JsonSchema LimitSchema(double most) { return {{"type", "number"}, {"minimum", 0}, {"maximum", most}}; }

// As service/agreement/agreement.h has it, which checks what a schema cannot say.
JsonSchema AskedAgreementSchema() {
  constexpr double kMostMs = 1e9, kMostBytes = 1e15, kMostSeconds = 1e9;
  JsonSchema classes = JsonSchema::array();
  for (const PriorityClass& one : AllPriorityClasses()) classes.push_back(one.name);
  const std::vector<std::string> optional = {"latency_ms",       "accuracy_loss",  "size_bytes",
                                             "deadline_seconds", "device_seconds", "priority",
                                             "least_probability"};
  return ObjectSchema(
      {{"latency_ms",
        ObjectSchema({{"mean", LimitSchema(kMostMs)}, {"p99", LimitSchema(kMostMs)}}, {"mean", "p99"})},
       {"accuracy_loss", LimitSchema(1)},
       {"size_bytes", LimitSchema(kMostBytes)},
       {"deadline_seconds", LimitSchema(kMostSeconds)},
       {"device_seconds", LimitSchema(kMostSeconds)},
       {"priority", {{"type", "string"}, {"enum", classes}}},
       {"least_probability", LimitSchema(1)}},
      optional);
}

JsonSchema PromiseSchema() {
  JsonSchema states = JsonSchema::array();
  for (const PromiseState state : kPromiseStates) states.push_back(Name(state));
  return ObjectSchema({{"name", TextSchema()},
                       {"limit", NumberSchema()},
                       {"state", {{"type", "string"}, {"enum", states}}},
                       {"probability", NumberSchema()},
                       {"low", NumberSchema()},
                       {"median", NumberSchema()},
                       {"high", OrNull(NumberSchema())},
                       {"evidence", ListSchema(TextSchema())}});
}

JsonSchema NewJobSchema() {
  const JsonSchema input = ObjectSchema(
      {{"name", {{"type", "string"}, {"maxLength", kMostJobFileName}}}, {"sha256", DigestSchema()}});
  return ObjectSchema(
      {{"name", NameSchema()},
       {"kind", KindSchema()},
       {"settings",
        {{"type", "object"},
         {"x-settings",
          {{"tuning", JsonSchema::parse(TuningSchema())},
           {"quantization", JsonSchema::parse(QuantizationSchema())}}}}},
       {"inputs", {{"type", "array"}, {"items", input}, {"maxItems", kMostUploads}}},
       {"on", TextSchema(kMaxKeyLength)},
       {"priority", {{"type", "integer"}, {"minimum", -kMostJobPriority}, {"maximum", kMostJobPriority}}},
       {"parts", {{"type", "integer"}, {"minimum", 1}, {"maximum", AllPriorityClasses().back().most_parts}}},
       {"deadline_seconds", {{"type", "number"}, {"minimum", 0}, {"maximum", 1e9}}},
       {"agreement", SchemaNamed("Agreement")}},
      {"settings", "inputs", "on", "priority", "parts", "deadline_seconds", "agreement"});
}

const JsonFields<proto::JobFile>& FileFields() {
  static const JsonFields<proto::JobFile> fields = {{"name", TextSchema(), &proto::JobFile::name},
                                                    {"sha256", DigestSchema(), &proto::JobFile::digest},
                                                    {"bytes", IntegerSchema(), &proto::JobFile::bytes}};
  return fields;
}

const JsonFields<proto::StageOfJob>& StageFields() {
  using Stage = proto::StageOfJob;
  static const JsonFields<Stage> fields = {
      {"name", TextSchema(), &Stage::name},
      {"outcome", {{"type", "string"}, {"enum", {"done", "failed", "lost"}}}, &Stage::outcome},
      {"runner", TextSchema(), &Stage::runner},
      {"reason", TextSchema(), &Stage::reason},
      {"part", IntegerSchema(), &Stage::part},
      {"waited_seconds", NumberSchema(), &Stage::waited_seconds},
      {"seconds", NumberSchema(), &Stage::seconds},
      {"ended", TimeSchema(), [](const Stage& stage) { return TimeText(stage.end_ms()); }}};
  return fields;
}

// A text that a job has told; null if it is empty.
JsonSchema ObjectOrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  const auto json = ParseJson(text);
  return json.ok() && json->is_object() ? JsonSchema(*json) : JsonSchema(nullptr);
}

JsonSchema AgreementOf(const proto::Job& job) {
  const JsonSchema kept = ObjectOrNull(job.agreement());
  return kept.is_null() ? kept : kept.value("agreement", JsonSchema(nullptr));
}

JobToday TodayOf(const proto::Job& job) {
  return {.kind = job.kind(),
          .state = job.state(),
          .agreement = job.agreement(),
          .figures = job.figures(),
          .result = job.result(),
          .remaining_seconds = job.remaining_seconds(),
          .submitted_ms = job.submitted_ms(),
          .ended_ms = job.ended_ms(),
          .now_ms = SystemClock().WallMillis()};
}

const JsonFields<proto::Job>& JobFields() {
  using proto::Job;
  static const JsonFields<Job> fields = {
      {"id", TextSchema(), &Job::id},
      {"kind", KindSchema(), &Job::kind},
      {"state",
       {{"type", "string"}, {"enum", {"waiting", "running", "done", "failed", "cancelled"}}},
       &Job::state},
      {"priority", IntegerSchema(-kMostJobPriority, kMostJobPriority), &Job::priority},
      {"parts", IntegerSchema(), &Job::parts},
      {"on", TextSchema(), &Job::on},
      {"stage", TextSchema(), &Job::stage},
      {"waits_for", TextSchema(), &Job::waits_for},
      {"runner", TextSchema(), &Job::runner},
      {"progress", TextSchema(), &Job::progress},
      {"error", TextSchema(), &Job::error},
      {"remaining_seconds", OrNull(NumberSchema()),
       [](const Job& job) {
         return job.remaining_seconds() > 0 ? JsonSchema(job.remaining_seconds()) : JsonSchema(nullptr);
       }},
      {"agreement", {{"type", {"object", "null"}}}, AgreementOf},
      {"promises", ListSchema(SchemaNamed("Promise")),
       [](const Job& job) { return JsonSchema(ToJson(PromisesOf(TodayOf(job)))); }},
      {"figures", {{"type", {"object", "null"}}}, [](const Job& job) { return ObjectOrNull(job.figures()); }},
      {"submitted", TimeSchema(), [](const Job& job) { return TimeText(job.submitted_ms()); }},
      {"ended", OrNull(TimeSchema()), [](const Job& job) {
         return job.ended_ms() > 0 ? JsonSchema(TimeText(job.ended_ms())) : JsonSchema(nullptr);
       }}};
  return fields;
}

// The job's own, or else that of the class that its agreement names.
int PriorityOf(const nlohmann::json& body) {
  const int priority = body.value("priority", 0);
  if (priority != 0 || !body.contains("agreement") || !body["agreement"].contains("priority"))
    return priority;
  return FindPriorityClass(body["agreement"]["priority"].get<std::string>())->priority;
}

}  // namespace

void AddJobSchemas(JsonSchema& schemas) {
  schemas["Agreement"] = AskedAgreementSchema();
  schemas["Promise"] = PromiseSchema();
  schemas["Job"] = SchemaOf(JobFields());
  schemas["JobDetail"] = SchemaOf(JobFields(), {{"result", JsonSchema::object()},
                                                {"stages", ListSchema(SchemaOf(StageFields()))},
                                                {"files", ListSchema(SchemaOf(FileFields()))}});
  schemas["NewJob"] = NewJobSchema();
}

JsonSchema ToJson(const proto::Job& job) { return JsonOf(job, JobFields()); }

JsonSchema ToJson(const proto::JobDetail& detail) {
  JsonSchema json = ToJson(detail.job());
  json["result"] = ObjectOrNull(detail.job().result());
  json["stages"] = JsonSchema::array();
  for (const proto::StageOfJob& stage : detail.stages())
    json["stages"].push_back(JsonOf(stage, StageFields()));
  json["files"] = JsonSchema::array();
  for (const proto::JobFile& file : detail.files()) json["files"].push_back(JsonOf(file, FileFields()));
  return json;
}

absl::StatusOr<proto::SubmittedJob> SubmittedJobOf(const nlohmann::json& body, const std::string& tenant,
                                                   Uploads& uploads) {
  proto::SubmittedJob job;
  job.set_name(body["name"].get<std::string>());
  job.set_kind(body["kind"].get<std::string>());
  job.set_on(body.value("on", ""));
  job.set_priority(PriorityOf(body));
  job.set_parts(body.value("parts", 1));
  job.set_deadline_seconds(body.value("deadline_seconds", 0.0));
  const nlohmann::json inputs = body.value("inputs", nlohmann::json::array());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string place = absl::StrCat("/inputs/", i);
    const absl::StatusOr<Upload> upload = uploads.Find(tenant, inputs[i]["sha256"].get<std::string>());
    if (!upload.ok()) return Annotate(upload.status(), place);
    if (!upload->is_complete)
      return absl::FailedPreconditionError(absl::StrCat(place, ": upload ", upload->digest, " has ",
                                                        upload->offset, " of ", upload->bytes, " bytes"));
    proto::JobFile& file = *job.add_inputs();
    file.set_name(inputs[i]["name"].get<std::string>());
    file.set_digest(upload->digest);
    file.set_bytes(upload->bytes);
  }
  nlohmann::json settings = body.value("settings", nlohmann::json::object());
  for (const OutputSetting& output : AllJobKinds().Find(job.kind())->outputs) {
    const std::string setting(output.name);
    if (!settings.contains(setting) && !output.ending_on_server.empty())
      settings[setting] = absl::StrCat(kOutputsFolder, "result", output.ending_on_server);
  }
  job.set_settings(settings.dump());
  RETURN_IF_ERROR(CheckSubmittedJob(job, tenant).status());
  return job;
}

}  // namespace attune
