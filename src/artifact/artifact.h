// The artifact: a compiled network as one file. Its content is plain structs (standard library only, since
// the runtime reads it without dependencies).
//
// The file is little-endian:
//
//   header       112 bytes: magic, format version, size of the file, offset and checksum of each section
//   manifest     the Manifest below, as format.h encodes it
//   code         page-aligned; position-independent, without relocations, imports or writable data
//   constants    page-aligned; the weights, mapped from the file and never written, or where the manifest
//                lists their ranges, compressed, to be expanded into memory when the file is loaded
//   padding      kReadAhead zero bytes
//   signatures   none, or as signature.h has them
//
// A file can hold the network for several processors (variants) and, for each, for several sets of input
// shapes (programs). They share the two sections, where equal code and equal weights are stored once. A
// program may leave sizes open, as the batch and the length of a sequence: the shapes of its inputs decide
// them when it runs.
//
// Every section has an XXH64 checksum, and so has the header. The runtime checks the checksums of header,
// manifest and code when it loads the file, and that of the constants on request and before it expands
// them. One more checksum, of the kernels' interfaces together with the code, ties the manifest to the code
// that it describes. A checksum finds damage, not malice: to run an artifact is to trust its code (attune.h
// says how to pin it by digest, or by who has signed it). Parsing is safe for any bytes.
#ifndef ATTUNE_ARTIFACT_ARTIFACT_H_
#define ATTUNE_ARTIFACT_ARTIFACT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attune {

inline constexpr uint32_t kArtifactVersion = 6;
// Files of these versions can be read. In version 5 no program has open sizes; in version 4 no instruction is
// kCheckIndices either.
inline constexpr uint32_t kMinArtifactVersion = 4;
inline constexpr uint32_t kOpenSizesVersion = 6;

// Alignment of tensors in the arena and in the constants, in bytes.
inline constexpr uint64_t kTensorAlignment = 64;
// Each constant is padded to a multiple of this many bytes, and so is the section of the constants.
inline constexpr uint64_t kConstantPadding = 128;
// Alignment of kernels in the code, in bytes.
inline constexpr uint64_t kKernelAlignment = 16;
// The most dimensions of a tensor: far more than networks use; it bounds the recursion over dimensions.
inline constexpr size_t kMaxRank = 64;
// A kernel may read (not write, and not depend on) this many bytes beyond the end of any tensor.
inline constexpr uint64_t kReadAhead = 64;

// Kernel ABI v2, in the C calling convention of the target.
//
//   buffers  the addresses of the instruction's tensors, in its order; 64-byte aligned
//   dims     the run's dynamic dimensions; a kernel that makes a dynamic tensor writes its slots, and one
//            that must know how much of an input is there reads them. Slots are numbers of the whole
//            program, known to the kernel when it is compiled. A kernel with num_sizes > 0 gets the sizes of
//            this call instead, and only reads them. They are not negative, 0 is possible, and operands and
//            scratch have at least the bytes that the kernel's interface asks for at these sizes; nothing
//            else is promised.
//   scratch  scratch_bytes, and open_scratch more, for the calling thread alone, 64-byte aligned, of
//            unspecified content
//   part     which part of `parts` to compute, 0 <= part < parts. The parts of a call may run at the same
//            time, so they write disjoint bytes. One launch may mix parts of several `parts`, as 0 of 2 with
//            2 and 3 of 4: part p of n is the same work as parts 2p and 2p + 1 of 2n. A call that is not
//            parallel is part 0 of 1.
//
// Returns 0, or another number for an error, which ends the run.
using KernelFunction = int32_t (*)(void* const* buffers, int64_t* dims, void* scratch, int32_t part,
                                   int32_t parts);

// The processor that the code needs.
struct TargetInfo {
  std::string arch;                   // "x86_64"
  std::string cpu;                    // the name it was tuned for ("znver4"); for people only
  std::vector<std::string> features;  // required instruction sets, as Linux names them: "avx2", "avx512_bf16"
  bool operator==(const TargetInfo&) const = default;
};

