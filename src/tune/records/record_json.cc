#include "tune/records/record_json.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

// Written in the order for human readers; parsed into maps, which stay fast with many fields.
using OrderedJson = nlohmann::ordered_json;
using Json = nlohmann::json;

// The free-form JSON of a run is the deepest in our own records.
constexpr int kMaxDepth = 32;

template <typename AnyJson>
std::string Dump(const AnyJson& json) {
  return json.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

bool IsTooDeep(std::string_view json) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') quoted = !quoted;
    if (quoted) {
      i += json[i] == '\\' ? 1 : 0;
    } else if (json[i] == '{' || json[i] == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (json[i] == '}' || json[i] == ']') {
      --depth;
    }
  }
  return false;
}

absl::StatusOr<Json> ParseObject(std::string_view text) {
  if (IsTooDeep(text)) return InvalidInput("is nested more than ", kMaxDepth, " deep");
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InvalidInput("is not JSON, or cut short");
  if (!json.is_object()) return InvalidInput("is not a JSON object");
  return json;
}

// An integer that fits in int64_t.
std::optional<int64_t> ToInteger(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return std::nullopt;
  return value.get<int64_t>();
}

// Reads fields of an object by name and type. The first error is kept; values read after it are
// meaningless.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  std::string Text(const char* name) {
    const Json* value = Find(name);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    Wrong(name, "a string");
    return "";
  }
  double Number(const char* name) {
    const Json* value = Find(name);
    if (value != nullptr && value->is_number()) return value->get<double>();
    Wrong(name, "a number");
    return 0;
  }
  int64_t Integer(const char* name) {
    const Json* value = Find(name);
    const std::optional<int64_t> integer = value == nullptr ? std::nullopt : ToInteger(*value);
    if (!integer) Wrong(name, "an integer of at most 64 bits");
    return integer.value_or(0);
  }
  int Int(const char* name) {
    const int64_t value = Integer(name);
    // -1 is out of range for every field of type int here.
    return value < 0 || value > std::numeric_limits<int>::max() ? -1 : static_cast<int>(value);
  }
  // One of an enumeration's names, parsed by `parse`.
  template <typename Enum>
  Enum Word(const char* name, std::optional<Enum> (*parse)(std::string_view)) {
    const std::string word = Text(name);
    const std::optional<Enum> value = parse(word);
    if (!value)
      Note(InvalidInput("field \"", name, "\": \"", word.substr(0, kMaxNameBytes), "\" is not known"));
    return value.value_or(Enum{});
  }
  RecordConfig Config(const char* name) {
    RecordConfig config;
    const Json* value = Find(name);
    if (value == nullptr || !value->is_object()) {
      Wrong(name, "an object");
      return config;
    }
    for (const auto& [knob, number] : value->items()) {
      const std::optional<int64_t> integer = ToInteger(number);
      if (!integer) Wrong(name, "an object of integers");
      config[knob] = integer.value_or(0);
    }
    return config;
  }
  std::string Object(const char* name) {
    const Json* value = Find(name);
    if (value != nullptr && value->is_object()) return Dump(*value);
    Wrong(name, "an object");
    return "";
  }
  const absl::Status& status() const { return status_; }

 private:
  const Json* Find(const char* name) {
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    Note(InvalidInput("field \"", name, "\" is missing"));
    return nullptr;
  }
  void Wrong(const char* name, std::string_view expected) {
    Note(InvalidInput("field \"", name, "\": must be ", expected));
  }
  void Note(absl::Status error) {
    if (status_.ok()) status_ = std::move(error);
  }

  const Json& object_;
  absl::Status status_;
};

absl::StatusOr<Record> ParseRecord(const Json& object) {
  Fields fields(object);
  Record record;
  record.task = fields.Text("task");
  record.flops = fields.Number("flops");
  record.strategy = fields.Text("strategy");
  record.strategy_version = fields.Int("strategy_version");
  record.config = fields.Config("config");
  record.device = fields.Text("device");
  record.threads = fields.Int("threads");
  record.outcome = fields.Word("outcome", ParseTrialOutcome);
  if (record.outcome == TrialOutcome::kOk) {
    record.timing = {fields.Number("seconds"), fields.Number("low"), fields.Number("high"),
                     fields.Integer("repetitions")};
  } else {
    record.reason = fields.Text("reason");
  }
  record.run = fields.Text("run");
  record.trial = fields.Integer("trial");
  record.search = fields.Text("search");
  record.compiler_version = fields.Text("compiler");
  record.code_digest = fields.Text("code_digest");
  record.cache = fields.Word("cache", ParseCacheMode);
  record.time_ms = fields.Integer("time_ms");
  record.build_seconds = fields.Number("build_seconds");
  record.measure_seconds = fields.Number("measure_seconds");
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(Normalize(record));
  return record;
}

