// The settings of a quantization sweep.
#ifndef ATTUNE_KINDS_QUANTIZATION_SETTINGS_H_
#define ATTUNE_KINDS_QUANTIZATION_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/inputs.h"
#include "api/samples.h"
#include "work/job/job_spec.h"

namespace attune {

// One way to quantize the model; the fields are those of `attune quantize`.
struct QuantizationVariant {
  std::string name;  // differs from all others; can be a file's name
  std::string calibration = "mse";
  double percentile = 99.99;
  std::string precision = "int8";
  int clusters = 0;
  bool equalization = true, bias_correction = true;
};

struct SweepSettings {
  std::string model, signature;
  std::vector<std::string> shapes;  // "input=1x3x224x224"
  SampleOptions samples;
  InputSources inputs;  // how pictures are read; names no inputs
  int held_back = 0;    // one sample in this many is for comparison; 0: as attune quantize does
  int judged = 0;       // one sample in this many judges the result, and nothing else uses it; 0: none
  int threads = 1;      // of one inference
  double measure_seconds = 12;  // the most for one timing
  std::string output;           // the folder for the quantized models; empty: the job's own
  std::string json;             // a file for the result; empty: none
  std::vector<QuantizationVariant> variants;

  double max_drop() const { return *ParseShare(samples.max_drop); }  // a share
};

// The error names the setting. Opens no file.
absl::StatusOr<SweepSettings> ReadSweepSettings(const JobSpec& spec);

}  // namespace attune

#endif  // ATTUNE_KINDS_QUANTIZATION_SETTINGS_H_
