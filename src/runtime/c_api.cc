// The C interface: checks arguments, translates errors, and lets no exception out.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include "attune/attune.h"
#include "runtime/model.h"
#include "runtime/session.h"

using attune::Instruction;
using attune::KernelInfo;
using attune::LoadedModel;
using attune::LoadOptions;
using attune::Manifest;
using attune::ModelSession;
using attune::Opcode;
using attune::Port;
using attune::RuntimeStatus;
using attune::TensorInfo;

struct attune_model {
  std::shared_ptr<const LoadedModel> loaded;
  std::string features;  // joined, for attune_model_metadata
};

struct attune_session {
  std::unique_ptr<ModelSession> session;
};

const Manifest& attune::ManifestOf(const attune_model& model) { return model.loaded->manifest(); }

namespace {

// Fills `error`, cutting the message where a character begins.
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

// Runs `body`, which returns a RuntimeStatus, and reports it.
template <typename Body>
attune_code Guard(attune_error* error, Body body) noexcept {
  try {
    return Report(body(), error);
  } catch (const std::bad_alloc&) {
    return Report({ATTUNE_OUT_OF_MEMORY, "out of memory"}, error);
  }
}

RuntimeStatus Invalid(std::string message) { return {ATTUNE_INVALID_ARGUMENT, std::move(message)}; }

RuntimeStatus NullArgument() { return Invalid("an argument that must not be NULL is NULL"); }

RuntimeStatus CheckIndex(const char* what, size_t index, size_t count) {
  if (index < count) return {};
  return Invalid("there is no " + std::string(what) + " " + std::to_string(index) + ": the model has " +
                 std::to_string(count));
}

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

RuntimeStatus ReadOptions(const attune_load_options* given, LoadOptions* out) {
  if (given == nullptr) return {};
  // A caller that was compiled with an earlier header gives fewer fields; those it lacks are zero.
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
  if (options.trusted_sha256 == nullptr) return {};
  out->trusted_sha256.emplace();
  for (size_t i = 0; i < options.num_trusted_sha256; ++i) {
    const char* digest = options.trusted_sha256[i];
    if (digest == nullptr || !IsSha256(digest))
      return Invalid("trusted_sha256[" + std::to_string(i) + "] is not 64 hexadecimal digits");
    out->trusted_sha256->push_back(digest);
  }
  return {};
}

// Calls `load` with the parsed options and wraps the model that it makes.
template <typename Load>
RuntimeStatus LoadInto(const attune_load_options* options, attune_model** model, Load load) {
  LoadOptions parsed;
  if (RuntimeStatus status = ReadOptions(options, &parsed); !status.ok()) return status;
  auto made = std::make_unique<attune_model>();
  if (RuntimeStatus status = load(parsed, &made->loaded); !status.ok()) return status;
  for (const std::string& feature : made->loaded->manifest().target.features) {
    made->features += (made->features.empty() ? "" : ",") + feature;
  }
  *model = made.release();
  return {};
}

RuntimeStatus DescribePort(const Manifest& manifest, const std::vector<Port>& ports, const char* what,
                           size_t index, attune_tensor_info* info) {
  if (RuntimeStatus status = CheckIndex(what, index, ports.size()); !status.ok()) return status;
  const Port& port = ports[index];
  const TensorInfo& tensor = manifest.tensors[port.tensor];
  *info = {port.name.c_str(),
           static_cast<attune_dtype>(tensor.dtype),
           tensor.shape.size(),
           tensor.shape.data(),
           0,
           0};
  info->bytes = attune::ElementSize(tensor.dtype);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    info->bytes *= static_cast<size_t>(tensor.shape[i]);
    info->is_dynamic |= tensor.dim_slots[i] >= 0;
  }
  return {};
}

}  // namespace

extern "C" {

const char* attune_version(void) { return ATTUNE_VERSION; }

size_t attune_dtype_size(attune_dtype dtype) {
  const unsigned number = dtype;  // callers in C can pass any
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

size_t attune_model_num_inputs(const attune_model* model) {
  return model == nullptr ? 0 : model->loaded->manifest().inputs.size();
}

size_t attune_model_num_outputs(const attune_model* model) {
  return model == nullptr ? 0 : model->loaded->manifest().outputs.size();
}

attune_code attune_model_input(const attune_model* model, size_t index, attune_tensor_info* info,
                               attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    const Manifest& manifest = model->loaded->manifest();
    return DescribePort(manifest, manifest.inputs, "input", index, info);
  });
}

attune_code attune_model_output(const attune_model* model, size_t index, attune_tensor_info* info,
                                attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    const Manifest& manifest = model->loaded->manifest();
    return DescribePort(manifest, manifest.outputs, "output", index, info);
  });
}

