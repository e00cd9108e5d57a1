#include "service/rest/job_json.h"

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "kinds/kinds.h"
#include "options/settings.h"
#include "service/access/texts.h"
#include "service/agreement/promises_of_job.h"
#include "service/queue/submitted_job.h"
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

JsonSchema JobProperties() {
  return {{"id", TextSchema()},
          {"kind", KindSchema()},
          {"state", {{"type", "string"}, {"enum", {"waiting", "running", "done", "failed", "cancelled"}}}},
          {"priority", IntegerSchema(-kMostJobPriority, kMostJobPriority)},
          {"parts", IntegerSchema()},
          {"on", TextSchema()},
          {"stage", TextSchema()},
          {"waits_for", TextSchema()},
          {"runner", TextSchema()},
          {"progress", TextSchema()},
          {"error", TextSchema()},
          {"remaining_seconds", OrNull(NumberSchema())},
          {"agreement", {{"type", {"object", "null"}}}},
          {"promises", ListSchema(SchemaNamed("Promise"))},
          {"figures", {{"type", {"object", "null"}}}},
          {"submitted", TimeSchema()},
          {"ended", OrNull(TimeSchema())}};
}

JsonSchema FileSchema() {
  return ObjectSchema({{"name", TextSchema()}, {"sha256", DigestSchema()}, {"bytes", IntegerSchema()}});
}

JsonSchema StageSchema() {
  return ObjectSchema({{"name", TextSchema()},
                       {"outcome", {{"type", "string"}, {"enum", {"done", "failed", "lost"}}}},
                       {"runner", TextSchema()},
                       {"reason", TextSchema()},
                       {"part", IntegerSchema()},
                       {"waited_seconds", NumberSchema()},
                       {"seconds", NumberSchema()},
                       {"ended", TimeSchema()}});
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

JsonSchema ToJson(const proto::StageOfJob& stage) {
  return {{"name", stage.name()},       {"outcome", stage.outcome()},
          {"runner", stage.runner()},   {"reason", stage.reason()},
          {"part", stage.part()},       {"waited_seconds", stage.waited_seconds()},
          {"seconds", stage.seconds()}, {"ended", TimeText(stage.end_ms())}};
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

// The job's own, or else that of the class that its agreement names.
int PriorityOf(const nlohmann::json& body) {
  const int priority = body.value("priority", 0);
  if (priority != 0 || !body.contains("agreement") || !body["agreement"].contains("priority"))
    return priority;
  return FindPriorityClass(body["agreement"]["priority"].get<std::string>())->priority;
}

}  // namespace

void AddJobSchemas(JsonSchema& schemas) {
  JsonSchema detail = JobProperties();
  detail["result"] = JsonSchema::object();
  detail["stages"] = ListSchema(StageSchema());
  detail["files"] = ListSchema(FileSchema());
  schemas["Agreement"] = AskedAgreementSchema();
  schemas["Promise"] = PromiseSchema();
  schemas["Job"] = ObjectSchema(JobProperties());
  schemas["JobDetail"] = ObjectSchema(detail);
  schemas["NewJob"] = NewJobSchema();
}

JsonSchema ToJson(const proto::Job& job) {
  JsonSchema json = {{"id", job.id()},
                     {"kind", job.kind()},
                     {"state", job.state()},
                     {"priority", job.priority()},
                     {"parts", job.parts()},
                     {"on", job.on()},
                     {"stage", job.stage()},
                     {"waits_for", job.waits_for()},
                     {"runner", job.runner()},
                     {"progress", job.progress()},
                     {"error", job.error()},
                     {"remaining_seconds", nullptr},
                     {"agreement", AgreementOf(job)},
                     {"promises", ToJson(PromisesOf(TodayOf(job)))},
                     {"figures", ObjectOrNull(job.figures())},
                     {"submitted", TimeText(job.submitted_ms())},
                     {"ended", nullptr}};
  if (job.remaining_seconds() > 0) json["remaining_seconds"] = job.remaining_seconds();
  if (job.ended_ms() > 0) json["ended"] = TimeText(job.ended_ms());
  return json;
}

JsonSchema ToJson(const proto::JobDetail& detail) {
  JsonSchema json = ToJson(detail.job());
  json["result"] = ObjectOrNull(detail.job().result());
  json["stages"] = JsonSchema::array();
  for (const proto::StageOfJob& stage : detail.stages()) json["stages"].push_back(ToJson(stage));
  json["files"] = JsonSchema::array();
  for (const proto::JobFile& file : detail.files())
    json["files"].push_back({{"name", file.name()}, {"sha256", file.digest()}, {"bytes", file.bytes()}});
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
