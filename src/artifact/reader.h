// Reads artifacts. Standard library only; safe on any bytes.
#ifndef ATTUNE_ARTIFACT_READER_H_
#define ATTUNE_ARTIFACT_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "artifact/signature.h"

namespace attune {

enum class ArtifactFault {
  kNone,
  kNotArtifact,
  kOtherVersion,
  kCutShort,
  kDamaged,
};

struct ArtifactError {
  ArtifactFault fault = ArtifactFault::kNone;
  // One sentence without its subject, the file: "is cut short: …; copy it again".
  std::string message;

  bool ok() const { return fault == ArtifactFault::kNone; }
};

// A parsed artifact. The sections point into the parsed bytes: the constants are stored as in the file and
// must be expanded (expand.h) if the manifest lists ranges of them.
struct ArtifactView {
  Manifest manifest;
  std::span<const std::byte> code;
  std::span<const std::byte> constants;
  uint64_t constants_checksum = 0;
  std::vector<ArtifactSignature> signatures;  // not verified
  UnsignedArtifact unsigned_file;             // that they are signatures of
};

// Parses the bytes of an artifact's file into `view`, checks the checksums of header, manifest and code and
// validates the manifest (validate.h). It does not read the constants, so that its time does not depend on
// their size, and does not check whether this processor can run the code. Memory stays within a small
// factor of the manifest's size. `bytes` may have any alignment and must not change during the call.
ArtifactError ParseArtifact(std::span<const std::byte> bytes, ArtifactView* view);

// Verifies the checksum of the constants' section; reads all of it.
ArtifactError VerifyConstants(const ArtifactView& view);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_READER_H_
