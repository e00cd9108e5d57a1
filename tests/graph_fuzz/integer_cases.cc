#include "integer_cases.h"

#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "case_json.h"
#include "check.h"
#include "export/onnx/export.h"
#include "import/common/import_once_for_test.h"
#include "import/onnx/import.h"
#include "isolation/isolation.h"
#include "random_case.h"
#include "reference/interpreter.h"

namespace attune::graph_fuzz {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Tensor& tensor) {
  Json data = Json::array();
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    data.push_back(tensor.ToNumber(i).Visit([](auto number) -> Json { return number; }));
  return {{"dtype", std::string(DTypeName(tensor.dtype()))},
          {"shape", tensor.shape()},
          {"data", std::move(data)}};
}

// The outputs of the graph by way of ONNX; none where ONNX cannot express it.
absl::StatusOr<std::vector<NamedTensor>> RunImported(const RandomCase& random) {
  const absl::StatusOr<std::string> model = ExportOnnxBytes(*random.graph);
  if (absl::IsUnimplemented(model.status())) return std::vector<NamedTensor>();
  RETURN_IF_ERROR(model.status());
  const Interpreter interpreter;
  ImportOptions options;
  options.executor = &interpreter;
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> imported,
                   importing::ImportOnce(ParseOnnx(*model, ""), options));
  return RunCompiled(*imported, NamedInputs(*random.graph, random.inputs));
}

constexpr char kFault = '!', kSkipped = '-';

}  // namespace

absl::StatusOr<std::string> IntegerLine(uint64_t seed, const std::string& cpu) {
  const RandomCase random = MakeIntegerCase(seed);
  const Graph& graph = *random.graph;
  if (graph.outputs().empty()) return absl::NotFoundError("the graph has no outputs");
  Random settings(seed ^ 0x5E771265);
  const Verdict verdict = CheckAll(random, DrawSettings(settings, cpu));
  if (!verdict.ok()) return InternalError(NameOf(verdict.failure), ": ", verdict.message);
  Json line = {
      {"seed", seed}, {"tensors", Json::object()}, {"nodes", Json::array()}, {"outputs", Json::array()}};
  for (size_t i = 0; i < random.inputs.size(); ++i)
    line["tensors"][graph.inputs()[i]->name()] = ToJson(random.inputs[i]);
  for (const auto& node : graph.nodes()) {
    if (const Tensor* constant = node->output()->constant()) {
      line["tensors"][node->name()] = ToJson(*constant);
    } else {
      line["nodes"].push_back(NodeToJson(*node));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<Tensor> reference, Interpreter().Run(graph, random.inputs));
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> compiled,
                   RunCompiled(graph, NamedInputs(graph, random.inputs)));
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> imported, RunImported(random));
  for (size_t i = 0; i < reference.size(); ++i) {
    line["outputs"].push_back({{"value", NameOfValue(*graph.outputs()[i].value)},
                               {"reference", ToJson(reference[i])},
                               {"compiled", ToJson(compiled[i].tensor)},
                               {"imported", imported.empty() ? Json() : ToJson(imported[i].tensor)}});
  }
  return line.dump();
}

bool WriteIntegerLines(const IntegerOptions& options) {
  IsolatedTasks tasks;
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    tasks[absl::StrCat(seed)] = [&options, seed] {
      const absl::StatusOr<std::string> line = IntegerLine(seed, options.cpu);
      if (line.ok()) return *line;
      const char kind = absl::IsNotFound(line.status()) ? kSkipped : kFault;
      return absl::StrCat(std::string(1, kind), line.status().message());
    };
  }
  std::string lines;
  int64_t written = 0, faults = 0;
  for (const auto& [seed, result] : RunIsolated(tasks, options.jobs, options.seconds_each)) {
    if (!result.crash.empty() || result.text.starts_with(kFault)) {
      ++faults;
      std::cout << "seed " << seed
                << ": fault: " << (result.crash.empty() ? result.text.substr(1) : result.crash) << "\n";
    } else if (!result.text.starts_with(kSkipped)) {
      ++written;
      absl::StrAppend(&lines, result.text, "\n");
    }
  }
  const absl::Status status = WriteFileAtomically(options.path, lines);
  if (!status.ok()) std::cout << status.message() << "\n";
  std::cout << written << " written, " << faults << " faults\n";
  return status.ok() && faults == 0;
}

}  // namespace attune::graph_fuzz
