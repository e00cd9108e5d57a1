#include "write_cases.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "case_json.h"
#include "check.h"
#include "export/onnx/export.h"
#include "io/npy.h"
#include "isolation/isolation.h"
#include "random_case.h"
#include "rounding.h"

namespace attune::graph_fuzz {
namespace {

using Json = nlohmann::ordered_json;

std::string Description(const RandomCase& random) {
  Json json = {{"inputs", Json::array()}, {"outputs", Json::object()}, {"nodes", Json::array()}};
  for (const auto& input : random.graph->inputs()) json["inputs"].push_back(input->name());
  for (const Graph::Output& output : random.graph->outputs())
    json["outputs"][output.name] = output.value->name();
  for (const auto& node : random.graph->nodes()) {
    if (node->op() != Op::kConstant) json["nodes"].push_back(NodeToJson(*node));
  }
  return json.dump(1) + "\n";
}

// Makes all results of nodes the outputs, with the values' names.
void GiveAllValues(RandomCase& random) {
  auto all = std::make_unique<Graph>(random.graph->name());
  std::map<const Value*, Value*> values;
  // Copies the nodes without the old outputs, since values may have the same names.
  for (const auto& input : random.graph->inputs())
    values[input.get()] = all->AddInput(input->name(), input->type());
  for (const auto& node : random.graph->nodes()) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) inputs.push_back(input == nullptr ? nullptr : values.at(input));
    std::vector<std::unique_ptr<Graph>> regions;
    for (int i = 0; i < node->num_regions(); ++i) regions.push_back(node->region(i).Clone());
    const absl::StatusOr<Node*> copy = all->Add(node->op(), std::move(inputs), node->attrs(), node->name(),
                                                nullptr, std::move(regions), node->num_outputs());
    for (int i = 0; i < node->num_outputs(); ++i) {
      Value* value = values[node->output(i)] = (*copy)->output(i);
      value->set_name(node->output(i)->name());
      if (node->op() != Op::kConstant) all->AddOutput(value->name(), value);
    }
  }
  random.graph = std::move(all);
}

absl::Status WriteArrays(const Graph& graph, const std::vector<Tensor>& tensors, const std::string& prefix) {
  for (size_t i = 0; i < tensors.size(); ++i)
    RETURN_IF_ERROR(WriteNpy(absl::StrCat(prefix, graph.outputs()[i].name, ".npy"), tensors[i]));
  return absl::OkStatus();
}

// Writes the graph's constants, which are not among the outputs.
absl::Status WriteConstants(const Graph& graph, const std::string& folder) {
  for (const auto& node : graph.nodes()) {
    const Tensor* constant = node->output()->constant();
    if (constant != nullptr)
      RETURN_IF_ERROR(WriteNpy(absl::StrCat(folder, "/", node->name(), ".npy"), *constant));
  }
  return absl::OkStatus();
}

absl::Status WriteActual(const RandomCase& random, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs,
                   RunCompiled(*random.graph, NamedInputs(*random.graph, random.inputs)));
  for (const NamedTensor& output : outputs)
    RETURN_IF_ERROR(WriteNpy(absl::StrCat(folder, "/actual_", output.name, ".npy"), output.tensor));
  return absl::OkStatus();
}

// The first line of a reason without the value's name, so that equal reasons are counted together.
std::string ReasonOf(const absl::Status& status) {
  const std::string_view text = status.message();
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t colon = line.find(": ");
  return std::string(colon == std::string_view::npos ? line : line.substr(colon + 2));
}

constexpr char kSkipped = 's', kFault = 'f';

std::string Outcome(const absl::Status& status) {
  if (status.ok()) return "";
  const bool skipped = absl::IsUnimplemented(status) || absl::IsNotFound(status);
  return absl::StrCat(std::string(1, skipped ? kSkipped : kFault),
                      skipped ? ReasonOf(status) : std::string(status.message()));
}

}  // namespace

absl::Status WriteCase(uint64_t seed, const std::string& folder, bool thorough) {
  RandomCase random = MakeRandomCase(seed);
  if (random.graph->outputs().empty()) return absl::NotFoundError("the graph has no outputs");
  if (thorough) GiveAllValues(random);
  ASSIGN_OR_RETURN(const std::string model, ExportOnnxBytes(*random.graph));
  std::vector<Tensor> expected;
  const Verdict verdict = CheckReference(random, &expected);
  if (!verdict.ok()) return InternalError("the reference: ", verdict.message);
  std::filesystem::create_directories(folder);
  RETURN_IF_ERROR(thorough ? WriteConstants(*random.graph, folder) : WriteActual(random, folder));
  RETURN_IF_ERROR(WriteArrays(*random.graph, expected, folder + "/expected_"));
  Judge judge(*random.graph, random.inputs, std::move(expected));
  RETURN_IF_ERROR(
      WriteArrays(*random.graph, judge.Bounds(thorough ? Judge::kMostEffort : 0), folder + "/bound_"));
  for (size_t i = 0; i < random.inputs.size(); ++i) {
    const std::string& name = random.graph->inputs()[i]->name();
    RETURN_IF_ERROR(WriteNpy(absl::StrCat(folder, "/", name, ".npy"), random.inputs[i]));
  }
  RETURN_IF_ERROR(WriteFileAtomically(folder + (thorough ? "/all.onnx" : "/model.onnx"), model));
  // This file is written last: if it exists, the others do.
  return WriteFileAtomically(folder + "/case.json", Description(random));
}

bool WriteCases(const WriteOptions& options) {
  IsolatedTasks tasks;
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    tasks[absl::StrCat(seed)] = [&options, seed] {
      return Outcome(WriteCase(seed, absl::StrCat(options.folder, "/", seed), options.thorough));
    };
  }
  int64_t written = 0, faults = 0;
  std::map<std::string, int64_t> skipped;
  for (const auto& [seed, result] : RunIsolated(tasks, options.jobs, options.seconds_each)) {
    if (!result.crash.empty() || result.text.starts_with(kFault)) {
      ++faults;
      std::cout << "seed " << seed
                << ": fault: " << (result.crash.empty() ? result.text.substr(1) : result.crash) << "\n";
    } else if (result.text.starts_with(kSkipped)) {
      ++skipped[result.text.substr(1)];
    } else {
      ++written;
    }
  }
  for (const auto& [reason, count] : skipped) std::cout << "skipped " << count << ": " << reason << "\n";
  std::cout << written << " written, " << faults << " faults\n";
  return faults == 0;
}

}  // namespace attune::graph_fuzz
