#include "library/declarations.h"

#include <map>
#include <memory>
#include <string>

#include "api/opened_model.h"
#include "attune/compiler.h"
#include "base/status.h"
#include "library/failure.h"
#include "library/result.h"

namespace attune::library {
namespace {

using Entry = std::pair<const std::string, std::string>;

const attune_port* const* Ports(const std::vector<InputDeclaration>& declarations, ResultMemory& memory) {
  return memory.Pointers(declarations, [&](const InputDeclaration& one) {
    return attune_port{.name = memory.Text(one.name),
                       .dtype = one.dtype ? static_cast<attune_dtype>(*one.dtype) : ATTUNE_F32,
                       .rank = one.shape.size(),
                       .shape = memory.Copy(one.shape),
                       .dims = memory.Texts(one.dims),
                       .text = memory.Text(ToString(one)),
                       .has_shape = one.ranked};
  });
}

const attune_entry* Entries(const std::map<std::string, std::string>& texts, ResultMemory& memory) {
  return memory.Array(texts, [&](const Entry& entry) {
    return attune_entry{.key = memory.Text(entry.first), .value = memory.Text(entry.second)};
  });
}

absl::StatusOr<const attune_declaration*> Declare(const char* path, const std::string& signature) {
  OpenOptions options = {.signature = signature, .artifact = {}};
  // An artifact is unchecked here, so that none of its code may run.
  options.artifact.describe_only = true;
  ASSIGN_OR_RETURN(OpenedModel model, OpenedModel::Open(path, options));
  ASSIGN_OR_RETURN(ModelDeclaration own, model.Declare());
  std::vector<std::string> files;
  if (model.is_artifact()) {
    ASSIGN_OR_RETURN(own.inputs, model.Inputs());
  } else {
    ASSIGN_OR_RETURN(files, model.FilesBeside());
  }
  const absl::Status lacked = model.CheckOperators();
  auto result = std::make_unique<Result<attune_declaration>>();
  ResultMemory& memory = result->memory;
  result->num_inputs = own.inputs.size();
  result->inputs = Ports(own.inputs, memory);
  result->is_compiled = static_cast<int>(model.is_artifact());
  result->unsupported = memory.Text(absl::IsUnimplemented(lacked) ? lacked.message() : "");
  result->num_files = files.size();
  result->files = memory.Texts(files);
  result->num_outputs = own.outputs.size();
  result->outputs = Ports(own.outputs, memory);
  result->num_about = own.about.size();
  result->about = Entries(own.about, memory);
  result->num_metadata = own.metadata.size();
  result->metadata = Entries(own.metadata, memory);
  return result.release();
}

}  // namespace

const attune_ports* NewPorts(const std::vector<InputDeclaration>& declarations) {
  auto result = std::make_unique<Result<attune_ports>>();
  result->count = declarations.size();
  result->items = Ports(declarations, result->memory);
  return result.release();
}

}  // namespace attune::library

attune_code attune_declare(const char* path, const char* signature, const attune_declaration** declaration,
                           attune_failure** failure) {
  return attune::library::Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(attune::library::CheckNotNull(path, declaration));
    ASSIGN_OR_RETURN(*declaration, attune::library::Declare(path, attune::library::TextOr(signature)));
    return absl::OkStatus();
  });
}

void attune_ports_free(const attune_ports* ports) { attune::library::FreeResult(ports); }
void attune_declaration_free(const attune_declaration* declaration) {
  attune::library::FreeResult(declaration);
}
