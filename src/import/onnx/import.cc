#include "import/onnx/import.h"

#include <utility>
#include <vector>

#include "base/status.h"
#include "import/onnx/external_files.h"
#include "import/onnx/importer.h"
#include "import/onnx/inputs.h"
#include "import/onnx/model.h"
#include "import/onnx/parse.h"
#include "import/onnx/pictures.h"
#include "import/onnx/tensor_proto.h"

namespace attune {
namespace {

using namespace onnx;  // NOLINT: this file is the folder's face

class ParsedOnnxModel final : public ParsedModel {
 public:
  explicit ParsedOnnxModel(std::unique_ptr<OnnxModel> model) : model_(std::move(model)) {}

  absl::StatusOr<DeclaredModel> Declare(const std::string& /*signature*/) const override {
    const ModelProto& model = model_->proto();
    DeclaredModel declared;
    for (const ValueInfoProto& output : model.graph().output())
      declared.outputs.push_back(DescribeValue(output));
    declared.about = {{"producer_name", model.producer_name()},
                      {"producer_version", model.producer_version()},
                      {"domain", model.domain()},
                      {"description", model.doc_string()},
                      {"version", absl::StrCat(model.model_version())},
                      {"graph_name", model.graph().name()},
                      {"graph_description", model.graph().doc_string()}};
    for (const auto& entry : model.metadata_props()) declared.metadata[entry.key()] = entry.value();
    for (const ValueInfoProto* input : RealInputs(model.graph())) {
      declared.inputs.push_back(DescribeValue(*input));
      declared.inputs.back().picture = PictureFormatOf(*input, declared.metadata);
    }
    return declared;
  }

  absl::StatusOr<std::unique_ptr<Graph>> Import(const ImportOptions& options) override {
    return Importer(model_.get(), options).Run();
  }

  absl::StatusOr<std::vector<std::string>> FilesBeside() const override {
    return ExternalFiles(model_->proto(), model_->folder());
  }

 private:
  const std::unique_ptr<OnnxModel> model_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ParsedModel>> ParseOnnx(std::string_view bytes, const std::string& folder) {
  ASSIGN_OR_RETURN(std::unique_ptr<OnnxModel> model, OnnxModel::Parse(bytes, folder));
  return std::make_unique<ParsedOnnxModel>(std::move(model));
}

absl::StatusOr<Tensor> TensorFromOnnxProto(std::string_view bytes) {
  TensorProto proto;
  RETURN_IF_ERROR(ParseProto(bytes, proto, "the tensor"));
  return TensorFromProto(proto, "");
}

}  // namespace attune
