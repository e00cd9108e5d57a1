// The facts about a processor that its name tells: instructions, registers, caches and cost constants.
// Compilation measures none of them: the bytes that the compiler makes depend on its inputs alone.
#ifndef ATTUNE_TARGET_TARGET_H_
#define ATTUNE_TARGET_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

struct Target {
  std::string name;  // as --cpu takes it: "znver4", "skylake-avx512", "x86-64-v3", …
  std::string arch = "x86_64";

  // For LLVM: the general processor whose instructions may be used, the instruction sets beyond it
  // ("+avx512vnni,…"), and the processor whose costs guide instruction selection and scheduling.
  std::string llvm_cpu;
  std::string llvm_features;
  std::string llvm_tune;

  // Instruction sets that the code needs, as kTargetFeatures spells them; the runtime refuses an artifact
  // where one is missing.
  std::vector<std::string> required_features;

  // Instruction sets that strategies may use and that generated code calls a software model of instead; for
  // tests. Spelled likewise, and none of them is required.
  std::vector<std::string> modelled_features;

  int vector_bits = 256;
  int num_vector_registers = 16;

  // Data caches in bytes: L1 and L2 of one core, and L3, which `cores` share.
  int64_t l1_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;
  int cores = 1;

  // Cost constants for the strategies' cost models; cycles are core cycles.
  double clock_ghz = 3.0;
  double fma_per_cycle = 2;       // full-width vector FMAs that start in a cycle
  double half_fma_per_cycle = 2;  // the same for vectors of half the width
  // Full-width dot products of pairs of bf16 that start in a cycle: as many as FMAs on AMD's processors, a
  // quarter on Intel's (measured on a Sapphire Rapids: 0.65 ns beside 0.157).
  double bf16_dots_per_cycle = 2;
  int fma_latency = 4;              // cycles until a dependent FMA can start
  double loads_per_cycle = 2;       // full-width vector loads from L1
  double l2_bytes_per_cycle = 32;   // sustained, one core
  double l3_bytes_per_cycle = 16;   // sustained, one core
  double dram_bytes_per_cycle = 5;  // sustained, one core
  // Whether permutes of two vectors, scalings by powers of two and estimates of reciprocals, of vectors of
  // 512 bits, start every cycle or two.
  bool fast_permutes = false;
  // For processors with AMX: cycles between two products of tiles that each add 64 bytes of 16 rows and 16
  // columns to 16 x 16 sums (tdpbusd, tdpbf16ps). Fewer rows are no faster. Throughput as uops.info and the
  // Intel 64 and IA-32 Optimization Reference Manual (Intel AMX) give it; on a Sapphire Rapids at 2.94 GHz
  // a product took 5.45 ns, and with its share of operands for 2 x 2 tiles of sums 6.8 ns from L1, 9.3 ns
  // from L2.
  double tile_product_cycles = 16;
  double tile_load_cycles = 8;      // a tile of 16 rows of 64 bytes from L1; same sources
  double broadcasts_per_cycle = 2;  // loads of one element into all lanes that start in a cycle: uops.info
  // Cycles to widen a vector of 16-bit floats to f32: a load that extends them, a shift. uops.info.
  double widen_cycles = 1;
  int64_t cache_line_bytes = 64;
  // The bytes in one way of L1: addresses a multiple of it apart share a set. 32 KiB in 8 ways, or 48 in
  // 12.
  int64_t l1_way_bytes = 4096;

  // How caches serve kernels, where no data sheet says so: fitted to times of kernels of the zoo's networks,
  // on an AMD EPYC of Zen 4 with 1 MiB of L2, or (Xeon) on one with AMX and 2 MiB.
  //
  // The share of L2 that keeps its content while a kernel makes other data. With all of L2 MobileNet v2
  // took 3 % more time, with a half SSD MobileNet v2 2 % more.
  double l2_share_kept = 0.75;
  // Arithmetic and loading its operands overlap, except for a share of the shorter of the two times: for
  // operands that a whole kernel reads from memory once; for operands of register tiles from L2 and L3
  // (Xeon); for tiles for a matrix unit from L1 (Xeon).
  double exposed_memory = 0.4;
  double exposed_caches = 0.3;
  double exposed_tile_loads = 0.5;
  // The share of the time for a feature map's way to L3 and back, between two kernels, that the arithmetic
  // of the two does not hide.
  double exposed_hand_over = 0.12;
  // How many times as long a phase takes if its data leaves L2 before the next phase reads it: to L3, and
  // beyond where the data takes much of L3 too.
  double spilled_to_l3 = 1.2;
  double spilled_beyond_l3 = 2.5;
  // How many times as long a read from L3 takes if another core has just written the bytes.
  double other_core_slowdown = 5;

  // Whether strategies may use the instruction set: it is required, or modelled.
  bool Has(std::string_view feature) const;
  bool IsModelled(std::string_view feature) const;
  // Elements of `bytes` bytes each in one vector register.
  int Lanes(int bytes) const { return vector_bits / 8 / bytes; }

  bool operator==(const Target&) const = default;
};

// The target of that name, with the name's typical caches and one core. The error lists the names.
absl::StatusOr<Target> TargetByName(std::string_view name);
std::vector<std::string> TargetNames();

// The same with AMX's instruction sets, or VNNI-INT8's, those that it lacks as modelled ones. For tests: so
// every kernel that works with them runs, and is checked, on any machine.
Target WithModelledTiles(Target base);
Target WithModelledProducts(Target base);

// The instruction set without which the target does not multiply pairs of bf16 by instructions of its own, as
// dot products of vectors or in a matrix unit (products.h); empty where it has one.
std::string_view MissingForDotsOfBF16(const Target& target);
std::string_view MissingForMatricesOfBF16(const Target& target);
// "VNNI" if the target has no instruction for dot products of four 8-bit integers, without which integers
// gain little over f32 or nothing; empty where it has one.
std::string_view MissingForDotsOfInt8(const Target& target);

}  // namespace attune

#endif  // ATTUNE_TARGET_TARGET_H_