// The origin of the artifact: texts for people and for the registry, which the runtime only passes on.
struct Provenance {
  std::string model_name;
  std::string model_sha256;  // 64 hexadecimal digits, or empty
  std::string compiler_version;
  std::string pass_plan;
  std::string records;  // digests of the tuning records that chose the kernels, one per line
  bool operator==(const Provenance&) const = default;
};

enum class Place : uint8_t {
  kArena = 0,      // the session's own memory
  kConstant = 1,   // the constants
  kPrepacked = 2,  // the variant's prepacked weights, which are computed once, when the model is loaded
};

// A number that depends on sizes, as postfix code: each step pushes a number, or replaces the two on top of
// the stack by one. Arithmetic is that of 64-bit integers; an overflow is an error, and so is a negative
// result of the whole code.
enum class SizeOpcode : uint8_t {
  kConstant = 0,  // pushes `value`, which may be negative
  kSize = 1,      // pushes the size of index `value`
  kAdd = 2,
  kMul = 3,
  kFloorDiv = 4,  // rounds down; the divisor, which is on top, must be positive
  kMod = 5,       // what kFloorDiv leaves: from 0 to the divisor - 1
  kMin = 6,
  kMax = 7,
};

struct SizeStep {
  SizeOpcode op = SizeOpcode::kConstant;
  int64_t value = 0;  // 0 for the steps that replace two numbers
  bool operator==(const SizeStep&) const = default;
};

using SizeCode = std::vector<SizeStep>;
inline constexpr size_t kMaxSizeSteps = 256;
inline constexpr size_t kMaxSizeDepth = 32;  // of the stack

// A size that is open when the network is compiled: the shapes of a program's inputs decide it.
struct OpenSize {
  std::string name;          // "batch"
  int64_t min = 0, max = 0;  // both included; 0 <= min <= max
  bool operator==(const OpenSize&) const = default;
};

// A part of the arena of a program with open sizes. When sizes are set, blocks are placed so that two that
// are in use at the same instruction share no byte.
struct ArenaBlock {
  uint32_t bytes = 0;            // index into Program::numbers
  uint32_t first = 0, last = 0;  // the instructions between which it is in use, both included
  bool pinned = false;           // as those of ports: shares its bytes with no other block, whatever its life
  bool operator==(const ArenaBlock&) const = default;
};
// Placing them takes time by the square of their number.
inline constexpr size_t kMaxArenaBlocks = size_t{1} << 16;

// A tensor in memory: dense and row-major in `shape`, or in its actual shape where dimensions are open. A
// blocked layout is written as its physical shape.
struct TensorInfo {
  std::string name;
  uint8_t dtype = 0;  // DType's number (base/dtype.h)
  // Sizes, or upper bounds where dim_slots names a slot: strides then follow `shape` all the same. Both lists
  // have the same length.
  std::vector<int64_t> shape;
  std::vector<int32_t> dim_slots;  // index into the run's dims of the actual size; -1: it is constant
  Place place = Place::kArena;
  uint64_t offset = 0;  // from the start of `place`, a multiple of kTensorAlignment
  // At least what dtype and shape need; offset + bytes lies inside the place. 0 if a dimension is open: the
  // tensor then has the bytes of its actual shape.
  uint64_t bytes = 0;
  // Empty, or for each dimension -1 or, where it is open, the index into Program::numbers of its size, of
  // which `shape` has the upper bound. Only of a tensor in the arena.
  std::vector<int32_t> open_shape = {};
  // The block, from whose start the offset counts, of a tensor in the arena of a program with open sizes.
  // Otherwise -1.
  int32_t block = -1;
  // -1, or the index into Program::numbers of the offset, which `offset` does not have then. A multiple of
  // kTensorAlignment at all sizes.
  int32_t open_offset = -1;
  bool operator==(const TensorInfo&) const = default;
};

