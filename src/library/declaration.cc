// The public functions that read a model's declaration and find the user's records.
#include <cstdlib>

#include "api/compiled_model.h"
#include "api/model_declaration.h"
#include "api/model_files.h"
#include "api/records.h"
#include "library/convert.h"

namespace attune::compiler {

ModelDeclaration declaration(const std::string& path, const std::string& signature) {
  ModelDeclaration result;
  if (IsArtifact(path)) {
    // Its first set of input shapes.
    result.inputs = Network::load(path).inputs();
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
