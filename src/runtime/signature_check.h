// Verifies signatures of Ed25519.
//
// Problem: the runtime has no dependencies, and the arithmetic of signatures should not be written again.
// Idea: libcrypto, which nearly every system has, is loaded when a signature is to be verified for the first
// time. Price: where it is missing, a file whose signature is asked for is refused.
#ifndef ATTUNE_RUNTIME_SIGNATURE_CHECK_H_
#define ATTUNE_RUNTIME_SIGNATURE_CHECK_H_

#include <optional>
#include <span>
#include <string_view>

#include "artifact/signature.h"
#include "runtime/error.h"

namespace attune {

// Whether the signature is that of the text by its key; nothing if there is no libcrypto. Thread safe.
std::optional<bool> Verifies(const ArtifactSignature& signature, std::string_view text);

// Ok if one of `trusted` has signed the file. Else says why not, without a subject.
RuntimeStatus CheckSignatures(const UnsignedArtifact& file, std::span<const ArtifactSignature> signatures,
                              std::span<const Ed25519Key> trusted);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_SIGNATURE_CHECK_H_
