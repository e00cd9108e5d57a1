#include "case.h"

#include <filesystem>
#include <map>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"
#include "import/onnx/import.h"
#include "reference/compare.h"

namespace attune::conformance {
namespace {

namespace fs = std::filesystem;

constexpr Tolerance kBackendTolerance = {.absolute = 1e-7, .relative = 1e-3};

Result Fail(Outcome outcome, std::string message) { return {outcome, std::move(message)}; }

// Of the first line "NS Op node: reason": "Op: reason".
std::string FirstReason(std::string_view message) {
  const std::string_view line = message.substr(0, message.find('\n'));
  const std::vector<std::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
  const size_t colon = line.find(": ");
  if (words.size() < 3 || words[0] != "NS" || colon == std::string_view::npos) return std::string(line);
  return absl::StrCat(words[1], line.substr(colon));
}

Result FromStatus(const absl::Status& status, std::string_view stage) {
  if (absl::IsUnimplemented(status)) return Fail(Outcome::kNotSupported, FirstReason(status.message()));
  return Fail(Outcome::kWrong, absl::StrCat(stage, ": ", status.message()));
}

absl::StatusOr<Tensor> ReadTensor(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path.string()));
  return TensorFromOnnxProto(bytes);
}

// input_0.pb, input_1.pb, … by the names of the model's inputs. Those that are no tensors are left out: the
// importer says why.
std::map<std::string, Tensor> ReadInputs(const fs::path& set, const OnnxModelInfo& info) {
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    absl::StatusOr<Tensor> tensor = ReadTensor(set / absl::StrCat("input_", i, ".pb"));
    if (tensor.ok()) inputs[info.inputs[i].name] = *std::move(tensor);
  }
  return inputs;
}

Result RunDataSet(const std::string& model, const fs::path& set, const OnnxModelInfo& info,
                  const Executor& executor, const Executor& folding) {
  OnnxImportOptions options;
  options.input_values = ReadInputs(set, info);
  options.executor = &folding;
  const absl::StatusOr<std::unique_ptr<Graph>> graph = ImportOnnx(model, options);
  if (!graph.ok()) return FromStatus(graph.status(), "import");
  std::vector<Tensor> inputs;
  for (const auto& input : (*graph)->inputs()) inputs.push_back(options.input_values[input->name()]);
  const absl::StatusOr<std::vector<Tensor>> outputs = executor.Run(**graph, inputs);
  if (!outputs.ok()) return FromStatus(outputs.status(), "run");
  for (size_t i = 0; i < outputs->size(); ++i) {
    const fs::path path = set / absl::StrCat("output_", i, ".pb");
    const absl::StatusOr<Tensor> expected = ReadTensor(path);
    if (!expected.ok()) return FromStatus(expected.status(), path.filename().string());
    const Tolerance tolerance = IsFloat(expected->dtype()) ? kBackendTolerance : Tolerance{};
    const Comparison comparison = Compare(*expected, (*outputs)[i], tolerance);
    if (!comparison.ok())
      return Fail(Outcome::kWrong, absl::StrCat("output ", i, ": ", comparison.ToString()));
  }
  return {Outcome::kPass, ""};
}

}  // namespace

Result RunCase(const std::string& folder, const Executor& executor, const Executor& folding) {
  const std::string model = folder + "/model.onnx";
  const absl::StatusOr<OnnxModelInfo> info = ReadOnnxInfo(model);
  if (!info.ok()) return FromStatus(info.status(), "read");
  int sets = 0;
  for (; fs::exists(absl::StrCat(folder, "/test_data_set_", sets)); ++sets) {
    const Result result =
        RunDataSet(model, absl::StrCat(folder, "/test_data_set_", sets), *info, executor, folding);
    if (result.outcome != Outcome::kPass) return result;
  }
  if (sets == 0) return Fail(Outcome::kWrong, "it has no test data");
  return {Outcome::kPass, ""};
}

}  // namespace attune::conformance
