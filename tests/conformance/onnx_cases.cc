#include "onnx_cases.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/compiled_executor.h"
#include "base/file.h"
#include "base/status.h"
#include "import/import.h"
#include "import/onnx/import.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune::conformance {
namespace {

namespace fs = std::filesystem;

// The tolerance of the backend suite; integers are exact.
constexpr Tolerance kBackendTolerance = {.absolute = 1e-7, .relative = 1e-3};

absl::StatusOr<Tensor> ReadTensor(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path.string(), 1 << 30));
  return TensorFromOnnxProto(bytes);
}

// Reads input_0.pb, input_1.pb, … and names them by the model's inputs. Inputs that are not tensors are
// left out: the importer says why.
std::map<std::string, Tensor> ReadInputs(const fs::path& set, const DeclaredModel& info) {
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    absl::StatusOr<Tensor> tensor = ReadTensor(set / absl::StrCat("input_", i, ".pb"));
    if (tensor.ok()) inputs[info.inputs[i].name] = *std::move(tensor);
  }
  return inputs;
}

Result RunDataSet(ModelReader& model, const fs::path& set, const DeclaredModel& info,
                  const Executor& executor, const BoundedExecutor& folding) {
  OnnxImportOptions options;
  options.input_values = ReadInputs(set, info);
  options.executor = &folding;
  const absl::StatusOr<std::unique_ptr<Graph>> graph = model.Import(options);
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
    if (!comparison.ok()) return {Outcome::kWrong, absl::StrCat("output ", i, ": ", comparison.ToString())};
  }
  return {Outcome::kPass, ""};
}

// For each test_data_set_N of the folder, imports model.onnx anew, since shapes come from the inputs,
// executes it and compares. The importer also gets the values of the inputs, for shapes that depend on
// them.
Result RunCase(const std::string& folder, const Executor& executor, const BoundedExecutor& folding) {
  const std::string path = folder + "/model.onnx";
  const absl::StatusOr<InputFile> file = OpenModelFile(path);
  if (!file.ok()) return FromStatus(file.status(), "read");
  absl::StatusOr<ModelReader> model = ModelReader::Read(*file, path);
  if (!model.ok()) return FromStatus(model.status(), "read");
  const absl::StatusOr<DeclaredModel> info = model->Declare("");
  if (!info.ok()) return FromStatus(info.status(), "read");
  int sets = 0;
  for (; fs::exists(absl::StrCat(folder, "/test_data_set_", sets)); ++sets) {
    const Result result =
        RunDataSet(*model, absl::StrCat(folder, "/test_data_set_", sets), *info, executor, folding);
    if (result.outcome != Outcome::kPass) return result;
  }
  if (sets == 0) return {Outcome::kWrong, "it has no test data"};
  return {Outcome::kPass, ""};
}

}  // namespace

absl::StatusOr<Tasks> FindOnnxCases(const std::string& data, const RunOptions& options) {
  const auto reference = std::make_shared<const Interpreter>();
  std::shared_ptr<const Executor> executor = reference;
  if (options.executor == "compiled") executor = std::make_shared<const CompiledExecutor>();
  Tasks tasks;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (entry.path().filename() != "model.onnx") continue;
    const fs::path folder = entry.path().parent_path();
    // Two groups of the data have cases with the same name.
    const std::string name = folder.parent_path().filename().string() + "/" + folder.filename().string();
    tasks[name] = [=] { return RunCase(folder.string(), *executor, *reference); };
  }
  return tasks;
}

}  // namespace attune::conformance
