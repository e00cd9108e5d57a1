// Builds exported programs for tests, argument by argument.
#ifndef ATTUNE_IMPORT_PYTORCH_TEST_PROGRAM_H_
#define ATTUNE_IMPORT_PYTORCH_TEST_PROGRAM_H_

#include <gtest/gtest.h>
#include <zip.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/text.h"
#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/pytorch/import.h"
#include "reference/interpreter.h"

namespace attune::pytorch {

using Files = std::vector<std::pair<std::string, std::string>>;

// A zip archive of the files, stored or (if packed) deflated.
inline std::string Zip(const Files& files, bool packed = false) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* archive = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(archive);
  zip_t* zip = zip_open_from_source(archive, ZIP_TRUNCATE, &error);
  if (zip == nullptr) std::abort();
  for (const auto& [name, content] : files) {
    zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(zip, name.c_str(), source, 0);
    if (index < 0) std::abort();
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), packed ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                             0);
  }
  if (zip_close(zip) != 0) std::abort();
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(archive, &stat) != 0 || zip_source_open(archive) != 0) std::abort();
  std::string bytes(stat.size, '\0');
  zip_source_read(archive, bytes.data(), bytes.size());
  zip_source_close(archive);
  zip_source_free(archive);
  return bytes;
}

inline nlohmann::json T(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }
inline nlohmann::json Ts(const std::vector<std::string>& names) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& name : names) list.push_back({{"name", name}});
  return {{"as_tensors", list}};
}
inline nlohmann::json I(int64_t value) { return {{"as_int", value}}; }
inline nlohmann::json Is(const std::vector<int64_t>& values) { return {{"as_ints", values}}; }
inline nlohmann::json F(double value) { return {{"as_float", value}}; }
inline nlohmann::json B(bool value) { return {{"as_bool", value}}; }
inline nlohmann::json S(const std::string& text) { return {{"as_string", text}}; }
inline nlohmann::json None() { return {{"as_none", true}}; }
inline nlohmann::json Type(int64_t scalar_type) { return {{"as_scalar_type", scalar_type}}; }

// Each size is a number, or the name of a symbol.
inline nlohmann::json Meta(const std::vector<std::string>& sizes, int64_t dtype = 7) {
  nlohmann::json dims = nlohmann::json::array();
  nlohmann::json strides = nlohmann::json::array();
  for (const std::string& size : sizes) {
    const bool number = size[0] >= '0' && size[0] <= '9';
    dims.push_back(number
                       ? nlohmann::json{{"as_int", std::stoll(size)}}
                       : nlohmann::json{{"as_expr", {{"expr_str", "Symbol('" + size + "', integer=True)"}}}});
    strides.push_back({{"as_int", 1}});
  }
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i]["as_int"] = stride;
    if (dims[i].contains("as_int")) stride *= dims[i]["as_int"].get<int64_t>();
  }
  return {{"dtype", dtype},
          {"sizes", dims},
          {"requires_grad", false},
          {"device", {{"type", "cpu"}}},
          {"strides", strides},
          {"storage_offset", {{"as_int", 0}}},
          {"layout", 7}};
}

// A program under construction.
class Program {
 public:
  Program() {
    json = {{"graph_module",
             {{"graph",
               {{"inputs", nlohmann::json::array()},
                {"outputs", nlohmann::json::array()},
                {"nodes", nlohmann::json::array()},
                {"tensor_values", nlohmann::json::object()}}},
              {"signature",
               {{"input_specs", nlohmann::json::array()}, {"output_specs", nlohmann::json::array()}}}}},
            {"schema_version", {{"major", 8}, {"minor", 20}}},
            {"torch_version", "2.15.0"}};
    weights = constants = {{"config", nlohmann::json::object()}};
  }

  nlohmann::json& graph() { return json["graph_module"]["graph"]; }
  nlohmann::json& signature() { return json["graph_module"]["signature"]; }

  void AddInput(const std::string& name, const std::vector<std::string>& sizes, int64_t dtype = 7) {
    graph()["tensor_values"][name] = Meta(sizes, dtype);
    graph()["inputs"].push_back(T(name));
    signature()["input_specs"].push_back({{"user_input", {{"arg", T(name)}}}});
  }

