// The C interface of models: checks arguments, translates errors, and lets no exception out.
#include "runtime/c_api.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "artifact/size_code.h"
#include "artifact/validate_open.h"
#include "base/checked.h"
#include "base/joined.h"

using attune::Instruction;
using attune::Joined;
using attune::KernelInfo;
using attune::LoadedModel;
using attune::LoadOptions;
using attune::Opcode;
using attune::Port;
using attune::Program;
using attune::Provenance;
using attune::RuntimeStatus;
using attune::TargetInfo;
using attune::TensorInfo;
using attune::Variant;
using attune::c_api::CheckIndex;
using attune::c_api::DescribeTensor;
using attune::c_api::Guard;
using attune::c_api::Invalid;
using attune::c_api::NullArgument;

const Variant& attune::VariantOf(const attune_model& model) { return model.loaded->variant(); }

namespace attune::c_api {

attune_code Report(const RuntimeStatus& status, attune_error* error) {
  if (status.ok() || error == nullptr) return status.code;
  error->code = status.code;
  size_t length = status.message.size();
  if (length >= sizeof(error->message)) {
    length = sizeof(error->message) - 1;
    while (length > 0 && (static_cast<unsigned char>(status.message[length]) & 0xC0) == 0x80) --length;
  }
  std::memcpy(error->message, status.message.data(), length);
  error->message[length] = '\0';
  return status.code;
}

RuntimeStatus Invalid(std::string message) { return {ATTUNE_INVALID_ARGUMENT, std::move(message)}; }

RuntimeStatus NullArgument() { return Invalid("an argument that must not be NULL is NULL"); }

RuntimeStatus CheckIndex(const char* what, size_t index, size_t count) {
  if (index < count) return {};
  return Invalid(Joined({"there is no ", std::string(what), " ", index, ": the model has ", count}));
}

void DescribeTensor(const Port& port, const TensorInfo& tensor, std::span<const int64_t> shape,
                    attune_tensor_info* info) {
  // The bounds of open sizes may ask for more bytes than there are.
  const std::optional<int64_t> elements = CheckedProduct(shape);
  const std::optional<int64_t> bytes =
      elements ? CheckedMul(*elements, ElementSize(tensor.dtype)) : std::nullopt;
  const auto varies = [](int32_t slot) { return slot >= 0; };
  *info = {port.name.c_str(),
           static_cast<attune_dtype>(tensor.dtype),
           shape.size(),
           shape.data(),
           0,
           bytes ? static_cast<size_t>(*bytes) : SIZE_MAX};
  info->is_dynamic = std::ranges::any_of(tensor.dim_slots, varies);
}

}  // namespace attune::c_api

