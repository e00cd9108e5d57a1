#include "sweep/sweep_file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"
#include "sweep/sweep_value.h"
#include "work/file/yaml.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using Document = nlohmann::ordered_json;

constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr int64_t kMostRepeats = 1000;
constexpr int64_t kMostAgents = 64;
constexpr int kMostProcessor = 8191;

// Reads the keys whose order matters, and reports options that are given twice.
class OptionsReader {
 public:
  OptionsReader(const Document& document, SweepFile& file) : document_(document), file_(file) {}

  absl::Status Read() {
    RETURN_IF_ERROR(ReadFixed());
    RETURN_IF_ERROR(ReadProduct());
    RETURN_IF_ERROR(ReadZip());
    if (!known_.contains(kModelOption))
      return InvalidInput("model: is missing; name it in options, or the models in product or zip");
    return ReadExclusions();
  }

 private:
  // The mapping with this key; empty if there is none.
  absl::StatusOr<Document> Mapping(const char* key) const {
    if (!document_.contains(key) || document_[key].is_null()) return Document::object();
    if (!document_[key].is_object()) return InvalidInput(key, ": is not a mapping of options");
    return document_[key];
  }
  // The list of mappings with this key; a single one needs no list.
  absl::StatusOr<std::vector<Document>> Mappings(const char* key) const {
    if (!document_.contains(key) || document_[key].is_null()) return std::vector<Document>();
    const Document& value = document_[key];
    if (value.is_object()) return std::vector<Document>{value};
    if (!value.is_array() || !std::ranges::all_of(value, [](const Document& m) { return m.is_object(); }))
      return InvalidInput(key, ": is not a list of mappings of options");
    return value.get<std::vector<Document>>();
  }

  absl::Status Take(const char* where, const std::string& option) {
    if (known_.insert(option).second) return absl::OkStatus();
    return InvalidInput(where, ": ", Printable(option), ": is given elsewhere in the file, too");
  }

  static absl::StatusOr<std::vector<SweepValue>> ValuesOf(const char* where, const std::string& option,
                                                          const Document& list) {
    if (!list.is_array() || list.empty())
      return InvalidInput(where, ": ", Printable(option), ": is not a list of values");
    std::vector<SweepValue> values;
    for (const Document& value : list) {
      RETURN_IF_ERROR(Annotate(CheckSweepValue(value), absl::StrCat(where, ": ", Printable(option))));
      values.emplace_back(value);
    }
    return values;
  }

  absl::Status ReadFixed() {
    ASSIGN_OR_RETURN(const Document options, Mapping("options"));
    for (const auto& [option, value] : options.items()) {
      RETURN_IF_ERROR(Take("options", option));
      RETURN_IF_ERROR(Annotate(CheckSweepValue(value), absl::StrCat("options: ", Printable(option))));
      file_.options.emplace_back(option, value);
    }
    return absl::OkStatus();
  }

  // Adds an axis unless two of its points are the same: their runs would differ in nothing.
  absl::Status AddAxis(SweepAxis axis) {
    std::set<std::vector<SweepValue>> points;
    for (const std::vector<SweepValue>& point : axis.points) {
      if (points.insert(point).second) continue;
      return InvalidInput(axis.key, ": ", Printable(absl::StrJoin(axis.options, ", ")), ": ",
                          Printable(absl::StrJoin(point, ", ",
                                                  [](std::string* to, const SweepValue& value) {
                                                    to->append(SweepValueText(value));
                                                  })),
                          " is there twice; give repeat: 2 to run everything twice");
    }
    file_.axes.push_back(std::move(axis));
    return absl::OkStatus();
  }

