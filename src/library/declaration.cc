// The public functions that read a model's declaration and find the user's records.
#include "api/opened_model.h"
#include "api/records.h"
#include "library/convert.h"

namespace attune::compiler {

ModelDeclaration declaration(const std::string& path, const std::string& signature) {
  NameFace();
  OpenOptions options = {.signature = signature, .artifact = {}};
  // Nobody has checked an artifact yet, so that none of its code may run.
  options.artifact.describe_only = true;
  OpenedModel model = Value(OpenedModel::Open(path, options));
  attune::ModelDeclaration own = Value(model.Declare());
  if (model.is_artifact()) own.inputs = Value(model.Inputs());
  ModelDeclaration result;
  result.is_compiled = model.is_artifact();
  if (const absl::Status lacked = model.CheckOperators(); absl::IsUnimplemented(lacked))
    result.unsupported = std::string(lacked.message());
  result.about = own.about;
  result.metadata = own.metadata;
  for (const InputDeclaration& input : own.inputs) result.inputs.push_back(FromOwn(input));
  for (const InputDeclaration& output : own.outputs) result.outputs.push_back(FromOwn(output));
  if (!model.is_artifact()) result.files = Value(model.FilesBeside());
  return result;
}

std::string records_path() {
  NameFace();
  return Value(DefaultRecordsPath());
}

}  // namespace attune::compiler
