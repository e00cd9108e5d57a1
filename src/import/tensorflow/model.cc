#include "import/tensorflow/model.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_set>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "import/tensorflow/tensor_proto.h"

namespace attune::tensorflow {
namespace {

// Attributes nest: one can be a function name with attributes. No exporter comes near this depth.
constexpr int kMaxMessageDepth = 64;
constexpr char kDefaultSignature[] = "serving_default";
// Initializes tables; computes nothing.
constexpr char kInitSignature[] = "__saved_model_init_op";

template <typename Proto>
absl::Status ParseProto(std::string_view bytes, Proto& proto) {
  if (bytes.size() > INT32_MAX) return InvalidInput("it is over 2 GiB, which no TensorFlow file can be");
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxMessageDepth);
  if (!proto.MergeFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return InvalidInput("it is damaged, cut short, or no TensorFlow model");
  }
  return absl::OkStatus();
}

// A SavedModel begins with its version, a GraphDef with a node.
bool IsSavedModel(std::string_view bytes) { return !bytes.empty() && bytes[0] == 0x08; }

// The graph for inference, or else the first one.
const MetaGraphDef* ChooseMetaGraph(const SavedModel& model) {
  for (const MetaGraphDef& meta_graph : model.meta_graphs()) {
    const auto& tags = meta_graph.meta_info_def().tags();
    if (std::find(tags.begin(), tags.end(), "serve") != tags.end()) return &meta_graph;
  }
  return &model.meta_graphs(0);
}

// Sorted by name, since a message's map has no defined order.
std::vector<Endpoint> EndpointsOf(const google::protobuf::Map<std::string, TensorInfo>& infos) {
  std::vector<Endpoint> endpoints;
  for (const auto& [name, info] : infos) {
    endpoints.push_back(
        {name, info.name(), info.dtype(), info.has_tensor_shape() ? &info.tensor_shape() : nullptr});
  }
  std::sort(endpoints.begin(), endpoints.end(),
            [](const Endpoint& a, const Endpoint& b) { return a.name < b.name; });
  return endpoints;
}

Endpoint PlaceholderEndpoint(const NodeDef& node, int version) {
  Endpoint endpoint{node.name(), node.name()};
  const auto& attributes = node.attr();
  if (const auto type = attributes.find("dtype"); type != attributes.end())
    endpoint.type = type->second.type();
  if (const auto shape = attributes.find("shape"); shape != attributes.end() && shape->second.has_shape()) {
    if (StatesShape(shape->second.shape(), version)) endpoint.shape = &shape->second.shape();
  }
  return endpoint;
}

// The nodes whose tensors the outputs depend on.
std::unordered_set<const NodeDef*> Reachable(const Body& body, const std::vector<Endpoint>& outputs) {
  std::unordered_set<const NodeDef*> reached;
  std::vector<const NodeDef*> stack;
  const auto visit = [&](std::string_view name) {
    const NodeDef* node = body.Find(name);
    if (node != nullptr && reached.insert(node).second) stack.push_back(node);
  };
  for (const Endpoint& output : outputs) visit(ParseReference(output.tensor).node);
  while (!stack.empty()) {
    const NodeDef* node = stack.back();
    stack.pop_back();
    for (const Reference& input : DataInputs(*node)) visit(input.node);
  }
  return reached;
}

// Operators whose tensors, if any, cannot be outputs of the model.
bool IsSideEffect(const NodeDef& node) {
  static const auto* ops = new std::set<std::string_view>{"Assert",
                                                          "Assign",
                                                          "AssignVariableOp",
                                                          "Const",
                                                          "Enter",
                                                          "Exit",
                                                          "Merge",
                                                          "MergeV2Checkpoints",
                                                          "NextIteration",
                                                          "NoOp",
                                                          "Placeholder",
                                                          "PlaceholderWithDefault",
                                                          "Print",
                                                          "ReadVariableOp",
                                                          "SaveV2",
                                                          "Switch",
                                                          "VarHandleOp",
                                                          "VariableV2"};
  return ops->contains(node.op());
}

}  // namespace

DeclaredTensor Describe(const Endpoint& endpoint) {
  DeclaredTensor info;
  info.name = endpoint.name;
  const std::optional<DType> dtype = DTypeOf(endpoint.type);
  if (dtype) {
    info.dtype = DTypeName(*dtype);
  } else {
    info.dtype = endpoint.type == DT_INVALID ? "?" : TypeName(endpoint.type);
  }
  info.ranked = endpoint.shape != nullptr && !endpoint.shape->unknown_rank();
  if (info.ranked) info.dims = DescribeDims(*endpoint.shape);
  return info;
}

