#include "import/tensorflow/import.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "import/tensorflow/importer.h"
#include "import/tensorflow/model.h"
#include "import/tensorflow/tensor_proto.h"
#include "import/tensorflow/variables.h"

namespace attune {
namespace {

using namespace tensorflow;  // NOLINT: this file is the folder's face

// The first field of a message: its number, and that a length follows.
constexpr char kField1 = 0x0A;
constexpr char kField2 = 0x12;

// The byte after a length of 1 to 5 bytes at `at`.
char AfterLength(std::string_view bytes, size_t at) {
  while (at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0x80) != 0) ++at;
  return at + 1 < bytes.size() ? bytes[at + 1] : '\0';
}

class ParsedTensorflowModel final : public ParsedModel {
 public:
  explicit ParsedTensorflowModel(std::unique_ptr<Model> model)
      : model_(std::move(model)), variables_(*model_) {}

  absl::StatusOr<DeclaredModel> Declare(const std::string& signature) const override {
    ASSIGN_OR_RETURN(const Endpoints endpoints, model_->EndpointsFor(signature));
    DeclaredModel declared;
    for (const Endpoint& input : endpoints.inputs) declared.inputs.push_back(Describe(input));
    return declared;
  }

  absl::StatusOr<std::unique_ptr<Graph>> Import(const ImportOptions& options) override {
    ASSIGN_OR_RETURN(const Endpoints endpoints, model_->EndpointsFor(options.signature));
    return Importer(*model_, endpoints, &variables_, &constants_, options).Run();
  }

 private:
  const std::unique_ptr<Model> model_;
  Variables variables_;
  Constants constants_;
};

}  // namespace

// A GraphDef begins with a node, which begins with its name; a SavedModel begins with version 1 and a
// graph, which begins with a message about it. Other formats based on protocol buffers begin with a number,
// or with version 1 and text.
bool LooksLikeTensorflow(std::string_view head) {
  if (head.size() < 4) return false;
  if (head[0] == kField1) return AfterLength(head, 1) == kField1;
  return head[0] == 0x08 && head[1] == 0x01 && head[2] == kField2 && AfterLength(head, 3) == kField1;
}

bool IsSavedModelFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::path(path) / "saved_model.pb", error);
}

absl::Status CheckNotKeras(std::string_view head) {
  constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
  constexpr std::string_view kZip = "PK\x03\x04";
  if (head.substr(0, kHdf5.size()) != kHdf5 && head.substr(0, kZip.size()) != kZip) return absl::OkStatus();
  return NotSupported(
      kNotSupportedMark,
      "Model Keras: a Keras file (.h5, .keras) describes layers, not a graph; export it with "
      "python -c \"import keras; keras.models.load_model('MODEL').export('FOLDER')\" and give FOLDER");
}

absl::StatusOr<std::unique_ptr<ParsedModel>> ParseTensorflow(std::string_view bytes,
                                                             const std::string& folder) {
  ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::Parse(bytes, folder));
  return std::make_unique<ParsedTensorflowModel>(std::move(model));
}

}  // namespace attune
