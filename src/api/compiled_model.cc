#include "api/compiled_model.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "graph/picture_comments.h"

namespace attune {
namespace {

absl::StatusCode CodeOf(attune_code code) {
  switch (code) {
    case ATTUNE_CANNOT_READ:
      return absl::StatusCode::kNotFound;
    case ATTUNE_WRONG_TARGET:
    case ATTUNE_NOT_TRUSTED:
      return absl::StatusCode::kFailedPrecondition;
    case ATTUNE_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    case ATTUNE_KERNEL_FAILED:
      return absl::StatusCode::kInternal;
    default:
      return absl::StatusCode::kInvalidArgument;
  }
}

absl::Status ToStatus(attune_code code, const attune_error& error) {
  if (code == ATTUNE_OK) return absl::OkStatus();
  return absl::Status(CodeOf(code), error.message);
}

// `get` finds one dimension of the port.
template <typename Get>
InputDeclaration Declare(const attune_tensor_info& info, const Get& get) {
  InputDeclaration declaration;
  declaration.name = info.name;
  declaration.dtype = static_cast<DType>(info.dtype);
  declaration.dtype_name = DTypeName(*declaration.dtype);
  declaration.shape.assign(info.shape, info.shape + info.rank);
  for (size_t d = 0; d < info.rank; ++d) {
    attune_dimension dimension{};
    const bool is_open = get(d, &dimension) == ATTUNE_OK && dimension.is_open;
    if (is_open) declaration.shape[d] = -1;
    declaration.dims.push_back(!is_open                    ? absl::StrCat(declaration.shape[d])
                               : dimension.name != nullptr ? dimension.name
                                                           : "?");
  }
  return declaration;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledModel>> CompiledModel::LoadFile(const std::string& path,
                                                                             const ArtifactOptions& options) {
  attune_load_options load = ATTUNE_LOAD_OPTIONS_INIT;
  if (!options.sha256.empty()) load.expected_sha256 = options.sha256.c_str();
  std::vector<const char*> trusted;
  if (options.trusted.has_value()) {
    for (const std::string& digest : *options.trusted) trusted.push_back(digest.c_str());
    load.num_trusted_sha256 = trusted.size();
    trusted.push_back(nullptr);  // so that data() is not null if the list is empty
    load.trusted_sha256 = trusted.data();
  }
  std::vector<const char*> keys;
  if (options.trusted_keys.has_value()) {
    for (const std::string& key : *options.trusted_keys) keys.push_back(key.c_str());
    load.num_trusted_keys = keys.size();
    keys.push_back(nullptr);  // as above
    load.trusted_keys = keys.data();
  }
  load.describe_only = options.describe_only;
  attune_model* model = nullptr;
  attune_error error;
  RETURN_IF_ERROR(ToStatus(attune_load(path.c_str(), &load, &model, &error), error));
  return Own(model);
}

absl::StatusOr<std::shared_ptr<const CompiledModel>> CompiledModel::FromBytes(std::string_view bytes) {
  attune_model* model = nullptr;
  attune_error error;
  RETURN_IF_ERROR(ToStatus(attune_load_memory(bytes.data(), bytes.size(), nullptr, &model, &error), error));
  return Own(model);
}

std::shared_ptr<const CompiledModel> CompiledModel::Own(attune_model* model) {
  return std::shared_ptr<const CompiledModel>(new CompiledModel(
      std::shared_ptr<const attune_model>(model, [model](auto*) { attune_model_free(model); })));
}

std::vector<std::shared_ptr<const CompiledModel>> CompiledModel::ShapeSets() const {
  std::vector<std::shared_ptr<const CompiledModel>> sets;
  for (size_t i = 0; i < attune_model_num_shape_sets(handle()); ++i) {
    std::shared_ptr<const attune_model> set(handle_, attune_model_shape_set(handle(), i));
    sets.emplace_back(new CompiledModel(std::move(set)));
  }
  return sets;
}

absl::StatusOr<std::shared_ptr<const CompiledModel>> CompiledModel::ForShapes(
    const std::map<std::string, Shape>& shapes) const {
  std::vector<std::string> known;
  for (std::shared_ptr<const CompiledModel>& set : ShapeSets()) {
    const std::vector<InputDeclaration> inputs = set->Inputs();
    const bool fits = std::ranges::all_of(inputs, [&](const InputDeclaration& input) {
      const auto given = shapes.find(input.name);
      return given == shapes.end() ||
             std::ranges::equal(given->second, input.shape, [](int64_t size, int64_t compiled) {
               return compiled < 0 || size == compiled;
             });
    });
    if (fits) return std::move(set);
    std::vector<std::string> texts;
    for (const InputDeclaration& input : inputs)
      texts.push_back(absl::StrCat(input.name, " ", ToString(input)));
    known.push_back(absl::StrJoin(texts, ", "));
  }
  return InvalidInput("is not compiled for inputs of these shapes, but for ",
                      absl::StrJoin(known, "; or for "));
}

std::string_view CompiledModel::FileBytes() const {
  size_t bytes = 0;
  const void* data = attune_model_file(handle(), &bytes);
  return {static_cast<const char*>(data), bytes};
}

std::vector<InputDeclaration> CompiledModel::Inputs() const {
  std::vector<InputDeclaration> inputs;
  const char* graph = attune_model_metadata(handle(), "graph");
  for (size_t i = 0; i < attune_model_num_inputs(handle()); ++i) {
    attune_tensor_info info;
    if (attune_model_input(handle(), i, &info, nullptr) != ATTUNE_OK) continue;
    inputs.push_back(Declare(info, [&](size_t d, attune_dimension* found) {
      return attune_model_input_dimension(handle(), i, d, found, nullptr);
    }));
    inputs.back().picture = FindPictureComment(graph, info.name);
  }
  return inputs;
}

std::vector<InputDeclaration> CompiledModel::Outputs() const {
  std::vector<InputDeclaration> outputs;
  for (size_t i = 0; i < attune_model_num_outputs(handle()); ++i) {
    attune_tensor_info info;
    if (attune_model_output(handle(), i, &info, nullptr) != ATTUNE_OK) continue;
    outputs.push_back(Declare(info, [&](size_t d, attune_dimension* found) {
      return attune_model_output_dimension(handle(), i, d, found, nullptr);
    }));
  }
  return outputs;
}

absl::StatusOr<Session> Session::Create(std::shared_ptr<const CompiledModel> model, int threads) {
  if (threads < 0) return InvalidInput("the number of threads is ", threads, ", it must not be negative");
  attune_session* session = nullptr;
  attune_error error;
  RETURN_IF_ERROR(ToStatus(
      attune_session_create(model->handle(), static_cast<size_t>(threads), &session, &error), error));
  return Session(std::move(model), session);
}

absl::Status Session::UseShapesOf(const std::vector<NamedTensor>& inputs,
                                  const std::vector<InputDeclaration>& declarations) {
  const bool is_open = std::ranges::any_of(declarations, [](const InputDeclaration& declaration) {
    return std::ranges::find(declaration.shape, -1) != declaration.shape.end();
  });
  if (!is_open) return absl::OkStatus();
  std::vector<attune_shape> shapes;
  for (const InputDeclaration& declaration : declarations) {
    const auto given = std::ranges::find(inputs, declaration.name, &NamedTensor::name);
    if (given == inputs.end()) return absl::OkStatus();  // which is an error later
    shapes.push_back({given->tensor.shape().data(), given->tensor.shape().size()});
  }
  attune_error error;
  return ToStatus(attune_session_use_shapes(handle_.get(), shapes.data(), shapes.size(), &error), error);
}

absl::Status Session::SetInputs(const std::vector<NamedTensor>& inputs) {
  const std::vector<InputDeclaration> declarations = model_->Inputs();
  RETURN_IF_ERROR(UseShapesOf(inputs, declarations));
  std::vector<bool> given(declarations.size(), false);
  for (const NamedTensor& input : inputs) {
    const auto found = std::find_if(declarations.begin(), declarations.end(),
                                    [&](const InputDeclaration& d) { return d.name == input.name; });
    if (found == declarations.end()) return UnknownInput(input.name, declarations);
    const auto i = static_cast<size_t>(found - declarations.begin());
    if (given[i]) return InvalidInput("input \"", input.name, "\" is given twice");
    given[i] = true;
    RETURN_IF_ERROR(CheckInput(*found, input.tensor));
    attune_error error;
    const auto bytes = static_cast<size_t>(input.tensor.num_bytes());
    RETURN_IF_ERROR(
        ToStatus(attune_session_set_input(handle_.get(), i, input.tensor.data(), bytes, &error), error));
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i]) continue;
    return InvalidInput("input \"", declarations[i].name, "\" (", ToString(declarations[i]),
                        ") has no value");
  }
  return absl::OkStatus();
}

absl::Status Session::Run() {
  attune_error error;
  return ToStatus(attune_session_run(handle_.get(), &error), error);
}

absl::StatusOr<std::vector<uint64_t>> Session::RunProfiled() {
  const size_t count = attune_model_num_instructions(model_->handle());
  std::vector<uint64_t> nanoseconds(count + 1);  // never empty, so that data() is not null
  attune_error error;
  RETURN_IF_ERROR(
      ToStatus(attune_session_run_profiled(handle_.get(), nanoseconds.data(), count, &error), error));
  nanoseconds.pop_back();
  return nanoseconds;
}

absl::StatusOr<std::vector<NamedTensor>> Session::Outputs() const {
  std::vector<NamedTensor> outputs;
  const std::vector<InputDeclaration> declarations = model_->Outputs();
  for (size_t i = 0; i < declarations.size(); ++i) {
    attune_output output;
    attune_error error;
    RETURN_IF_ERROR(ToStatus(attune_session_output(handle_.get(), i, &output, &error), error));
    const Shape shape(output.shape, output.shape + output.rank);
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(static_cast<DType>(output.dtype), shape));
    if (output.bytes > 0) std::memcpy(tensor.mutable_data(), output.data, output.bytes);
    outputs.push_back({declarations[i].name, std::move(tensor)});
  }
  return outputs;
}

}  // namespace attune
