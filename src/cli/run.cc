// attune run MODEL|OUT.atn
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>

#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/model_flags.h"
#include "cli/on_device.h"
#include "cli/precision.h"
#include "io/labels.h"
#include "io/npy.h"

namespace attune {
namespace {

struct RunFlags {
  ModelFlags model;
  InputSources inputs;
  std::string output, labels;
  int top = 0;
};

constexpr int kDefaultTop = 5;
constexpr int64_t kMaxJsonElements = 4096;  // maximum for an output whose values are written to the JSON

// Whether it is a list of scores: at most one dimension is not 1.
bool IsList(const Tensor& tensor) {
  return std::count_if(tensor.shape().begin(), tensor.shape().end(), [](int64_t d) { return d != 1; }) <= 1;
}

// The indices of the largest elements, largest first; NaN is never among them.
std::vector<int64_t> TopIndices(const Tensor& tensor, int count) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (!std::isnan(tensor.ToDouble(i))) indices.push_back(i);
  }
  const auto end = indices.begin() + std::min<std::ptrdiff_t>(count, std::ssize(indices));
  std::partial_sort(indices.begin(), end, indices.end(), [&](int64_t a, int64_t b) {
    const ExactNumber x = tensor.ToNumber(a), y = tensor.ToNumber(b);
    return x == y ? a < b : x > y;
  });
  indices.erase(end, indices.end());
  return indices;
}

// Replaces characters that a file name cannot contain by '_', and appends a number if the name is taken.
std::string FileName(const std::string& name, std::set<std::string>& taken) {
  std::string safe = name.empty() ? "_" : name;
  for (char& c : safe) {
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '_';
  }
  constexpr size_t kMaxLength = 200;
  if (safe.size() > kMaxLength) safe.resize(kMaxLength);
  std::string file = safe + ".npy";
  for (int n = 2; !taken.insert(file).second; ++n) file = absl::StrCat(safe, "_", n, ".npy");
  return file;
}

absl::StatusOr<std::vector<std::string>> WriteOutputs(const std::vector<NamedTensor>& outputs,
                                                      const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, ": cannot create the folder: ", error.message()));
  }
  std::vector<std::string> files;
  std::set<std::string> taken;
  for (const NamedTensor& output : outputs) {
    files.push_back(absl::StrCat(folder, "/", FileName(output.name, taken)));
    RETURN_IF_ERROR(WriteNpy(files.back(), output.tensor));
  }
  return files;
}

// Element i: an integer with all its digits.
Json ValueOf(const Tensor& tensor, int64_t i) {
  if (IsFloat(tensor.dtype())) return tensor.ToDouble(i);
  return tensor.ToNumber(i).Visit([](auto number) -> Json { return number; });
}
std::string TextOf(const Tensor& tensor, int64_t i) {
  if (IsFloat(tensor.dtype())) return absl::StrFormat("%.6g", tensor.ToDouble(i));
  return tensor.ToNumber(i).Visit([](auto number) { return absl::StrCat(number); });
}

Json Values(const Tensor& tensor) {
  Json values = Json::array();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(ValueOf(tensor, i));
  return values;
}

Json Top(const Tensor& tensor, int top, const std::optional<Labels>& labels) {
  Json entries = Json::array();
  for (int64_t index : TopIndices(tensor, top)) {
    Json entry = {{"index", index}, {"value", ValueOf(tensor, index)}};
    if (labels.has_value()) entry["label"] = labels->Name(index, tensor.num_elements());
    entries.push_back(std::move(entry));
  }
  return entries;
}

Json ToJson(const NamedTensor& output, int top, const std::optional<Labels>& labels) {
  const Tensor& tensor = output.tensor;
  Json json = {{"name", output.name}, {"dtype", DTypeName(tensor.dtype())}, {"shape", tensor.shape()}};
  if (tensor.num_elements() <= kMaxJsonElements) json["values"] = Values(tensor);
  if (top > 0 && IsList(tensor)) json["top"] = Top(tensor, top, labels);
  return json;
}

std::string Statistics(const Tensor& tensor) {
  if (tensor.num_elements() == 0) return "empty";
  if (tensor.num_elements() == 1) return TextOf(tensor, 0);
  double low = INFINITY, high = -INFINITY, sum = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double value = tensor.ToDouble(i);
    low = std::min(low, value), high = std::max(high, value), sum += value;
  }
  return absl::StrFormat("from %.6g to %.6g, mean %.6g", low, high,
                         sum / static_cast<double>(tensor.num_elements()));
}

std::string ToText(const NamedTensor& output, int top, const std::optional<Labels>& labels) {
  const Tensor& tensor = output.tensor;
  std::string text =
      absl::StrCat(WithoutControls(output.name), " ", DescribeType(tensor.dtype(), tensor.shape()), ": ",
                   Statistics(tensor), "\n");
  if (top == 0 || !IsList(tensor)) return text;
  for (int64_t index : TopIndices(tensor, top)) {
    absl::StrAppendFormat(
        &text, "  %10s  %5d  %s\n", TextOf(tensor, index), index,
        labels.has_value() ? WithoutControls(labels->Name(index, tensor.num_elements())) : "");
  }
  return text;
}

absl::Status Run(const RunFlags& flags) {
  std::optional<Labels> labels;
  if (!flags.labels.empty()) {
    ASSIGN_OR_RETURN(labels, Labels::Read(flags.labels));
  }
  const int top = flags.top == 0 && labels.has_value() ? kDefaultTop : flags.top;
  std::vector<NamedTensor> outputs;
  std::optional<PrecisionReport> precision;
  {
    Progress progress;
    ASSIGN_OR_RETURN(const ReadyNetwork ready, LoadNetwork(flags.model, flags.inputs, progress));
    progress.Show("running");
    WorkOnDevice work(flags.model.service.get(), progress);
    ASSIGN_OR_RETURN(outputs, work->Run(ready.network, ready.inputs, flags.model.compile.threads));
    precision = ready.network.precision_report();
  }
  PrintNotes(precision);
  std::vector<std::string> files;
  if (!flags.output.empty()) {
    ASSIGN_OR_RETURN(files, WriteOutputs(outputs, flags.output));
  }
  Json json = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    json.push_back(ToJson(outputs[i], top, labels));
    if (!files.empty()) json.back()["file"] = files[i];
    if (flags.model.json != "-") PrintResult(ToText(outputs[i], top, labels));
  }
  if (flags.model.json.empty()) return absl::OkStatus();
  Json results = {{"outputs", std::move(json)}};
  AddPrecision(precision, results);
  return WriteJson(results, flags.model.json);
}

}  // namespace

void AddRunCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Compute a network's outputs");
  auto flags = std::make_shared<RunFlags>();
  AddModelFlags(*command, flags->model, "threads that the inference runs on");
  AddArtifactFlags(*command, flags->model.artifact);
  AddInputFlags(*command, flags->inputs);
  command->add_option("-o,--output", flags->output, "folder to write each output to, as NAME.npy");
  command->add_option("--labels", flags->labels,
                      "file with the names of the classes, one per line; the first may be the background");
  command
      ->add_option("--top", flags->top,
                   "print the largest elements of outputs that are lists (default with --labels: 5)")
      ->check(CLI::Range(1, 1'000'000));
  command->callback(
      [flags, &action] { action = ModelAction(flags->model, [flags] { return Run(*flags); }); });
}

}  // namespace attune
