// The samples that a network is quantized with, and the accuracy that may be lost.
#ifndef ATTUNE_API_SAMPLES_H_
#define ATTUNE_API_SAMPLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/inputs.h"
#include "api/tensors.h"
#include "base/progress.h"
#include "options/settings.h"

namespace attune {

// "1%", or "0.01"; nothing for other texts, and outside of [0, 1].
std::optional<double> ParseShare(const std::string& text);

using Samples = std::vector<std::vector<NamedTensor>>;

// The samples are in memory all at once, so their total is limited: no sample is read once the others have
// this size.
inline constexpr int64_t kMostSampleBytes = int64_t{1} << 30;

// Reads the samples in the folder, sorted by name: each is a file for the only input that is not given, or
// a folder of files named after the inputs. The `given` inputs are the same in every sample, and get the
// raw pictures of the samples too; `inputs` says how files are read. Errors: one that names the file, or
// Cancelled.
absl::StatusOr<Samples> ReadSamples(const SampleSettings& options, const InputSources& inputs,
                                    GivenInputs& given, const std::vector<InputDeclaration>& declarations,
                                    const WorkControl& control = {});

}  // namespace attune

#endif  // ATTUNE_API_SAMPLES_H_
