// Runs the artifact's reader and the runtime's loader on any bytes. The checksums are corrected first, so
// that the fuzzer reaches the parsing behind them. Nothing is executed.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "artifact/expand.h"
#include "artifact/open_program.h"
#include "artifact/reader.h"
#include "artifact/testing/sample_artifact.h"
#include "artifact/writer.h"
#include "attune/attune.h"
#include "runtime/input_shapes.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// No file may need much more memory than its own length.
void Expand(const attune::ArtifactView& view) {
  if (view.manifest.constant_ranges.empty()) return;
  const uint64_t bytes = attune::ExpandedBytes(view.manifest, view.constants.size());
  Check(bytes <= 32 * view.constants.size());
  std::vector<std::byte> constants(bytes);
  const std::vector<attune::ConstantRange>& ranges = view.manifest.constant_ranges;
  for (const attune::Variant& variant : view.manifest.variants)
    attune::ExpandConstants(ranges, attune::RangesOf(variant, ranges), view.constants, constants);
}

// An artifact can be described whatever processor it is for.
void Describe(const std::string& file) {
  attune_load_options options = ATTUNE_LOAD_OPTIONS_INIT;
  options.describe_only = 1;
  attune_model* model = nullptr;
  Check(attune_load_memory(file.data(), file.size(), &options, &model, nullptr) == ATTUNE_OK);
  attune_session* session = nullptr;
  Check(attune_session_create(model, 1, &session, nullptr) != ATTUNE_OK);
  attune_model_free(model);
}

constexpr uint64_t kMaxBytes = 1 << 22;

// Whether a program with open sizes can be placed at its smallest ones, in a memory that a test machine has.
// Its largest sizes give a placement or an error.
bool IsPlacedInLittle(const attune::Program& program, const attune::Variant& variant) {
  attune::OpenProgram open(program, variant.kernels);
  attune::ProgramPlacement placement;
  std::vector<int64_t> largest;
  for (const attune::OpenSize& size : program.sizes) largest.push_back(size.max);
  const attune::PlacementError error = open.Place(largest, &placement);
  Check(error.ok() == error.message.empty());
  return open.Place(attune::SmallestSizes(program), &placement).ok() && placement.arena_bytes <= kMaxBytes &&
         placement.scratch_bytes <= kMaxBytes;
}

// Whether a test machine has enough memory for it and loading it executes nothing.
bool IsHarmless(const attune::Variant& variant) {
  if (!variant.prepackings.empty() || variant.scratch_bytes > kMaxBytes) return false;
  uint64_t bytes = 0;
  for (const attune::Program& program : variant.programs) {
    for (const attune::TensorInfo& tensor : program.tensors) {
      if (tensor.bytes > kMaxBytes) return false;
    }
    if (!program.sizes.empty() && !IsPlacedInLittle(program, variant)) return false;
    bytes += program.arena_bytes;
  }
  return bytes <= kMaxBytes;
}

// A session computes every tensor's address.
void MakeSession(const std::string& file, const attune::Manifest& manifest) {
  if (!std::ranges::all_of(manifest.variants, IsHarmless)) return;
  attune_error error;
  attune_model* model = nullptr;
  if (attune_load_memory(file.data(), file.size(), nullptr, &model, &error) == ATTUNE_OK) {
    attune_session* session = nullptr;
    Check(attune_session_create(model, 1, &session, &error) == ATTUNE_OK);
    attune_session_free(session);
    attune_model_free(model);
  } else {
    Check(error.code == ATTUNE_WRONG_TARGET);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  attune::testing::RepairChecksums(file);
  attune::ArtifactView view;
  const attune::ArtifactError error = attune::ParseArtifact(Bytes(file), &view);
  if (!error.ok()) {
    for (const char c : error.message) Check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    return 0;
  }
  Check(attune::VerifyConstants(view).ok());
  Expand(view);

  // The writer takes whatever the reader takes, and the reader reads the same again.
  const std::string again = attune::WriteArtifact({view.manifest, view.code, view.constants}).value();
  attune::ArtifactView reread;
  Check(attune::ParseArtifact(Bytes(again), &reread).ok());
  Check(reread.manifest == view.manifest);
  Describe(again);
  MakeSession(again, view.manifest);
  return 0;
}
