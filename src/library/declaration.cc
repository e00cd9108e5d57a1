// The public functions that read a model's declaration and find the user's records.
#include "api/opened_model.h"
#include "api/records.h"
#include "library/convert.h"

namespace attune::compiler {

ModelDeclaration declaration(const std::string& path, const std::string& signature) {
  OpenOptions options = {.signature = signature, .artifact = {}};
  // Nobody has checked an artifact yet, so that none of its code may run.
  options.artifact.describe_only = true;
  OpenedModel model = Value(OpenedModel::Open(path, options));
  const attune::ModelDeclaration own = Value(model.Declare());
  ModelDeclaration result;
  result.about = own.about;
  result.metadata = own.metadata;
  for (const InputDeclaration& input : own.inputs) result.inputs.push_back(FromOwn(input));
  for (const InputDeclaration& output : own.outputs) result.outputs.push_back(FromOwn(output));
  if (!model.is_artifact()) result.files = Value(model.FilesBeside());
  return result;
}

std::string records_path() { return Value(DefaultRecordsPath()); }

}  // namespace attune::compiler