  absl::Status ReadProduct() {
    ASSIGN_OR_RETURN(const Document product, Mapping("product"));
    for (const auto& [option, list] : product.items()) {
      RETURN_IF_ERROR(Take("product", option));
      ASSIGN_OR_RETURN(const std::vector<SweepValue> values, ValuesOf("product", option, list));
      SweepAxis axis = {"product", {option}, {}};
      for (const SweepValue& value : values) axis.points.push_back({value});
      RETURN_IF_ERROR(AddAxis(std::move(axis)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadZip() {
    ASSIGN_OR_RETURN(const std::vector<Document> groups, Mappings("zip"));
    for (const Document& group : groups) {
      SweepAxis axis = {"zip", {}, {}};
      for (const auto& [option, list] : group.items()) {
        RETURN_IF_ERROR(Take("zip", option));
        ASSIGN_OR_RETURN(const std::vector<SweepValue> values, ValuesOf("zip", option, list));
        if (axis.options.empty()) axis.points.resize(values.size());
        if (values.size() != axis.points.size())
          return InvalidInput("zip: ", Printable(option), ": has ", values.size(), " values, but ",
                              Printable(axis.options.front()), " has ", axis.points.size());
        axis.options.push_back(option);
        for (size_t i = 0; i < values.size(); ++i) axis.points[i].push_back(values[i]);
      }
      if (!axis.options.empty()) RETURN_IF_ERROR(AddAxis(std::move(axis)));
    }
    return absl::OkStatus();
  }

  // Ok if some axis has the option with this value.
  absl::Status CheckIsSwept(const std::string& option, const SweepValue& value) const {
    for (const SweepAxis& axis : file_.axes) {
      const auto found = std::ranges::find(axis.options, option);
      if (found == axis.options.end()) continue;
      const auto index = static_cast<size_t>(found - axis.options.begin());
      if (std::ranges::any_of(axis.points, [&](const auto& point) { return point[index] == value; }))
        return absl::OkStatus();
      return InvalidInput("exclude: ", Printable(option), ": ", Printable(SweepValueText(value)),
                          " is none of its values");
    }
    return InvalidInput("exclude: ", Printable(option), ": is not in product or zip");
  }

  absl::Status ReadExclusions() {
    ASSIGN_OR_RETURN(const std::vector<Document> exclusions, Mappings("exclude"));
    for (const Document& mapping : exclusions) {
      if (mapping.empty()) return InvalidInput("exclude: an empty mapping would leave out every run");
      SweepExclusion& exclusion = file_.exclusions.emplace_back();
      for (const auto& [option, value] : mapping.items()) {
        std::vector<SweepValue> values = {value};
        if (value.is_array()) values = SweepValue(value).get<std::vector<SweepValue>>();
        for (const SweepValue& one : values) RETURN_IF_ERROR(CheckIsSwept(option, one));
        exclusion.emplace_back(option, std::move(values));
      }
    }
    return absl::OkStatus();
  }

  const Document& document_;
  SweepFile& file_;
  std::set<std::string> known_;
};

absl::StatusOr<std::vector<SweepAgent>> ReadAgents(const std::vector<nlohmann::json>& objects,
                                                   const std::string& base) {
  if (objects.size() > kMostAgents) return InvalidInput("there are more than ", kMostAgents);
  std::vector<SweepAgent> agents;
  for (const nlohmann::json& object : objects) {
    SweepAgent agent;
    SettingsReader reader(object, base);
    reader.Read("key", agent.key, /*needed=*/true);
    const nlohmann::json processors = reader.ReadJson("processors");
    RETURN_IF_ERROR(reader.Finish());
    if (agent.key.starts_with('-')) return InvalidInput("key: begins with a dash");
    for (const nlohmann::json& processor : processors) {
      const std::optional<int64_t> number = WholeNumber(processor, 0, kMostProcessor);
      if (!number) return InvalidInput("processors: is not a list of numbers like [0, 1]");
      agent.processors.push_back(static_cast<int>(*number));
    }
    agents.push_back(std::move(agent));
  }
  return agents;
}

absl::Status ReadDocument(const Document& document, SweepFile& file) {
  // The order of these keys does not matter, and the reader knows no other.
  const nlohmann::json settings = document;
  SettingsReader reader(settings, file.base);
  file.records = kOwnRecords;
  reader.Read("commands", file.commands);
  reader.ReadPath("output", file.output);
  reader.Read("records", file.records);
  reader.Read("repeat", file.repeat, 1, kMostRepeats);
  reader.ReadSeconds("timeout", file.most_seconds);
  const std::vector<nlohmann::json> agents = reader.ReadObjects("agents");
  for (const char* key : {"options", "product", "zip", "exclude"}) reader.ReadJson(key);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckSweepCommands(file.commands));
  if (file.records != kOwnRecords && file.records != kSharedRecords)
    reader.ReadPath("records", file.records, /*needed=*/true);
  RETURN_IF_ERROR(reader.Finish());
  absl::StatusOr<std::vector<SweepAgent>> read = ReadAgents(agents, file.base);
  if (!read.ok()) return Annotate(read.status(), "agents");
  file.agents = *std::move(read);
  return OptionsReader(document, file).Read();
}

}  // namespace

absl::Status CheckSweepCommands(const std::vector<std::string>& commands) {
  constexpr std::string_view kAll = "some of quantize, tune, compile and bench, in this order";
  if (commands.empty()) return InvalidInput("commands: is missing; give ", kAll);
  const char* const* next = std::begin(kSweepCommands);
  for (const std::string& command : commands) {
    next = std::find(next, std::end(kSweepCommands), command);
    if (next == std::end(kSweepCommands))
      return InvalidInput("commands: \"", Printable(command), "\": the commands are ", kAll);
    ++next;
  }
  return absl::OkStatus();
}

absl::StatusOr<SweepFile> ParseSweepFile(const std::string& text, const std::string& path,
                                         const std::string& base) {
  const absl::StatusOr<Document> document = ParseOrderedYaml(text);
  if (!document.ok()) return Annotate(document.status(), path);
  if (!document->is_object())
    return InvalidInput(path, ": is not a file of a sweep: it has no key \"commands\"");
  SweepFile file;
  file.path = path;
  file.base = base;
  RETURN_IF_ERROR(Annotate(ReadDocument(*document, file), path));
  return file;
}

absl::StatusOr<SweepFile> ReadSweepFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return ParseSweepFile(text, path, absolute.parent_path().string());
}

}  // namespace attune
