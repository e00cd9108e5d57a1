#include "sweep/sweep_plan.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file.h"
#include "base/json_object.h"
#include "base/status.h"
#include "sweep/sweep_value.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr size_t kIdDigits = 32;

std::string NewId() {
  std::random_device device;
  return absl::StrFormat("%08x%08x%08x%08x", device(), device(), device(), device());
}

bool IsId(const std::string& text) {
  return text.size() == kIdDigits && std::ranges::all_of(text, absl::ascii_isxdigit);
}

absl::StatusOr<SweepRun> RunOfJson(const Json& object, size_t num_options) {
  SweepRun run;
  SettingsReader reader(object, "");
  reader.Read("run", run.id, /*needed=*/true);
  reader.Read("repeat", run.repeat, 1, kMostSweepRuns);
  const Json values = reader.ReadJson("values");
  RETURN_IF_ERROR(reader.Finish());
  if (!IsId(run.id)) return InvalidInput("run: is not an id");
  if (!values.is_array() || values.size() != num_options)
    return InvalidInput("values: are not as many as options");
  for (const Json& value : values) {
    RETURN_IF_ERROR(Annotate(CheckSweepValue(value), "values"));
    run.values.push_back(value);
  }
  return run;
}

absl::Status ReadAxes(const Json& axes, SweepPlan& plan) {
  if (!axes.is_array()) return InvalidInput("axes: is not a list");
  size_t next = 0;
  for (const Json& axis : axes) {
    SettingsReader reader(axis, "");
    std::vector<std::string>& names = plan.axes.emplace_back();
    reader.Read("options", names);
    RETURN_IF_ERROR(reader.Finish());
    for (const std::string& name : names)
      if (next >= plan.options.size() || plan.options[next++] != name)
        return InvalidInput("axes: are not those of the options");
  }
  return absl::OkStatus();
}

absl::StatusOr<SweepPlan> PlanOfJson(const Json& json) {
  SweepPlan plan;
  SettingsReader reader(json, "");
  reader.Read("sweep", plan.id, /*needed=*/true);
  reader.Read("version", plan.version);
  reader.Read("fingerprint", plan.fingerprint);
  reader.Read("commands", plan.commands);
  reader.Read("records", plan.records);
  reader.Read("options", plan.options);
  const Json axes = reader.ReadJson("axes");
  const std::vector<Json> agents = reader.ReadObjects("agents"), runs = reader.ReadObjects("runs");
  RETURN_IF_ERROR(reader.Finish());
  if (!IsId(plan.id)) return InvalidInput("sweep: is not an id");
  RETURN_IF_ERROR(ReadAxes(axes, plan));
  for (const Json& object : agents) {
    SweepAgent& agent = plan.agents.emplace_back();
    SettingsReader of_agent(object, "");
    of_agent.Read("key", agent.key);
    for (const Json& processor : of_agent.ReadJson("processors"))
      agent.processors.push_back(static_cast<int>(WholeNumber(processor, 0, INT32_MAX).value_or(0)));
    RETURN_IF_ERROR(of_agent.Finish());
  }
  if (std::ranges::count(plan.options, kModelOption) != 1) return InvalidInput("options: have no model");
  RETURN_IF_ERROR(CheckSweepCommands(plan.commands));
  if (runs.empty() || std::ssize(runs) > kMostSweepRuns) return InvalidInput("runs: are none, or too many");
  for (const Json& object : runs) {
    ASSIGN_OR_RETURN(plan.runs.emplace_back(), RunOfJson(object, plan.options.size()));
  }
  return plan;
}

// All but the ids and the number of runs.
Json CommonOf(const SweepPlan& plan) {
  Json json = ToJson(plan);
  for (const char* key : {"sweep", "runs", "version", "fingerprint"}) json.erase(key);
  return json;
}

}  // namespace

bool SweepPlan::Has(std::string_view command) const {
  return std::ranges::find(commands, command) != commands.end();
}

size_t SweepPlan::NumSwept() const {
  size_t count = 0;
  for (const std::vector<std::string>& axis : axes) count += axis.size();
  return count;
}

size_t SweepPlan::IndexOf(const std::string& option) const {
  return static_cast<size_t>(std::ranges::find(options, option) - options.begin());
}