const char* attune_model_metadata(const attune_model* model, const char* key) {
  if (model == nullptr || key == nullptr) return nullptr;
  const Manifest& manifest = model->loaded->manifest();
  const struct {
    const char* key;
    const std::string& text;
  } texts[] = {
      {"target.arch", manifest.target.arch},
      {"target.cpu", manifest.target.cpu},
      {"target.features", model->features},
      {"model.name", manifest.provenance.model_name},
      {"model.sha256", manifest.provenance.model_sha256},
      {"compiler.version", manifest.provenance.compiler_version},
      {"pass_plan", manifest.provenance.pass_plan},
      {"records", manifest.provenance.records},
      {"graph", manifest.graph_summary},
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
    *info = {loaded.constant_bytes(), loaded.code_bytes(), loaded.manifest().arena_bytes,
             loaded.manifest().scratch_bytes};
    return RuntimeStatus();
  });
}

size_t attune_model_num_kernels(const attune_model* model) {
  return model == nullptr ? 0 : model->loaded->manifest().kernels.size();
}

attune_code attune_model_kernel(const attune_model* model, size_t index, attune_kernel_info* info,
                                attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    RuntimeStatus status = CheckIndex("kernel", index, attune_model_num_kernels(model));
    if (!status.ok()) return status;
    const KernelInfo& kernel = model->loaded->manifest().kernels[index];
    *info = {kernel.name.c_str(), kernel.op.c_str(), kernel.strategy.c_str(), kernel.digest.c_str(),
             kernel.flops,        kernel.bytes_read, kernel.bytes_written};
    return status;
  });
}

size_t attune_model_num_instructions(const attune_model* model) {
  return model == nullptr ? 0 : model->loaded->manifest().program.size();
}

attune_code attune_model_instruction(const attune_model* model, size_t index, attune_instruction_info* info,
                                     attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || info == nullptr) return NullArgument();
    RuntimeStatus status = CheckIndex("instruction", index, attune_model_num_instructions(model));
    if (!status.ok()) return status;
    const Manifest& manifest = model->loaded->manifest();
    const Instruction& instruction = manifest.program[index];
    *info = {-1, 0, instruction.label.c_str()};
    if (instruction.opcode == Opcode::kCall) {
      info->kernel = static_cast<int32_t>(instruction.kernel);
      info->is_parallel = manifest.kernels[instruction.kernel].interface.parallel;
    }
    return status;
  });
}

attune_code attune_session_create(const attune_model* model, size_t threads, attune_session** session,
                                  attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || session == nullptr) return NullArgument();
    auto made = std::make_unique<attune_session>();
    RuntimeStatus status = ModelSession::Create(model->loaded, threads, &made->session);
    if (status.ok()) *session = made.release();
    return status;
  });
}

void attune_session_free(attune_session* session) { delete session; }

void* attune_session_input(attune_session* session, size_t index) {
  if (session == nullptr || index >= session->session->model().manifest().inputs.size()) return nullptr;
  return session->session->input(index);
}

attune_code attune_session_set_input(attune_session* session, size_t index, const void* data, size_t bytes,
                                     attune_error* error) {
  return Guard(error, [&]() -> RuntimeStatus {
    if (session == nullptr || (data == nullptr && bytes != 0)) return NullArgument();
    const Manifest& manifest = session->session->model().manifest();
    attune_tensor_info info = {};
    RuntimeStatus status = DescribePort(manifest, manifest.inputs, "input", index, &info);
    if (!status.ok()) return status;
    if (bytes != info.bytes) {
      return Invalid("input " + std::to_string(index) + " (\"" + info.name + "\") takes " +
                     std::to_string(info.bytes) + " bytes, not " + std::to_string(bytes));
    }
    session->session->model().device().Copy(session->session->input(index), data, bytes);
    return {};
  });
}

attune_code attune_session_run(attune_session* session, attune_error* error) {
  return Guard(error, [&] { return session == nullptr ? NullArgument() : session->session->Run({}); });
}

attune_code attune_session_run_profiled(attune_session* session, uint64_t* nanoseconds, size_t count,
                                        attune_error* error) {
  return Guard(error, [&] {
    if (session == nullptr || nanoseconds == nullptr) return NullArgument();
    const size_t instructions = session->session->model().manifest().program.size();
    if (count != instructions) {
      return Invalid("the program has " + std::to_string(instructions) + " instructions, not " +
                     std::to_string(count));
    }
    std::memset(nanoseconds, 0, count * sizeof(*nanoseconds));
    return session->session->Run({nanoseconds, count});
  });
}

attune_code attune_session_output(attune_session* session, size_t index, attune_output* output,
                                  attune_error* error) {
  return Guard(error, [&] {
    if (session == nullptr || output == nullptr) return NullArgument();
    const Manifest& manifest = session->session->model().manifest();
    RuntimeStatus status = CheckIndex("output", index, manifest.outputs.size());
    if (!status.ok()) return status;
    ModelSession::Output found;
    status = session->session->GetOutput(index, &found);
    if (!status.ok()) return status;
    const uint8_t dtype = manifest.tensors[manifest.outputs[index].tensor].dtype;
    *output = {found.data, static_cast<attune_dtype>(dtype), found.shape.size(), found.shape.data(),
               found.bytes};
    return status;
  });
}

}  // extern "C"