absl::StatusOr<TuningRun> ParseRun(const Json& object) {
  Fields fields(object);
  TuningRun run;
  run.id = fields.Text("run");
  run.model = fields.Text("model");
  run.model_digest = fields.Text("model_digest");
  run.device = fields.Text("device");
  run.threads = fields.Int("threads");
  run.options = fields.Object("options");
  run.start_ms = fields.Integer("start_ms");
  run.end_ms = fields.Integer("end_ms");
  run.state = fields.Word("state", ParseRunState);
  run.untuned_seconds = fields.Number("untuned_seconds");
  run.tuned_seconds = fields.Number("tuned_seconds");
  run.stage_seconds = fields.Object("stage_seconds");
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(Normalize(run));
  return run;
}

// The fields that identify a record (see RecordDigest), except its task.
void AppendFields(const Record& record, OrderedJson& json) {
  json["device"] = record.device;
  json["threads"] = record.threads;
  json["strategy"] = record.strategy;
  json["strategy_version"] = record.strategy_version;
  json["config"] = record.config;
  json["outcome"] = Name(record.outcome);
  if (record.outcome == TrialOutcome::kOk) {
    json["seconds"] = record.timing.seconds;
    json["low"] = record.timing.low;
    json["high"] = record.timing.high;
    json["repetitions"] = record.timing.repetitions;
  } else {
    json["reason"] = record.reason;
  }
  json["run"] = record.run;
  json["trial"] = record.trial;
  json["search"] = record.search;
  json["compiler"] = record.compiler_version;
  json["code_digest"] = record.code_digest;
  json["cache"] = Name(record.cache);
  json["time_ms"] = record.time_ms;
  json["build_seconds"] = record.build_seconds;
  json["measure_seconds"] = record.measure_seconds;
}

}  // namespace

std::string ToJsonLine(const Record& record) {
  OrderedJson json = {
      {"schema", kRecordSchema}, {"kind", "record"}, {"task", record.task}, {"flops", record.flops}};
  AppendFields(record, json);
  return Dump(json);
}

std::string RecordDigest(const Record& record) {
  OrderedJson json = {{"task", TaskDigest(record.task)}};
  AppendFields(record, json);
  return Sha256Hex(Dump(json));
}

std::string ToJsonLine(const TuningRun& run) {
  // Normalize() has checked the free-form JSON in these fields.
  return Dump(OrderedJson{
      {"schema", kRecordSchema},
      {"kind", "run"},
      {"run", run.id},
      {"model", run.model},
      {"model_digest", run.model_digest},
      {"device", run.device},
      {"threads", run.threads},
      {"options", OrderedJson::parse(run.options, nullptr, /*allow_exceptions=*/false)},
      {"start_ms", run.start_ms},
      {"end_ms", run.end_ms},
      {"state", Name(run.state)},
      {"untuned_seconds", run.untuned_seconds},
      {"tuned_seconds", run.tuned_seconds},
      {"stage_seconds", OrderedJson::parse(run.stage_seconds, nullptr, /*allow_exceptions=*/false)}});
}

absl::StatusOr<std::variant<Record, TuningRun>> ParseJsonLine(std::string_view line) {
  if (line.size() > kMaxLineBytes) return InvalidInput("the line is longer than ", kMaxLineBytes, " bytes");
  const absl::StatusOr<Json> object = ParseObject(line);
  if (!object.ok()) return InvalidInput("the line ", object.status().message());
  Fields fields(*object);
  const int64_t schema = fields.Integer("schema");
  const std::string kind = fields.Text("kind");
  RETURN_IF_ERROR(fields.status());
  if (schema > kRecordSchema) {
    return absl::FailedPreconditionError(
        absl::StrCat("schema ", schema, " is newer than this program's, ", kRecordSchema, "; update attune"));
  }
  if (schema < 1) return InvalidInput("field \"schema\": must be 1 or more");
  if (kind == "record") return ParseRecord(*object);
  if (kind == "run") return ParseRun(*object);
  return InvalidInput("field \"kind\": must be \"record\" or \"run\"");
}

std::string ConfigToJson(const RecordConfig& config) { return Dump(Json(config)); }

absl::StatusOr<RecordConfig> ParseConfig(std::string_view json) {
  ASSIGN_OR_RETURN(Json object, ParseObject(json));
  const Json outer = {{"config", std::move(object)}};
  Fields fields(outer);
  RecordConfig config = fields.Config("config");
  RETURN_IF_ERROR(fields.status());
  return config;
}

absl::StatusOr<std::string> CompactJsonObject(std::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json));
  return Dump(object);
}

}  // namespace attune
