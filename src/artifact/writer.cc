#include "artifact/writer.h"

#include <cstring>

#include "artifact/checksum.h"
#include "artifact/encode.h"
#include "artifact/format.h"
#include "artifact/validate.h"
#include "base/checked.h"
#include "base/dtype.h"
#include "base/status.h"

namespace attune {
namespace {

// The reader, which does not depend on base/, repeats these numbers; they must agree.
constexpr bool DTypesAgree() {
  return static_cast<uint8_t>(DType::kBool) == kDTypeBool && ElementSize(kDTypeBool) == 1 &&
         ElementSize(static_cast<uint8_t>(DType::kF64)) == 8 &&
         ElementSize(static_cast<uint8_t>(DType::kI64)) == 8 &&
         ElementSize(static_cast<uint8_t>(DType::kBF16)) == 2 && ElementSize(kNumDTypes - 1) != 0 &&
         ElementSize(kNumDTypes) == 0;
}
static_assert(DTypesAgree());

std::span<const std::byte> AsBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

void CopyInto(std::string& file, const format::Section& section, std::span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(file.data() + section.offset, bytes.data(), bytes.size());
}

}  // namespace

absl::StatusOr<std::string> WriteArtifact(const ArtifactContents& contents) {
  const std::string fault =
      ValidateManifest(contents.manifest, contents.code.size(), contents.constants.size());
  if (!fault.empty()) return InternalError("the compiled artifact is malformed: ", fault);
  if (contents.constants.size() % kConstantPadding != 0) {
    return InternalError("the compiled artifact is malformed: its constants are not padded");
  }
  format::Encoder manifest;
  Manifest encoded = contents.manifest;  // an archive takes its fields by non-const reference
  manifest(encoded);

  format::Header header;
  header.header_bytes = format::kHeaderBytes;
  header.manifest = {format::kHeaderBytes, manifest.bytes().size(), Xxh64(AsBytes(manifest.bytes()))};
  const auto next_page = [](const format::Section& before) {
    return static_cast<uint64_t>(
        RoundUp(static_cast<int64_t>(before.offset + before.bytes), format::kPageBytes));
  };
  header.code = {next_page(header.manifest), contents.code.size(), Xxh64(contents.code)};
  header.constants = {next_page(header.code), contents.constants.size(), Xxh64(contents.constants)};
  header.kernels_checksum = format::KernelsChecksum(contents.manifest, header.code.checksum);
  header.file_bytes = header.constants.offset + header.constants.bytes + kReadAhead;
  format::Encoder unsigned_header;
  unsigned_header(header);
  header.header_checksum = Xxh64(AsBytes(unsigned_header.bytes()).first(format::kHeaderChecksumOffset));
  format::Encoder encoded_header;
  encoded_header(header);

  std::string file(header.file_bytes, '\0');
  CopyInto(file, {}, AsBytes(encoded_header.bytes()));
  CopyInto(file, header.manifest, AsBytes(manifest.bytes()));
  CopyInto(file, header.code, contents.code);
  CopyInto(file, header.constants, contents.constants);
  return file;
}

}  // namespace attune
