// Networks of the C interface: loading, saving, and what they are.
#include "api/network.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "api/inputs.h"
#include "api/opened_model.h"
#include "base/status.h"
#include "library/control.h"
#include "library/declarations.h"
#include "library/device.h"
#include "library/failure.h"
#include "library/network_state.h"
#include "library/options.h"
#include "library/tensors.h"
#include "library/texts.h"

namespace attune::library {
namespace {

absl::StatusOr<ModelOptions> ModelOptionsOf(const attune_open_options& options) {
  if (options.num_shapes > 0) RETURN_IF_ERROR(CheckNotNull(options.shapes));
  if (options.num_trusted_keys > 0) RETURN_IF_ERROR(CheckNotNull(options.trusted_keys));
  ModelOptions loading;
  for (const attune_named_shape& shape : std::span(options.shapes, options.num_shapes)) {
    RETURN_IF_ERROR(CheckNotNull(shape.name));
    if (shape.rank > 0) RETURN_IF_ERROR(CheckNotNull(shape.sizes));
    loading.shapes[shape.name] = Shape(shape.sizes, shape.sizes + shape.rank);
  }
  ASSIGN_OR_RETURN(std::vector<NamedTensor> values, ToOwn(options.values, options.num_values));
  for (auto& [name, value] : values) loading.values[name] = std::move(value);
  loading.leaves_open = loading.open_must_be_fast = options.leaves_open != 0;
  loading.signature = TextOr(options.signature);
  loading.artifact.sha256 = TextOr(options.sha256);
  loading.artifact.describe_only = options.device != nullptr;
  for (const char* key : std::span(options.trusted_keys, options.num_trusted_keys)) {
    if (!loading.artifact.trusted_keys) loading.artifact.trusted_keys.emplace();
    loading.artifact.trusted_keys->push_back(TextOr(key));
  }
  return loading;
}

absl::StatusOr<attune_network*> Load(const char* path, const attune_open_options* options,
                                     const attune_control* control) {
  ASSIGN_OR_RETURN(const attune_open_options opening, CopyKnown(options, "ATTUNE_OPEN_OPTIONS_INIT"));
  ASSIGN_OR_RETURN(ModelOptions loading, ModelOptionsOf(opening));
  ASSIGN_OR_RETURN(const attune_control following_by, ToOwn(control));
  Following following(following_by);
  loading.control = following.work();
  const Network network = Network::Load(path, loading);
  RETURN_IF_ERROR(network.status());
  return new attune_network{.imported = network, .service = ServiceOf(opening.device)};
}

absl::StatusOr<attune_network*> Load(absl::StatusOr<OpenedModel> model) {
  RETURN_IF_ERROR(model.status());
  const Network network = Network::Load(*model);
  RETURN_IF_ERROR(network.status());
  return new attune_network{.imported = network};
}

absl::StatusOr<NamedTensor> Picture(const attune_network& network, const char* path, const std::string& input,
                                    const PictureSettings& settings, const attune_control& control) {
  ASSIGN_OR_RETURN(const std::vector<InputDeclaration> inputs, network.imported.Inputs());
  return ReadPicture(path, input, settings, inputs, [&control](std::string_view text) {
    if (control.note != nullptr) control.note(control.context, std::string(text).c_str());
  });
}

absl::StatusOr<const attune_network_size*> Sizes(const attune_network& network) {
  ASSIGN_OR_RETURN(const Network compiled, network.Compiled());
  ASSIGN_OR_RETURN(const NetworkDescription description, compiled.Describe());
  const auto& variants = description.manifest.variants;
  auto sizes = std::make_unique<Result<attune_network_size>>();
  sizes->file_bytes = description.file_bytes;
  sizes->code_bytes = description.code_bytes;
  sizes->weight_bytes = description.weight_bytes();
  sizes->stored_weight_bytes = description.stored_constant_bytes;
  sizes->arena_bytes = static_cast<uint64_t>(description.program().arena_bytes);
  sizes->scratch_bytes = static_cast<uint64_t>(description.variant().scratch_bytes);
  sizes->num_cpus = variants.size();
  sizes->cpus = sizes->memory.Array(
      variants, [&](const Variant& variant) { return sizes->memory.Text(variant.target.cpu); });
  return sizes.release();
}

absl::StatusOr<const attune_quantization*> Quantization(const attune_network& network) {
  ASSIGN_OR_RETURN(const QuantizedModel* const quantized, network.Quantized());
  const quant::QuantizationReport& report = quantized->report;
  auto result = std::make_unique<Result<attune_quantization>>();
  result->agreement = report.agreement.agreement;
  result->baseline_seconds = report.float_seconds;
  result->quantized_seconds = report.seconds;
  result->is_slower = static_cast<int>(report.is_slower());
  result->verdict = result->memory.Text(quant::Verdict(report));
  return result.release();
}

}  // namespace
}  // namespace attune::library

