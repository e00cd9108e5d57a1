// The public functions that read a model's declaration and find the user's records.
#include <cstdlib>
#include <memory>

#include "api/compiled_model.h"
#include "api/model_declaration.h"
#include "api/model_files.h"
#include "api/records.h"
#include "library/convert.h"

namespace attune::compiler {

ModelDeclaration declaration(const std::string& path, const std::string& signature) {
  ModelDeclaration result;
  if (IsArtifact(path)) {
    // Its first set of input shapes. Nobody has checked the file yet, so that none of its code may run.
    ArtifactOptions options;
    options.describe_only = true;
    const std::shared_ptr<const CompiledModel> described = Value(CompiledModel::LoadFile(path, options));
    for (const InputDeclaration& input : described->Inputs()) result.inputs.push_back(FromOwn(input));
    return result;
  }
  const attune::ModelDeclaration own = Value(ReadModelDeclaration(path, signature));
  result.about = own.about;
  result.metadata = own.metadata;
  for (const InputDeclaration& input : own.inputs) result.inputs.push_back(FromOwn(input));
  for (const InputDeclaration& output : own.outputs) result.outputs.push_back(FromOwn(output));
  result.files = Value(FilesBesideModel(path));
  return result;
}

std::string records_path() {
  return Value(DefaultRecordsPath([](const char* name) -> const char* { return std::getenv(name); }));
}

}  // namespace attune::compiler
