// Shared by the sources of the C interface: the handles, and the translation of errors to codes.
#ifndef ATTUNE_RUNTIME_C_API_H_
#define ATTUNE_RUNTIME_C_API_H_

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "attune/attune.h"
#include "runtime/model.h"
#include "runtime/session.h"

// The model with one set of input shapes.
struct attune_model {
  std::shared_ptr<const attune::LoadedModel> loaded;
  size_t shape_set = 0;                                   // the index of its program
  std::string features, cpus, signers;                    // joined, for attune_model_metadata
  std::vector<std::unique_ptr<attune_model>> shape_sets;  // one per set; empty in these themselves

  const attune::Program& program() const { return loaded->variant().programs[shape_set]; }
};

struct attune_session {
  std::unique_ptr<attune::ModelSession> session;
};

namespace attune::c_api {

// Fills `error`; cuts a long message between characters.
attune_code Report(const RuntimeStatus& status, attune_error* error);

// Runs `body`, which returns a RuntimeStatus, and reports the result.
template <typename Body>
attune_code Guard(attune_error* error, Body body) noexcept {
  try {
    return Report(body(), error);
  } catch (const std::bad_alloc&) {
    return Report({ATTUNE_OUT_OF_MEMORY, "out of memory"}, error);
  }
}

RuntimeStatus Invalid(std::string message);
RuntimeStatus NullArgument();
RuntimeStatus CheckIndex(const char* what, size_t index, size_t count);

// Describes a port whose tensor has this shape, which outlives the description. The shape has upper bounds
// where sizes depend on the data.
void DescribeTensor(const Port& port, const TensorInfo& tensor, std::span<const int64_t> shape,
                    attune_tensor_info* info);

}  // namespace attune::c_api

#endif  // ATTUNE_RUNTIME_C_API_H_