// A graph input or output. Ports are in the arena, and no two share a byte; no size of an input depends on
// the data. The memory plan reuses no port's bytes, so that inputs and outputs stay readable between runs:
// in a program with open sizes, each port is in a pinned block, and no two are in the same.
struct Port {
  std::string name;
  uint32_t tensor = 0;  // index into Program::tensors
  bool operator==(const Port&) const = default;
};

// How a kernel uses one of its buffers. It accesses only the first `bytes` bytes, except for the
// read-ahead.
struct OperandInfo {
  uint8_t dtype = 0;  // DType's number
  bool is_written = false;
  uint64_t bytes = 0;
  // For a written operand: the read-only operands that may have exactly the same bytes as this one. It must
  // not overlap any other operand of the call.
  std::vector<uint32_t> in_place_of;
  // Instead of `bytes` unless it is empty: code over the call's sizes.
  SizeCode open_bytes = {};
  bool operator==(const OperandInfo&) const = default;
};

// How to call a kernel: the manifest's description of its code.
struct KernelInterface {
  uint64_t code_offset = 0;
  uint64_t scratch_bytes = 0;  // per thread
  uint32_t num_dims = 0;       // it only accesses slots below this number
  bool parallel = false;       // may be split into parts
  std::vector<OperandInfo> operands;
  uint32_t num_sizes = 0;  // the numbers that each call gives it as `dims`; if there are any, num_dims is 0
  SizeCode open_scratch = {};  // bytes beyond scratch_bytes: code over the call's sizes; empty: none
  bool operator==(const KernelInterface&) const = default;
};

struct KernelInfo {
  std::string name;
  std::string op;        // what it computes, as the fused group is printed ("conv+bias+relu")
  std::string strategy;  // how it computes that, with its configuration
  std::string digest;    // of its object code: equal digests mean equal code
  KernelInterface interface;
  uint64_t flops = 0;       // one call's floating-point (or integer) operations, from the compute definition
  uint64_t bytes_read = 0;  // the fewest bytes that one call must read from and write to memory
  uint64_t bytes_written = 0;
  bool operator==(const KernelInfo&) const = default;
};

enum class Opcode : uint8_t {
  kCall = 0,           // run `kernel` over `tensors`, one for each of its operands
  kJump = 1,           // continue at instruction `target`
  kBranchIfFalse = 2,  // continue at `target` if element 0 of tensors[0], a bool, is 0
  // Copy tensors[0] to tensors[1], which is in the arena, has the same dtype and does not overlap it. If
  // the ranks are equal, this copies the actual shape, with the strides of each tensor, and sets the
  // destination's dim slots. Otherwise no size depends on the data and both have equally many elements.
  kCopy = 3,
  // End the run with an error unless each element of tensors[0], indices of i32 or i64, is in its bounds:
  // tensors[1], a constant i64[2, n], has the least index and the size of n axes, one for all elements, or
  // one for each element of the last axis. With sizes, these are the sizes of the axes instead, and a least
  // index below 0 is the negative of its size. The label says who reads the indices.
  kCheckIndices = 4,
};

// One step of the program. The program starts at instruction 0 and ends at index instructions.size(), which
// it can reach from every instruction.
struct Instruction {
  Opcode opcode = Opcode::kCall;
  uint32_t kernel = 0;            // kCall: index into Variant::kernels
  uint32_t target = 0;            // kJump, kBranchIfFalse: an instruction, or their number for the end
  std::vector<uint32_t> tensors;  // indices into Program::tensors
  std::string label;              // the nodes it computes, for profiles and errors
  // Indices into Program::numbers. kCall: the kernel's num_sizes sizes; kCheckIndices: none, or n.
  std::vector<uint32_t> sizes = {};
  bool operator==(const Instruction&) const = default;
};

// How a range of the constants is stored in the file. All compression is lossless for the bits of words or
// bytes, whatever the dtype of the constants.
enum class ConstantEncoding : uint8_t {
  kRaw = 0,  // as it is in memory
  kF16 = 1,  // each word, which is an f32, as the IEEE binary16 with the same value
  // Each word as its index in the codebook: groups of 8 indices of n bits in n bytes, the lowest bits
  // first.
  kIndices = 2,
  // The same for bytes: 8 bytes in n bytes.
  kByteIndices = 3,
  kBF16 = 4,  // each word as its upper half; the lower half is 0
};