namespace {

// Describes port `index` of the program's `ports` by its bounds; `what` names their kind.
RuntimeStatus DescribePort(const Program& program, const std::vector<Port>& ports, const char* what,
                           size_t index, attune_tensor_info* info) {
  if (RuntimeStatus status = CheckIndex(what, index, ports.size()); !status.ok()) return status;
  const TensorInfo& tensor = program.tensors[ports[index].tensor];
  DescribeTensor(ports[index], tensor, tensor.shape, info);
  info->is_dynamic |= attune::IsOpen(tensor);
  return {};
}

RuntimeStatus DescribeDimension(const Program& program, const std::vector<Port>& ports, const char* what,
                                size_t index, size_t dimension, attune_dimension* found) {
  if (RuntimeStatus status = CheckIndex(what, index, ports.size()); !status.ok()) return status;
  const TensorInfo& tensor = program.tensors[ports[index].tensor];
  if (dimension >= tensor.shape.size()) {
    return Invalid(
        Joined({"there is no dimension ", dimension, ": the ", what, " has ", tensor.shape.size()}));
  }
  const int64_t bound = tensor.shape[dimension];
  const int32_t number = tensor.open_shape.empty() ? -1 : tensor.open_shape[dimension];
  const bool varies = number >= 0 || tensor.dim_slots[dimension] >= 0;
  *found = {nullptr, varies ? 0 : bound, bound, number >= 0};
  if (number < 0) return {};
  if (const auto size = attune::SizeOf(program.numbers[static_cast<size_t>(number)])) {
    const attune::OpenSize& open = program.sizes[*size];
    *found = {open.name.c_str(), open.min, open.max, 1};
  }
  return {};
}

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

RuntimeStatus ReadOptions(const attune_load_options* given, LoadOptions* out) {
  if (given == nullptr) return {};
  // A caller that was compiled with an earlier header passes fewer fields; the missing ones are zero.
  constexpr size_t kFirstVersionBytes = offsetof(attune_load_options, read_whole);
  if (given->struct_bytes < kFirstVersionBytes) {
    return Invalid("attune_load_options.struct_bytes is not set; start from ATTUNE_LOAD_OPTIONS_INIT");
  }
  attune_load_options options = {};
  std::memcpy(&options, given, std::min(given->struct_bytes, sizeof(options)));
  out->verify_constants = options.verify_constants != 0;
  out->read_whole = options.read_whole != 0;
  out->describe_only = options.describe_only != 0;
  if (options.expected_sha256 != nullptr) {
    out->expected_sha256 = options.expected_sha256;
    if (!IsSha256(out->expected_sha256)) return Invalid("expected_sha256 is not 64 hexadecimal digits");
  }
  if (options.trusted_keys != nullptr) {
    out->trusted_keys.emplace();
    for (size_t i = 0; i < options.num_trusted_keys; ++i) {
      const char* hex = options.trusted_keys[i];
      const std::optional<attune::Ed25519Key> key = hex == nullptr ? std::nullopt : attune::KeyFromHex(hex);
      if (!key) return Invalid(Joined({"trusted_keys[", i, "] is not 64 hexadecimal digits"}));
      out->trusted_keys->push_back(*key);
    }
  }
  if (options.trusted_sha256 == nullptr) return {};
  out->trusted_sha256.emplace();
  for (size_t i = 0; i < options.num_trusted_sha256; ++i) {
    const char* digest = options.trusted_sha256[i];
    if (digest == nullptr || !IsSha256(digest))
      return Invalid(Joined({"trusted_sha256[", i, "] is not 64 hexadecimal digits"}));
    out->trusted_sha256->push_back(digest);
  }
  return {};
}

void AppendTo(std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; }

void Describe(attune_model& model) {
  for (const std::string& feature : model.loaded->variant().target.features)
    AppendTo(model.features, feature);
  for (const attune::ArtifactSignature& signature : model.loaded->signatures())
    AppendTo(model.signers, attune::KeyHex(signature.key));
  for (const Variant& variant : model.loaded->manifest().variants) AppendTo(model.cpus, variant.target.cpu);
}

// Calls `load` with the parsed options and wraps the loaded model.
template <typename Load>
RuntimeStatus LoadInto(const attune_load_options* options, attune_model** model, Load load) {
  LoadOptions parsed;
  if (RuntimeStatus status = ReadOptions(options, &parsed); !status.ok()) return status;
  auto made = std::make_unique<attune_model>();
  if (RuntimeStatus status = load(parsed, &made->loaded); !status.ok()) return status;
  Describe(*made);
  for (size_t i = 0; i < made->loaded->variant().programs.size(); ++i) {
    made->shape_sets.push_back(std::make_unique<attune_model>());
    made->shape_sets.back()->loaded = made->loaded;
    made->shape_sets.back()->shape_set = i;
    Describe(*made->shape_sets.back());
  }
  *model = made.release();
  return {};
}

}  // namespace

extern "C" {

const char* attune_version(void) { return ATTUNE_VERSION; }

size_t attune_dtype_size(attune_dtype dtype) {
  const unsigned number = dtype;  // callers in C can pass any value
  return number > UINT8_MAX ? 0 : attune::ElementSize(static_cast<uint8_t>(number));
}

const char* attune_dtype_name(attune_dtype dtype) {
  static const char* const kNames[] = {"f32", "f64", "f16", "bf16", "i8",  "i16", "i32",
                                       "i64", "u8",  "u16", "u32",  "u64", "bool"};
  return attune_dtype_size(dtype) == 0 ? "?" : kNames[dtype];
}

attune_code attune_load(const char* path, const attune_load_options* options, attune_model** model,
                        attune_error* error) {
  return Guard(error, [&]() -> RuntimeStatus {
    if (path == nullptr || model == nullptr) return NullArgument();
    return LoadInto(options, model,
                    [path](const LoadOptions& parsed, std::shared_ptr<const LoadedModel>* loaded) {
                      return LoadedModel::LoadFile(path, parsed, loaded);
                    });
  });
}

attune_code attune_load_memory(const void* data, size_t bytes, const attune_load_options* options,
                               attune_model** model, attune_error* error) {
  return Guard(error, [&]() -> RuntimeStatus {
    if ((data == nullptr && bytes != 0) || model == nullptr) return NullArgument();
    const std::span<const std::byte> span(static_cast<const std::byte*>(data), bytes);
    return LoadInto(options, model,
                    [span](const LoadOptions& parsed, std::shared_ptr<const LoadedModel>* loaded) {
                      return LoadedModel::LoadBytes(span, parsed, loaded);
                    });
  });
}

void attune_model_free(attune_model* model) { delete model; }

attune_code attune_model_verify(const attune_model* model, attune_error* error) {
  return Guard(error, [&] { return model == nullptr ? NullArgument() : model->loaded->Verify(); });
}

size_t attune_model_num_shape_sets(const attune_model* model) {
  return model == nullptr ? 0 : std::max<size_t>(model->shape_sets.size(), 1);
}

const attune_model* attune_model_shape_set(const attune_model* model, size_t index) {
  if (index >= attune_model_num_shape_sets(model)) return nullptr;
  return model->shape_sets.empty() ? model : model->shape_sets[index].get();
}

const void* attune_model_file(const attune_model* model, size_t* bytes) {
  if (model == nullptr || bytes == nullptr) return nullptr;
  const std::span<const std::byte> file = model->loaded->file();
  *bytes = file.size();
  return file.data();
}

size_t attune_model_num_inputs(const attune_model* model) {
  return model == nullptr ? 0 : model->program().inputs.size();
}

size_t attune_model_num_outputs(const attune_model* model) {
  return model == nullptr ? 0 : model->program().outputs.size();
}

attune_code attune_model_input(const attune_model* model, size_t index, attune_tensor_info* info,
                               attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    return DescribePort(model->program(), model->program().inputs, "input", index, info);
  });
}

