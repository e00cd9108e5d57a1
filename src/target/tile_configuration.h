// The shapes of AMX's tile registers, as LDTILECFG reads them from memory (Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 2).
#ifndef ATTUNE_TARGET_TILE_CONFIGURATION_H_
#define ATTUNE_TARGET_TILE_CONFIGURATION_H_

#include <cstdint>

namespace attune {

// A register that has no rows is not used.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfiguration) == 64);

}  // namespace attune

#endif  // ATTUNE_TARGET_TILE_CONFIGURATION_H_