absl::StatusOr<std::unique_ptr<Model>> Model::Parse(std::string_view bytes, const std::string& folder) {
  RETURN_IF_ERROR(CheckNotKeras(bytes));
  std::unique_ptr<Model> model(new Model);
  model->folder_ = folder;
  try {
    RETURN_IF_ERROR(model->ParseBytes(bytes));
    model->body_ = std::make_unique<Body>(model->graph_->node());
  } catch (const ImportFailure& failure) {
    return failure.status;
  }
  return model;
}

absl::StatusOr<Endpoints> Model::EndpointsFor(const std::string& signature) const {
  try {
    return meta_graph_ != nullptr ? EndpointsOfSignature(signature) : EndpointsOfFrozen();
  } catch (const ImportFailure& failure) {
    return failure.status;
  }
}

absl::Status Model::ParseBytes(std::string_view bytes) {
  if (bytes.empty()) return InvalidInput("the file is empty");
  num_bytes_ = static_cast<int64_t>(bytes.size());
  if (!IsSavedModel(bytes)) {
    RETURN_IF_ERROR(ParseProto(bytes, frozen_));
    if (frozen_.node().empty()) return InvalidInput("it is not a TensorFlow model: it has no node");
    graph_ = &frozen_;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(ParseProto(bytes, saved_model_));
  if (saved_model_.meta_graphs().empty()) return InvalidInput("it is a SavedModel without a graph");
  meta_graph_ = ChooseMetaGraph(saved_model_);
  graph_ = &meta_graph_->graph_def();
  return absl::OkStatus();
}

absl::StatusOr<Endpoints> Model::EndpointsOfSignature(const std::string& wanted) const {
  std::vector<std::string> signatures;
  for (const auto& [name, signature] : meta_graph_->signature_def()) {
    if (name != kInitSignature && !signature.outputs().empty()) signatures.push_back(name);
  }
  std::sort(signatures.begin(), signatures.end());
  if (signatures.empty()) {
    return InvalidInput(
        "the SavedModel has no signature: save it with tf.saved_model.save(model, folder, "
        "signatures=...) or model.export(folder)");
  }
  std::string name = wanted.empty() ? kDefaultSignature : wanted;
  if (wanted.empty() && signatures.size() == 1) name = signatures[0];
  if (!std::binary_search(signatures.begin(), signatures.end(), name)) {
    return InvalidInput("the SavedModel has no signature '", name, "'; it has ",
                        absl::StrJoin(signatures, ", "));
  }
  const SignatureDef& signature = meta_graph_->signature_def().at(name);
  return Endpoints{.inputs = EndpointsOf(signature.inputs()), .outputs = EndpointsOf(signature.outputs())};
}

std::vector<std::string> Model::UnusedNodes() const {
  std::unordered_set<std::string_view> used;
  for (const NodeDef& node : graph_->node()) {
    // A control input is used, too: it tells in which branch the other node is.
    for (const std::string& input : node.input()) used.insert(ParseReference(input).node);
  }
  std::vector<std::string> unused;
  for (const NodeDef& node : graph_->node()) {
    if (!used.contains(node.name()) && !IsSideEffect(node)) unused.push_back(node.name());
  }
  return unused;
}

absl::StatusOr<Endpoints> Model::EndpointsOfFrozen() const {
  Endpoints endpoints;
  for (const std::string& name : UnusedNodes()) endpoints.outputs.push_back({name, name});
  if (endpoints.outputs.empty()) return InvalidInput("no node of the graph looks like an output");
  const std::unordered_set<const NodeDef*> reached = Reachable(*body_, endpoints.outputs);
  for (const NodeDef& node : graph_->node()) {
    const bool placeholder = node.op() == "Placeholder" || node.op() == "PlaceholderV2";
    if (placeholder && reached.contains(&node)) {
      endpoints.inputs.push_back(PlaceholderEndpoint(node, graph_->versions().producer()));
    }
  }
  return endpoints;
}

std::string Model::checkpoint_prefix() const {
  if (meta_graph_ == nullptr || folder_.empty()) return "";
  return (std::filesystem::path(folder_) / "variables" / "variables").string();
}

}  // namespace attune::tensorflow
