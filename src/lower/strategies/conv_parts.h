// The parts of the direct and the sliding-window strategy, for strategies that compose them. A workload is
// one operator of a depth-first fusion, or of a group with no other: its anchor with the elementwise stages
// that follow it.
#ifndef ATTUNE_LOWER_STRATEGIES_CONV_PARTS_H_
#define ATTUNE_LOWER_STRATEGIES_CONV_PARTS_H_

#include <cstdint>

#include "lower/strategies/strategies.h"

namespace attune {

// Dense convolutions. A config has the knobs of DirectSpace.
//
// The knobs. `uneven`: tiles of any number of blocks, see TiledConv.
std::vector<Knob> DirectSpace(const Workload&, bool uneven, const Target&);
// The analytic default where `blocks` blocks of channels are computed together.
Config DirectDefault(const Workload&, int64_t blocks, const Target&);
// Packs the weights in the order in which tiles read them. Returns the stage that copies them.
absl::StatusOr<StageHandle> PackDirect(Schedule&, const Workload&, const Config&, const Target&);
// How the taps of a row are unrolled, and the tiles of a row that are to be peeled.
TapUnrolling DirectTaps(const Workload&, const Config&);
// Schedules the accumulator, which must be computed at the loop over tiles. `weights`: see PackDirect.
absl::Status AccumulateDirect(Schedule&, const Workload&, const Config&, const StageHandle& weights,
                              const Target&);

// Depthwise convolutions and pools: each channel of the result depends on one of the input.
bool IsChannelwise(const Node&);
absl::Status PackDepthwise(Schedule&, const Workload&);
// Splits the output's rows, loop d3, into tiles of `tile_w` pixels with their accumulators in registers.
absl::Status SlideAlongRows(Schedule&, const Workload&, int64_t tile_w);
// The mean over the pixels of each channel of the workload's result if that is its second output; else
// null. average.cc
const Node* AverageOf(const Workload&);
// If there is such a mean: adds up each row of the result at the end of loop `rows` of the output stage,
// each iteration of which must compute one row of one block of channels; then adds up the sums of the rows.
absl::Status AverageRows(Schedule&, const Workload&, const LoopHandle& rows);
// The predicted cycles of one row of taps over an output row of one block, and the cheapest tile_w.
double SlideCost(const Workload&, int64_t tile_w, const Target&);
int64_t CheapestSlide(const Workload&, const Target&);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_CONV_PARTS_H_
