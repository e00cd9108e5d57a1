#include "artifact/reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "artifact/checksum.h"
#include "artifact/encode.h"
#include "artifact/format.h"
#include "artifact/validate.h"
#include "base/joined.h"

namespace attune {
namespace {

using format::Header;
using format::Section;

ArtifactError Damaged(const std::string& what) {
  return {ArtifactFault::kDamaged,
          Joined({"is damaged: ", what, "; copy it again or compile the model again"})};
}

ArtifactError CutShort(size_t have, const std::string& want) {
  return {ArtifactFault::kCutShort,
          Joined({"is cut short: it has ", have, " bytes of ", want, "; copy it again"})};
}

// Checks the part of the file that is the same in every version: magic and version.
ArtifactError CheckKind(std::span<const std::byte> bytes) {
  const size_t count = std::min(bytes.size(), format::kMagic.size());
  const bool magic =
      std::equal(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count), format::kMagic.begin(),
                 [](std::byte a, uint8_t b) { return std::to_integer<uint8_t>(a) == b; });
  if (!magic || count == 0) {
    return {ArtifactFault::kNotArtifact, "is not an Attune artifact; make one with attune compile"};
  }
  if (bytes.size() < format::kMagic.size() + sizeof(uint32_t)) return CutShort(bytes.size(), "a header");
  uint32_t version = 0;
  format::Decoder(bytes.subspan(format::kMagic.size()))(version);
  if (version < kMinArtifactVersion || version > kArtifactVersion) {
    return {ArtifactFault::kOtherVersion,
            Joined({"has format version ", version, ", and this runtime reads ", kMinArtifactVersion, " to ",
                    kArtifactVersion, "; compile the model again, or use the runtime of that version"})};
  }
  if (bytes.size() < format::kHeaderBytes) return CutShort(bytes.size(), "a header");
  return {};
}

ArtifactError ReadHeader(std::span<const std::byte> bytes, Header* header) {
  if (ArtifactError error = CheckKind(bytes); !error.ok()) return error;
  format::Decoder decoder(bytes.first(format::kHeaderBytes));
  decoder(*header);
  if (header->header_checksum != Xxh64(bytes.first(format::kHeaderChecksumOffset))) {
    return Damaged("its header does not match its checksum");
  }
  if (header->header_bytes != format::kHeaderBytes) return Damaged("its header is malformed");
  if (header->file_bytes > bytes.size()) return CutShort(bytes.size(), std::to_string(header->file_bytes));
  if (header->file_bytes < bytes.size()) return Damaged("bytes follow its end");
  return {};
}

// Whether the sections are in order, do not overlap, and leave room for the read-ahead.
bool SectionsFit(const Header& header) {
  uint64_t end = format::kHeaderBytes;
  for (const Section* section : {&header.manifest, &header.code, &header.constants}) {
    if (section->offset < end || section->offset > header.file_bytes) return false;
    if (section->bytes > header.file_bytes - section->offset) return false;
    end = section->offset + section->bytes;
  }
  return header.code.offset % format::kPageBytes == 0 && header.constants.offset % format::kPageBytes == 0 &&
         header.constants.bytes % kConstantPadding == 0 && header.file_bytes - end >= kReadAhead;
}

}  // namespace

ArtifactError ParseArtifact(std::span<const std::byte> bytes, ArtifactView* view) {
  Header header;
  if (ArtifactError error = ReadHeader(bytes, &header); !error.ok()) return error;
  if (!SectionsFit(header)) return Damaged("its sections do not fit the file");
  const uint64_t unsigned_bytes = header.constants.offset + header.constants.bytes + kReadAhead;
  std::optional<std::vector<ArtifactSignature>> signatures = ParseSignatures(bytes.subspan(unsigned_bytes));
  if (!signatures.has_value()) return Damaged("its signatures are malformed");
  view->signatures = *std::move(signatures);
  view->unsigned_file = WithoutSignatures(bytes, header, unsigned_bytes);
  const std::span<const std::byte> manifest = bytes.subspan(header.manifest.offset, header.manifest.bytes);
  view->code = bytes.subspan(header.code.offset, header.code.bytes);
  view->constants = bytes.subspan(header.constants.offset, header.constants.bytes);
  view->constants_checksum = header.constants.checksum;
  if (Xxh64(manifest) != header.manifest.checksum) return Damaged("its manifest does not match its checksum");
  if (Xxh64(view->code) != header.code.checksum) return Damaged("its code does not match its checksum");

  format::Decoder decoder(manifest, header.version);
  view->manifest = Manifest();
  decoder(view->manifest);
  if (decoder.failed() || !decoder.at_end()) return Damaged("its manifest is malformed");
  if (format::KernelsChecksum(view->manifest, header.code.checksum, header.version) !=
      header.kernels_checksum)
    return Damaged("its kernels are not those of its code");
  const std::string fault = ValidateManifest(view->manifest, view->code.size(), view->constants.size());
  return fault.empty() ? ArtifactError() : Damaged(fault);
}

ArtifactError VerifyConstants(const ArtifactView& view) {
  if (Xxh64(view.constants) == view.constants_checksum) return {};
  return Damaged("its constants do not match their checksum");
}

}  // namespace attune
