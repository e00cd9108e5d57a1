// The settings of a quantization sweep.
#ifndef ATTUNE_KINDS_QUANTIZATION_SETTINGS_H_
#define ATTUNE_KINDS_QUANTIZATION_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/inputs.h"
#include "options/settings.h"
#include "work/job/job_spec.h"

namespace attune {

// One way to quantize the model.
struct QuantizationVariant : QuantizeSettings {
  std::string name;  // differs from all others; can be a file's name
};

// 0 for `held_back`: as attune quantize does.
struct SweepSettings : QuantizationJobSettings {
  SampleSettings samples;
  PictureSettings pictures;
  std::vector<QuantizationVariant> variants;

  // How pictures are read; names no inputs.
  InputSources inputs() const { return {.inputs = {}, .pictures = pictures}; }
};

// The error names the setting. Opens no file.
absl::StatusOr<SweepSettings> ReadSweepSettings(const JobSpec& spec);

}  // namespace attune

#endif  // ATTUNE_KINDS_QUANTIZATION_SETTINGS_H_
