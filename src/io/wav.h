// Sound: RIFF WAVE files of 16-bit PCM or 32-bit float samples.
#ifndef ATTUNE_IO_WAV_H_
#define ATTUNE_IO_WAV_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace attune {

struct Sound {
  int64_t sample_rate = 0;  // Hz
  Tensor samples;           // f32 [1, n]: PCM is scaled to -1 to 1; several channels are averaged
};

// Errors name `name` (the file) and what is wrong.
absl::StatusOr<Sound> ParseWav(std::string_view bytes, std::string_view name);

}  // namespace attune

#endif  // ATTUNE_IO_WAV_H_
