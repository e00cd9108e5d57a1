// Encodes targets as messages (target.proto). Decoding is safe for any bytes.
#ifndef ATTUNE_TARGET_CODEC_H_
#define ATTUNE_TARGET_CODEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "target/target.h"

namespace attune {

// `target`: a named target, with its own caches, cores and modelled features.
std::string EncodeTarget(const Target& target);
// Fails if this program does not know the name.
absl::StatusOr<Target> DecodeTarget(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_TARGET_CODEC_H_
