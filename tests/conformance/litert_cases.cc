#include "litert_cases.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/network.h"
#include "api/opened_model.h"
#include "api/tensors.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/status.h"

namespace attune::conformance {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSeed = 0;

// Limit for all inputs together. Some models test tensors of gigabytes: these are compiled, not run.
constexpr int64_t kMaxElements = int64_t{1} << 24;

// The elements of inputs, by name.
using Values = std::map<std::string, std::vector<double>>;

absl::StatusOr<std::map<std::string, Values>> ReadValues(const std::string& path) {
  std::map<std::string, Values> values;
  if (path.empty()) return values;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 30));
  for (std::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 3) return InvalidInput(path, ": no values in '", line, "'");
    std::vector<double>& numbers = values[words[0]][words[1]];
    for (size_t i = 2; i < words.size(); ++i) {
      double number = 0;
      if (!absl::SimpleAtod(words[i], &number)) return InvalidInput(path, ": no number: '", words[i], "'");
      numbers.push_back(number);
    }
  }
  return values;
}

// Removes the path: the list of expectations names no folders of this machine, and has one line per case.
absl::Status WithoutPath(const absl::Status& status, const std::string& path) {
  return absl::Status(status.code(),
                      absl::StrReplaceAll(status.message(), {{path + ": ", ""}, {path, "the file"}}));
}

// Why the file cannot be read as a model.
Result FromLoading(const absl::Status& status) {
  const bool refused = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  if (!refused) return FromStatus(status, "load");
  return {Outcome::kRefused, std::string(status.message().substr(0, status.message().find('\n')))};
}

// The shapes for a model's open dimensions, and values for the inputs that `values` has.
struct Givens {
  InputOptions options;
  std::vector<NamedTensor> inputs;
  bool runs = true;  // false: it needs more memory than a test should take
};

absl::StatusOr<Tensor> MakeTensor(const InputDeclaration& input, const std::vector<double>& numbers) {
  if (!input.dtype.has_value()) return InvalidInput("a value is given, but it is of type ", input.dtype_name);
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(*input.dtype, input.shape));
  if (tensor.num_elements() != static_cast<int64_t>(numbers.size())) {
    return InvalidInput(numbers.size(), " values are given for ", ToString(input));
  }
  for (size_t i = 0; i < numbers.size(); ++i) tensor.SetDouble(static_cast<int64_t>(i), numbers[i]);
  return tensor;
}

// Open dimensions become 1, as in LiteRT until it is told otherwise.
absl::StatusOr<Givens> MakeGivens(std::vector<InputDeclaration> inputs, const Values& values) {
  Givens givens;
  int64_t elements = 0;
  for (InputDeclaration& input : inputs) {
    const auto is_open = [](int64_t size) { return size < 0; };
    if (input.ranked && std::any_of(input.shape.begin(), input.shape.end(), is_open)) {
      std::replace_if(input.shape.begin(), input.shape.end(), is_open, 1);
      givens.options.shapes[input.name] = input.shape;
    }
    const std::optional<int64_t> size = CheckedProduct(input.shape);
    givens.runs = givens.runs && size.has_value() && *size <= kMaxElements - elements;
    if (givens.runs) elements += *size;
    const auto numbers = values.find(input.name);
    if (numbers == values.end()) continue;
    absl::StatusOr<Tensor> tensor = MakeTensor(input, numbers->second);
    if (!tensor.ok()) return Annotate(tensor.status(), absl::StrCat("input \"", input.name, "\""));
    givens.options.values[input.name] = *tensor;
    givens.inputs.push_back({input.name, *std::move(tensor)});
  }
  return givens;
}

Result RunCase(const std::string& path, const Values& values) {
  absl::StatusOr<OpenedModel> model = OpenedModel::Open(path);
  if (!model.ok()) return FromLoading(WithoutPath(model.status(), path));
  absl::StatusOr<std::vector<InputDeclaration>> inputs = model->Inputs();
  if (!inputs.ok()) return FromLoading(WithoutPath(inputs.status(), path));
  const absl::StatusOr<Givens> givens = MakeGivens(*std::move(inputs), values);
  if (!givens.ok()) return FromStatus(givens.status(), "inputs");
  const Network loaded = Network::Load(*model, givens->options);
  if (!loaded.status().ok()) return FromLoading(WithoutPath(loaded.status(), path));
  const Network compiled = loaded.Optimize().Compile();
  if (!compiled.status().ok()) return FromStatus(WithoutPath(compiled.status(), path), "compile");
  if (!givens->runs) return {Outcome::kPass, ""};
  const absl::StatusOr<VerifyReport> report = compiled.Verify(givens->inputs, kSeed, 1);
  if (!report.ok()) return FromStatus(WithoutPath(report.status(), path), "verify");
  for (const OutputCheck& check : report->outputs) {
    if (check.ok) continue;
    return {Outcome::kWrong, absl::StrCat("output ", check.name, ": ", check.comparison.ToString(),
                                          " (required: ", check.criterion, ")")};
  }
  return {Outcome::kPass, ""};
}

// Models, damaged ones too; not the weights that some models keep in a file of their own.
bool IsModel(const fs::path& file) {
  return file.extension() == ".tflite" || (file.extension() == ".bin" && file.filename() != "weights.bin");
}

}  // namespace

absl::StatusOr<Tasks> FindLitertCases(const std::string& data, const RunOptions& options) {
  ASSIGN_OR_RETURN(const auto values, ReadValues(options.inputs));
  Tasks tasks;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (!entry.is_regular_file() || !IsModel(entry.path())) continue;
    const std::string path = entry.path().string();
    const std::string name = entry.path().lexically_relative(data).generic_string();
    const auto found = values.find(name);
    const Values given = found == values.end() ? Values() : found->second;
    tasks[name] = [path, given] { return RunCase(path, given); };
  }
  for (const auto& [name, inputs] : values) {
    if (!tasks.contains(name)) return InvalidInput(options.inputs, ": there is no case ", name);
  }
  return tasks;
}

}  // namespace attune::conformance
