// Steps of networks that have options.
#ifndef ATTUNE_LIBRARY_STEP_H_
#define ATTUNE_LIBRARY_STEP_H_

#include <utility>

#include "absl/functional/function_ref.h"
#include "attune/compiler.h"
#include "base/status.h"
#include "library/control.h"
#include "library/failure.h"
#include "library/network_state.h"
#include "library/options.h"

namespace attune::library {

// Runs a step of the C interface: `body` returns the state after it.
inline attune_code RunStep(
    attune_step step, const attune_network* network, const attune_options* options,
    const attune_control* control, attune_network** result, attune_failure** failure,
    absl::FunctionRef<absl::StatusOr<attune_network>(attune_options& options, const attune_control& control)>
        body) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, result));
    ASSIGN_OR_RETURN(attune_options own, OptionsFor(step, options));
    ASSIGN_OR_RETURN(const attune_control following_by, ToOwn(control));
    ASSIGN_OR_RETURN(attune_network state, body(own, following_by));
    *result = new attune_network(std::move(state));
    return absl::OkStatus();
  });
}

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_STEP_H_
