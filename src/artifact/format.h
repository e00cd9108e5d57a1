// The encoding of the artifact's header and manifest, shared by writer and reader. The fields of each
// struct are listed once, and an Archive either writes or reads them, as its version of the format has them.
//
// Numbers are little-endian, strings and lists are preceded by their length in 32 bits.
#ifndef ATTUNE_ARTIFACT_FORMAT_H_
#define ATTUNE_ARTIFACT_FORMAT_H_

#include <array>
#include <cstdint>

#include "artifact/artifact.h"

namespace attune::format {

// As in PNG's signature, a byte above 127 and both kinds of line ends reveal a transfer as text.
inline constexpr std::array<uint8_t, 8> kMagic = {0x8F, 'A', 'T', 'N', '\r', '\n', 0x1A, '\n'};

// Code and constants start at multiples of this, so that pages of the file can be mapped.
inline constexpr uint64_t kPageBytes = 4096;

struct Section {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

// Encoded in this order.
struct Header {
  std::array<uint8_t, 8> magic = kMagic;
  uint32_t version = kArtifactVersion;
  uint32_t header_bytes = 0;
  uint64_t file_bytes = 0;
  Section manifest;
  Section code;
  Section constants;
  uint64_t kernels_checksum = 0;  // KernelsChecksum()
  uint64_t header_checksum = 0;   // of all header bytes before it
};

inline constexpr uint32_t kHeaderBytes = 8 + 4 + 4 + 8 + 3 * 24 + 8 + 8;
inline constexpr uint32_t kHeaderChecksumOffset = kHeaderBytes - 8;

template <typename Archive>
void Fields(Archive& a, Section& s) {
  a(s.offset, s.bytes, s.checksum);
}

template <typename Archive>
void Fields(Archive& a, Header& h) {
  for (uint8_t& byte : h.magic) a(byte);
  a(h.version, h.header_bytes, h.file_bytes, h.manifest, h.code, h.constants, h.kernels_checksum,
    h.header_checksum);
}

template <typename Archive>
void Fields(Archive& a, TargetInfo& t) {
  a(t.arch, t.cpu, t.features);
}

template <typename Archive>
void Fields(Archive& a, Provenance& p) {
  a(p.model_name, p.model_sha256, p.compiler_version, p.pass_plan, p.records);
}

template <typename Archive>
void Fields(Archive& a, SizeStep& s) {
  a(s.op, s.value);
}

template <typename Archive>
void Fields(Archive& a, OpenSize& s) {
  a(s.name, s.min, s.max);
}

template <typename Archive>
void Fields(Archive& a, ArenaBlock& b) {
  a(b.bytes, b.first, b.last, b.pinned);
}

template <typename Archive>
void Fields(Archive& a, TensorInfo& t) {
  a(t.name, t.dtype, t.shape, t.dim_slots, t.place, t.offset, t.bytes);
  if (a.version() >= kOpenSizesVersion) a(t.open_shape, t.block, t.open_offset);
}

template <typename Archive>
void Fields(Archive& a, Port& p) {
  a(p.name, p.tensor);
}

template <typename Archive>
void Fields(Archive& a, OperandInfo& p) {
  a(p.dtype, p.is_written, p.bytes, p.in_place_of);
  if (a.version() >= kOpenSizesVersion) a(p.open_bytes);
}

template <typename Archive>
void Fields(Archive& a, KernelInterface& i) {
  a(i.code_offset, i.scratch_bytes, i.num_dims, i.parallel, i.operands);
  if (a.version() >= kOpenSizesVersion) a(i.num_sizes, i.open_scratch);
}

template <typename Archive>
void Fields(Archive& a, KernelInfo& k) {
  a(k.name, k.op, k.strategy, k.digest, k.interface, k.flops, k.bytes_read, k.bytes_written);
}

template <typename Archive>
void Fields(Archive& a, Instruction& i) {
  a(i.opcode, i.kernel, i.target, i.tensors, i.label);
  if (a.version() >= kOpenSizesVersion) a(i.sizes);
}

template <typename Archive>
void Fields(Archive& a, ConstantRange& r) {
  a(r.encoding, r.bytes, r.codebook);
}

template <typename Archive>
void Fields(Archive& a, Program& p) {
  a(p.graph_summary, p.tensors, p.inputs, p.outputs, p.num_dims, p.arena_bytes, p.instructions);
  if (a.version() >= kOpenSizesVersion) a(p.sizes, p.numbers, p.blocks);
}

template <typename Archive>
void Fields(Archive& a, Prepacking& p) {
  a(p.kernel, p.constant_offset, p.prepacked_offset);
}

template <typename Archive>
void Fields(Archive& a, Variant& v) {
  a(v.target, v.scratch_bytes, v.prepacked_bytes, v.kernels, v.prepackings, v.programs);
}

template <typename Archive>
void Fields(Archive& a, Manifest& m) {
  a(m.provenance, m.constant_ranges, m.variants);
}

}  // namespace attune::format

#endif  // ATTUNE_ARTIFACT_FORMAT_H_
