#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/models/model_facts.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostTexts = 4096, kMostList = 100'000, kMostInterface = 1 << 20;
constexpr double kMostNumber = 1e18, kMostUses = 1e6;
constexpr std::array<std::string_view, 3> kMultiplicands = {"f32", "bf16", "int8"};  // as in Multiplicand

// Reads fields of one object; the first error stays.
class Reader {
 public:
  Reader(const Json& json, std::string place, absl::Status& status)
      : json_(json), place_(std::move(place)), status_(status) {
    if (!json.is_object()) Fail("", "is not an object");
  }

  void Text(const char* key, std::string& to, size_t most = kMostTexts) {
    const Json* value = Find(key, &Json::is_string);
    if (value == nullptr) return;
    to = value->get<std::string>();
    if (to.size() > most) Fail(key, "is too long");
  }
  void Number(const char* key, double& to, double most = kMostNumber) {
    const Json* value = Find(key, &Json::is_number);
    if (value == nullptr) return;
    to = value->get<double>();
    if (!(to >= 0 && to <= most)) Fail(key, "is out of range");
  }
  // Calls `add` with a reader of each object.
  template <typename Add>
  void Objects(const char* key, Add add) {
    const Json* list = Find(key, &Json::is_array);
    if (list == nullptr) return;
    if (list->size() > kMostList) return Fail(key, "is too long");
    for (size_t i = 0; i < list->size() && status_.ok(); ++i)
      add(Reader((*list)[i], absl::StrCat(place_, "/", key, "/", i), status_));
  }
  void Fail(const char* key, std::string_view what) {
    if (status_.ok()) status_ = InvalidInput(place_, *key == '\0' ? "" : "/", key, ": ", what);
  }

 private:
  const Json* Find(const char* key, bool (Json::*is)() const noexcept) {
    if (!status_.ok()) return nullptr;
    const auto found = json_.find(key);
    if (found != json_.end() && ((*found).*is)()) return &*found;
    Fail(key, "is missing, or of another type");
    return nullptr;
  }

  const Json& json_;
  const std::string place_;
  absl::Status& status_;
};

void ReadTensors(Reader& reader, const char* key, std::vector<TensorFacts>& to) {
  reader.Objects(key, [&](Reader tensor) {
    TensorFacts& facts = to.emplace_back();
    tensor.Text("name", facts.name);
    tensor.Text("type", facts.type);
  });
}

TaskFacts ReadTask(Reader& task) {
  TaskFacts facts;
  task.Text("task", facts.digest);
  task.Text("description", facts.description);
  task.Text("anchor", facts.anchor);
  for (const auto& [key, uses] :
       {std::pair("uses", &TaskFacts::uses), std::pair("sure_uses", &TaskFacts::sure_uses)}) {
    double number = 0;
    task.Number(key, number, kMostUses);
    facts.*uses = static_cast<int>(number);
  }
  task.Number("flops", facts.work.flops);
  task.Number("bytes_read", facts.work.bytes_read);
  task.Number("bytes_written", facts.work.bytes_written);
  std::string multiplicand;
  task.Text("multiplicand", multiplicand);
  const auto found = std::ranges::find(kMultiplicands, multiplicand);
  if (found == kMultiplicands.end())
    task.Fail("multiplicand", "is not valid");
  else
    facts.work.multiplicand = static_cast<Multiplicand>(found - kMultiplicands.begin());
  return facts;
}

Json ToJson(const std::vector<TensorFacts>& tensors) {
  Json list = Json::array();
  for (const TensorFacts& tensor : tensors) list.push_back({{"name", tensor.name}, {"type", tensor.type}});
  return list;
}

}  // namespace

Json ToJson(const ModelFacts& facts) {
  Json tasks = Json::array();
  for (const TaskFacts& task : facts.tasks) {
    tasks.push_back({{"task", task.digest},
                     {"description", task.description},
                     {"anchor", task.anchor},
                     {"uses", task.uses},
                     {"sure_uses", task.sure_uses},
                     {"flops", task.work.flops},
                     {"bytes_read", task.work.bytes_read},
                     {"bytes_written", task.work.bytes_written},
                     {"multiplicand", kMultiplicands[static_cast<size_t>(task.work.multiplicand)]}});
  }
  return {{"network", facts.network},           {"interface", facts.interface},
          {"inputs", ToJson(facts.inputs)},     {"outputs", ToJson(facts.outputs)},
          {"weight_bytes", facts.weight_bytes}, {"target", facts.target},
          {"tasks", std::move(tasks)}};
}

absl::StatusOr<ModelFacts> ModelFactsOfJson(const Json& json) {
  ModelFacts facts;
  absl::Status status;
  Reader reader(json, "", status);
  reader.Text("network", facts.network);
  reader.Text("interface", facts.interface, kMostInterface);
  ReadTensors(reader, "inputs", facts.inputs);
  ReadTensors(reader, "outputs", facts.outputs);
  reader.Number("weight_bytes", facts.weight_bytes);
  reader.Text("target", facts.target);
  reader.Objects("tasks", [&](Reader task) { facts.tasks.push_back(ReadTask(task)); });
  RETURN_IF_ERROR(status);
  return facts;
}

}  // namespace attune