std::string SweepPlan::DescribeRun(const SweepRun& run) const {
  std::string text;
  for (size_t i = 0; i < NumSwept(); ++i)
    absl::StrAppend(&text, text.empty() ? "" : " ", options[i], "=",
                    run.values[i].is_null() ? "~" : SweepValueText(run.values[i]));
  const bool is_repeated = std::ranges::any_of(runs, [](const SweepRun& other) { return other.repeat > 1; });
  if (is_repeated) absl::StrAppend(&text, text.empty() ? "" : " ", "repeat=", run.repeat);
  return text.empty() ? SweepValueText(run.values[IndexOf(kModelOption)]) : text;
}

SweepPlan MakeSweepPlan(const SweepFile& file, const ExpandedSweep& expanded, std::string version,
                        std::string fingerprint) {
  SweepPlan plan;
  plan.id = NewId();
  plan.version = std::move(version);
  plan.fingerprint = std::move(fingerprint);
  plan.commands = file.commands;
  plan.records = file.records;
  plan.agents = file.agents;
  plan.options = expanded.options;
  for (const SweepAxis& axis : file.axes) plan.axes.push_back(axis.options);
  for (int64_t repeat = 1; repeat <= file.repeat; ++repeat) {
    for (const std::vector<SweepValue>& row : expanded.rows) {
      const std::string id = Sha256Hex(absl::StrCat(plan.id, " ", plan.runs.size())).substr(0, kIdDigits);
      plan.runs.push_back({.id = id, .repeat = repeat, .values = row});
    }
  }
  return plan;
}

absl::Status CheckIsSamePlan(const SweepPlan& begun, const SweepPlan& wanted) {
  const auto differ = [](std::string_view what, const std::string& before, const std::string& now) {
    return InvalidInput("was begun ", what, " ", before, ", and now it is ", now);
  };
  if (begun.version != wanted.version) return differ("by attune", begun.version, wanted.version);
  if (begun.fingerprint != wanted.fingerprint) return differ("on", begun.fingerprint, wanted.fingerprint);
  const Json before = CommonOf(begun), now = CommonOf(wanted);
  for (const auto& [key, value] : now.items())
    if (before[key] != value) return differ(absl::StrCat("with ", key), before[key].dump(), value.dump());
  for (size_t i = 0; i < std::min(begun.runs.size(), wanted.runs.size()); ++i) {
    const SweepRun &old_run = begun.runs[i], &new_run = wanted.runs[i];
    if (old_run.repeat != new_run.repeat) return differ("with a repeat of", "one number", "another one");
    const auto [old_value, new_value] = std::ranges::mismatch(old_run.values, new_run.values);
    if (old_value == old_run.values.end()) continue;
    const auto option = static_cast<size_t>(old_value - old_run.values.begin());
    return differ(absl::StrCat("with ", wanted.options[option], " of run ", i + 1), old_value->dump(),
                  new_value->dump());
  }
  if (begun.runs.size() != wanted.runs.size())
    return differ("with a number of runs of", absl::StrCat(begun.runs.size()),
                  absl::StrCat(wanted.runs.size()));
  return absl::OkStatus();
}

nlohmann::json ToJson(const SweepPlan& plan) {
  Json axes = Json::array(), agents = Json::array(), runs = Json::array();
  for (const std::vector<std::string>& axis : plan.axes) axes.push_back(Json{{"options", axis}});
  for (const SweepAgent& agent : plan.agents)
    agents.push_back({{"key", agent.key}, {"processors", agent.processors}});
  for (const SweepRun& run : plan.runs)
    runs.push_back({{"run", run.id}, {"repeat", run.repeat}, {"values", run.values}});
  return {{"sweep", plan.id},          {"version", plan.version}, {"fingerprint", plan.fingerprint},
          {"commands", plan.commands}, {"records", plan.records}, {"agents", std::move(agents)},
          {"options", plan.options},   {"axes", std::move(axes)}, {"runs", std::move(runs)}};
}

absl::StatusOr<SweepPlan> ParseSweepPlan(const std::string& text) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(text));
  return PlanOfJson(json);
}

}  // namespace attune
