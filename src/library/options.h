// Options of the C interface: the settings of all steps, of which the ones of one step can be set, by their
// names.
#ifndef ATTUNE_LIBRARY_OPTIONS_H_
#define ATTUNE_LIBRARY_OPTIONS_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "attune/options.h"
#include "options/settings.h"

struct attune_options {
  attune_step step;
  attune::CompileSettings compile = {};  // of optimizing, too
  attune::TuneSettings tune = {};
  attune::QuantizeSettings quantize = {};
  attune::SampleSettings samples = {};
  attune::PictureSettings picture = {};
  std::vector<attune::NamedTensor> examples = {};  // of optimizing
};

namespace attune::library {

// Checks and copies a caller's options, which may be null: the step's defaults.
absl::StatusOr<attune_options> OptionsFor(attune_step step, const attune_options* options);

// Takes the options of the step optimize over.
void TakeOptimizing(CompileSettings from, CompileSettings& to);

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_OPTIONS_H_