attune_code attune_model_output(const attune_model* model, size_t index, attune_tensor_info* info,
                                attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    return DescribePort(model->program(), model->program().outputs, "output", index, info);
  });
}

attune_code attune_model_input_dimension(const attune_model* model, size_t index, size_t dimension,
                                         attune_dimension* found, attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || found == nullptr) return NullArgument();
    return DescribeDimension(model->program(), model->program().inputs, "input", index, dimension, found);
  });
}

attune_code attune_model_output_dimension(const attune_model* model, size_t index, size_t dimension,
                                          attune_dimension* found, attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || found == nullptr) return NullArgument();
    return DescribeDimension(model->program(), model->program().outputs, "output", index, dimension, found);
  });
}

const char* attune_model_metadata(const attune_model* model, const char* key) {
  if (model == nullptr || key == nullptr) return nullptr;
  const TargetInfo& target = model->loaded->variant().target;
  const Provenance& provenance = model->loaded->manifest().provenance;
  const struct {
    const char* key;
    const std::string& text;
  } texts[] = {
      {"target.arch", target.arch},
      {"target.cpu", target.cpu},
      {"target.features", model->features},
      {"target.cpus", model->cpus},
      {"model.name", provenance.model_name},
      {"model.sha256", provenance.model_sha256},
      {"compiler.version", provenance.compiler_version},
      {"pass_plan", provenance.pass_plan},
      {"records", provenance.records},
      {"graph", model->program().graph_summary},
      {"signers", model->signers},
  };
  for (const auto& entry : texts) {
    if (std::strcmp(entry.key, key) == 0) return entry.text.c_str();
  }
  return nullptr;
}

attune_code attune_model_memory(const attune_model* model, attune_memory_info* info, attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    const LoadedModel& loaded = *model->loaded;
    uint64_t arena_bytes = 0;
    for (const Program& program : loaded.variant().programs)
      arena_bytes = std::max(arena_bytes, program.arena_bytes);
    *info = {loaded.constant_bytes() + loaded.variant().prepacked_bytes, loaded.code_bytes(), arena_bytes,
             loaded.variant().scratch_bytes};
    return RuntimeStatus();
  });
}

size_t attune_model_num_kernels(const attune_model* model) {
  return model == nullptr ? 0 : model->loaded->variant().kernels.size();
}

attune_code attune_model_kernel(const attune_model* model, size_t index, attune_kernel_info* info,
                                attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    RuntimeStatus status = CheckIndex("kernel", index, attune_model_num_kernels(model));
    if (!status.ok()) return status;
    const KernelInfo& kernel = model->loaded->variant().kernels[index];
    *info = {kernel.name.c_str(), kernel.op.c_str(), kernel.strategy.c_str(), kernel.digest.c_str(),
             kernel.flops,        kernel.bytes_read, kernel.bytes_written};
    return status;
  });
}

size_t attune_model_num_instructions(const attune_model* model) {
  return model == nullptr ? 0 : model->program().instructions.size();
}

attune_code attune_model_instruction(const attune_model* model, size_t index, attune_instruction_info* info,
                                     attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    RuntimeStatus status = CheckIndex("instruction", index, attune_model_num_instructions(model));
    if (!status.ok()) return status;
    const Instruction& instruction = model->program().instructions[index];
    *info = {-1, 0, instruction.label.c_str()};
    if (instruction.opcode == Opcode::kCall) {
      info->kernel = static_cast<int32_t>(instruction.kernel);
      info->is_parallel = model->loaded->variant().kernels[instruction.kernel].interface.parallel;
    }
    return status;
  });
}

}  // extern "C"