using attune::library::CheckNotNull;
using attune::library::Guard;

attune_code attune_network_load(const char* path, const attune_open_options* options,
                                const attune_control* control, attune_network** network,
                                attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(path, network));
    ASSIGN_OR_RETURN(*network, attune::library::Load(path, options, control));
    return absl::OkStatus();
  });
}

attune_code attune_network_from_artifact(const void* data, size_t bytes, attune_network** network,
                                         attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network));
    if (bytes > 0) RETURN_IF_ERROR(CheckNotNull(data));
    std::string content(static_cast<const char*>(data), bytes);
    ASSIGN_OR_RETURN(
        *network, attune::library::Load(attune::OpenedModel::FromBytes(std::move(content), "the artifact")));
    return absl::OkStatus();
  });
}

attune_code attune_network_zoo(const char* name, attune_network** network, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(name, network));
    ASSIGN_OR_RETURN(*network, attune::library::Load(attune::OpenedModel::FromZoo(name)));
    return absl::OkStatus();
  });
}

attune_code attune_zoo_names(const attune_texts** names, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(names));
    *names = attune::library::NewTexts(attune::ZooNames());
    return absl::OkStatus();
  });
}

void attune_network_free(attune_network* network) { delete network; }

attune_code attune_network_save(const attune_network* network, const char* path, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, path));
    ASSIGN_OR_RETURN(const attune::Network compiled, network->Compiled());
    return compiled.Save(path).status();
  });
}

attune_code attune_network_artifact(const attune_network* network, const attune_bytes** artifact,
                                    attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, artifact));
    ASSIGN_OR_RETURN(const attune::Network compiled, network->Compiled());
    ASSIGN_OR_RETURN(std::string bytes, compiled.ArtifactBytes());
    *artifact = attune::library::NewBytes(std::move(bytes));
    return absl::OkStatus();
  });
}

attune_code attune_network_save_onnx(const attune_network* network, const char* path,
                                     attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, path));
    return network->imported.SaveOnnx(path);
  });
}

attune_code attune_network_inputs(const attune_network* network, const attune_ports** inputs,
                                  attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, inputs));
    ASSIGN_OR_RETURN(const auto declarations, network->imported.Inputs());
    *inputs = attune::library::NewPorts(declarations);
    return absl::OkStatus();
  });
}

attune_code attune_network_outputs(const attune_network* network, const attune_ports** outputs,
                                   attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, outputs));
    ASSIGN_OR_RETURN(const auto declarations, network->imported.Outputs());
    *outputs = attune::library::NewPorts(declarations);
    return absl::OkStatus();
  });
}

attune_code attune_network_random_input(const attune_network* network, const char* name, uint64_t seed,
                                        attune_tensor** tensor, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, name, tensor));
    ASSIGN_OR_RETURN(attune::Tensor value, network->imported.RandomInput(name, seed));
    *tensor = new attune_tensor({name, std::move(value)});
    return absl::OkStatus();
  });
}

attune_code attune_network_picture(const attune_network* network, const char* path, const char* input,
                                   const attune_options* options, const attune_control* control,
                                   attune_tensor** tensor, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, path, tensor));
    ASSIGN_OR_RETURN(const attune_options own, attune::library::OptionsFor(ATTUNE_STEP_PICTURE, options));
    ASSIGN_OR_RETURN(const attune_control following_by, attune::library::ToOwn(control));
    ASSIGN_OR_RETURN(
        attune::NamedTensor read,
        attune::library::Picture(*network, path, attune::library::TextOr(input), own.picture, following_by));
    *tensor = new attune_tensor(std::move(read));
    return absl::OkStatus();
  });
}

attune_code attune_network_sizes(const attune_network* network, const attune_network_size** sizes,
                                 attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, sizes));
    ASSIGN_OR_RETURN(*sizes, attune::library::Sizes(*network));
    return absl::OkStatus();
  });
}

void attune_network_size_free(const attune_network_size* sizes) { attune::library::FreeResult(sizes); }

int attune_network_is_compiled(const attune_network* network) {
  return static_cast<int>(network->compiled.has_value() || network->imported.is_compiled());
}

int attune_network_is_quantized(const attune_network* network) {
  return static_cast<int>(network->imported.quantized() != nullptr);
}

int attune_network_threads(const attune_network* network) { return std::max(1, network->compiling.threads); }

attune_code attune_network_compile_options(const attune_network* network, attune_options** options,
                                           attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, options));
    *options = new attune_options{.step = ATTUNE_STEP_COMPILE, .compile = network->compiling};
    return absl::OkStatus();
  });
}

attune_code attune_network_quantization(const attune_network* network, const attune_quantization** result,
                                        attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, result));
    ASSIGN_OR_RETURN(*result, attune::library::Quantization(*network));
    return absl::OkStatus();
  });
}

void attune_quantization_free(const attune_quantization* result) { attune::library::FreeResult(result); }