  // Adds a parameter "NAME", which the program calls "p_NAME", with its own storage.
  nlohmann::json& AddWeight(const std::string& name, const std::vector<std::string>& sizes,
                            const std::vector<float>& values) {
    const std::string path = "weight_" + std::to_string(storages.size());
    storages.emplace_back("data/weights/" + path, std::string(reinterpret_cast<const char*>(values.data()),
                                                              values.size() * sizeof(float)));
    weights["config"][name] = {
        {"path_name", path}, {"is_param", true}, {"use_pickle", false}, {"tensor_meta", Meta(sizes)}};
    graph()["tensor_values"]["p_" + name] = Meta(sizes);
    signature()["input_specs"].push_back(
        {{"parameter", {{"arg", {{"name", "p_" + name}}}, {"parameter_name", name}}}});
    return weights["config"][name];
  }

  void AddNode(const std::string& target, const std::string& name,
               const std::vector<std::pair<std::string, nlohmann::json>>& arguments) {
    AddNode(target, name, arguments, {T(name)});
  }
  void AddNode(const std::string& target, const std::string& name,
               const std::vector<std::pair<std::string, nlohmann::json>>& arguments,
               const std::vector<nlohmann::json>& outputs) {
    nlohmann::json inputs = nlohmann::json::array();
    for (const auto& [argument, value] : arguments)
      inputs.push_back({{"name", argument}, {"arg", value}, {"kind", 1}});
    graph()["nodes"].push_back({{"target", target},
                                {"name", name},
                                {"inputs", inputs},
                                {"outputs", outputs},
                                {"metadata", nlohmann::json::object()}});
  }

  void AddOutput(const std::string& name) {
    graph()["outputs"].push_back(T(name));
    signature()["output_specs"].push_back({{"user_output", {{"arg", T(name)}}}});
  }

  Files FilesIn(const std::string& root) const {
    Files files = {{root + "archive_format", "pt2"},
                   {root + "archive_version", "0"},
                   {root + "models/model.json", json.dump()},
                   {root + "data/weights/model_weights_config.json", weights.dump()},
                   {root + "data/constants/model_constants_config.json", constants.dump()}};
    for (const auto& [path, bytes] : storages) files.emplace_back(root + path, bytes);
    return files;
  }

  absl::StatusOr<std::unique_ptr<Graph>> Import(PytorchImportOptions options = {}) const {
    return ImportFiles(FilesIn("model/"), std::move(options));
  }
  std::string Error(PytorchImportOptions options = {}) const {
    return std::string(Import(std::move(options)).status().message());
  }

  static absl::StatusOr<std::unique_ptr<Graph>> ImportFiles(const Files& files,
                                                            PytorchImportOptions options = {},
                                                            bool packed = false) {
    static const Interpreter interpreter;
    options.executor = &interpreter;
    auto graph = importing::ImportOnce(ParsePytorch(Zip(files, packed)), options);
    if (graph.ok()) EXPECT_TRUE(Verify(**graph).ok()) << Verify(**graph) << Print(**graph);
    return graph;
  }

  // The first output for these inputs.
  Tensor Run(const std::vector<Tensor>& inputs) const {
    const auto graph = Import();
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) return Tensor();
    const auto outputs = Interpreter().Run(**graph, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? outputs->front() : Tensor();
  }

  nlohmann::json json;
  nlohmann::json weights;
  nlohmann::json constants;
  Files storages;  // by path below the root
};

inline std::vector<double> Values(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(tensor.ToDouble(i));
  return values;
}

inline Tensor Floats32(const std::vector<float>& values, Shape shape) {
  return Tensor::FromFloats(values, std::move(shape));
}

// A program with one node on input x, of floats; the node's output is the program's.
inline Program OneNode(const std::string& target, const std::vector<std::string>& sizes,
                       std::vector<std::pair<std::string, nlohmann::json>> arguments = {}) {
  Program program;
  program.AddInput("x", sizes);
  arguments.insert(arguments.begin(), {"self", T("x")});
  program.AddNode("torch.ops.aten." + target, "y", arguments);
  program.AddOutput("y");
  return program;
}

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_TEST_PROGRAM_H_