struct ConstantRange {
  ConstantEncoding encoding = ConstantEncoding::kRaw;
  uint64_t bytes = 0;  // in memory, a multiple of kConstantPadding
  // kIndices: the values of the indices of n bits, 2^n words for an n from 1 to 8, so that every index is
  // valid. kByteIndices: likewise 2^n bytes, each as a word, for an n from 1 to 7. Otherwise empty.
  std::vector<uint32_t> codebook;
  bool operator==(const ConstantRange&) const = default;
};

// The network for one set of input shapes, or, with open sizes, for all shapes in a range. The latter has no
// sizes that depend on the data.
struct Program {
  // Text of the optimized graph without the values of large constants, with comments before it that say what
  // is known about pictures for its inputs (graph/picture_comments.h).
  std::string graph_summary;
  std::vector<TensorInfo> tensors;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  uint32_t num_dims = 0;     // slots for dynamic dimensions; all are 0 at the start of a run
  uint64_t arena_bytes = 0;  // per session; 0 with open sizes, whose blocks say it
  std::vector<Instruction> instructions;
  // Each is alone (as the code kSize) a dimension of some input, so that the shapes of the inputs decide all.
  // The program can run at the least sizes that are at least 1. Empty: no size is open, and `numbers` and
  // `blocks` are empty, too.
  std::vector<OpenSize> sizes = {};
  std::vector<SizeCode> numbers = {};  // code over the sizes
  std::vector<ArenaBlock> blocks = {};
  bool operator==(const Program&) const = default;
};

// One call of a kernel when the model is loaded. The kernel reads a constant and writes the prepacked
// weights that other kernels read instead. This way the constant takes fewer bytes in the file, or serves
// several variants.
struct Prepacking {
  uint32_t kernel = 0;           // index into Variant::kernels; its operands are (constant, prepacked)
  uint64_t constant_offset = 0;  // multiples of kTensorAlignment
  uint64_t prepacked_offset = 0;
  bool operator==(const Prepacking&) const = default;
};

// The network for one processor.
struct Variant {
  TargetInfo target;
  uint64_t scratch_bytes = 0;    // per thread: the most that any kernel has as its scratch_bytes
  uint64_t prepacked_bytes = 0;  // total size of the prepacked weights
  std::vector<KernelInfo> kernels;
  std::vector<Prepacking> prepackings;
  // At least one. No two without open sizes have the same input shapes. Of those that take given shapes, one
  // without open sizes is preferred, then the first.
  std::vector<Program> programs;
  bool operator==(const Variant&) const = default;
};

struct Manifest {
  Provenance provenance;
  // The ranges of the constants in order, without gaps; their bytes in the file have the same order. Empty:
  // the constants are stored as they are in memory, and are mapped.
  std::vector<ConstantRange> constant_ranges;
  // At least one. The first variant that a processor can run is the best for it. All programs of all
  // variants have the same inputs and outputs, by name and dtype.
  std::vector<Variant> variants;
  bool operator==(const Manifest&) const = default;
};

// The writer's input; it does not own the bytes. The constants are as in the file: compressed if the
// manifest says so.
struct ArtifactContents {
  Manifest manifest;
  std::span<const std::byte> code;
  std::span<const std::byte> constants;
};

// Size of one element in bytes for a DType's number (base/dtype.h); 0 for an unknown number.
constexpr uint32_t ElementSize(uint8_t dtype) {
  constexpr uint8_t kSizes[] = {4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return dtype < sizeof(kSizes) ? kSizes[dtype] : 0;
}

inline constexpr uint8_t kDTypeI32 = 6;
inline constexpr uint8_t kDTypeI64 = 7;
inline constexpr uint8_t kDTypeBool = 12;

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_ARTIFACT_H_
