// Convolution on a matrix unit.
//
// Problem: a tile register takes 16 rows of 64 bytes of neighbouring terms, which lie evenly apart in
// memory; channels in blocks of 16 give a quarter of that, and rows of 7 or 14 pixels leave tiles half
// empty. Idea: the image is copied with its padding first, all channels of a pixel side by side. Then
// neighbouring taps of a row are neighbouring terms as well, and the pixels of several output rows are
// evenly apart: rows follow one another at the padded width, and the sums between two of them, which belong
// to no pixel, are dropped. A stride splits the image into phases, each of which has stride 1. Sums of a
// few rows of the output leave the tiles for a small buffer, from which the epilogue reads vectors. A
// weight of zero meets pixels beside the window if taps do not fill a phase, so a pixel that is infinite or
// NaN spreads further than it would.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/status.h"
#include "lower/formula.h"
#include "lower/strategies/matrix_parts.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

constexpr int64_t kBlock = kTileColumns;  // output channels of one tile

// One spatial axis: for output p, tap k reads index p + (k · dilation) / stride of phase (k · dilation) %
// stride.
struct PhasedAxis {
  WindowAxis window;
  int64_t phases, reach;  // phases that taps read, and how far beyond p they read

  explicit PhasedAxis(const WindowAxis& axis) : window(axis), phases(1), reach(0) {
    for (int64_t k = 0; k < axis.kernel; ++k) {
      phases = std::max(phases, k * axis.dilation % axis.stride + 1);
      reach = std::max(reach, k * axis.dilation / axis.stride);
    }
  }
  int64_t places() const { return window.output + reach; }
};

struct Conv {
  int64_t batch, in_channels, out_channels, terms;
  PhasedAxis rows, columns;
  // A row of taps has parts that lie apart; the terms of a part are neighbours in memory.
  int64_t parts, taps, channels;  // taps of one part; channels of a pixel, filled up

  int64_t blocks() const { return CeilDiv(out_channels, kBlock); }
  int64_t part_terms() const { return taps * channels; }
  int64_t width() const { return columns.places(); }
  int64_t image() const { return rows.places() * width() * channels; }  // elements of a phase
};

// Pixels of the output whose sums are computed together: several whole rows, or a part of one.
struct Band {
  int64_t rows, columns;

  // Counts the pixels between the rows too, which are no output.
  int64_t Pixels(const Conv& conv) const { return (rows - 1) * conv.width() + columns; }
  int64_t CountIn(const Conv& conv) const {
    return conv.batch * CeilDiv(conv.rows.window.output, rows) * CeilDiv(conv.columns.window.output, columns);
  }
};

Band BandOf(const Config& config) { return {config.at("output_rows"), config.at("output_columns")}; }

// All bands, from short ones to those whose sums L1 just holds.
std::vector<Band> BandsOf(const Conv& conv) {
  constexpr int64_t kMaxSumBytes = 32 * 1024, kMaxPixels = kMaxSumBytes / (kBlock * 4);
  const int64_t height = conv.rows.window.output, width = conv.columns.window.output;
  std::vector<Band> bands;
  for (int64_t columns = kTileRows; columns < std::min(width, kMaxPixels + 1); columns += kTileRows)
    bands.push_back({1, columns});
  for (int64_t rows = 1; rows <= height; ++rows) {
    const Band band = {rows, width};
    if (band.Pixels(conv) <= kMaxPixels || bands.empty()) bands.push_back(band);
  }
  return bands;
}

// The channels of a pixel, filled up so that the fewest instructions take a row of taps: each takes 16
// groups of terms, or as many as divide their number.
int64_t FilledChannels(int64_t channels, int64_t taps, int64_t terms) {
  const auto steps = [&](int64_t filled) {
    const int64_t groups = taps * filled / terms;
    return groups / Divisors(groups, kTileColumns).back();
  };
  const int64_t least = RoundUp(channels, terms);
  int64_t best = least;
  for (int64_t filled = least; filled < least + kTileColumns * terms; filled += terms) {
    if (steps(filled) < steps(best)) best = filled;
  }
  return best;
}

Conv ConvOf(const Node& node, int64_t terms) {
  const Shape in = node.input(0)->type().shape(), out = node.output()->type().shape();
  Conv conv = {
      in[0], in[1], out[1], terms, PhasedAxis(WindowAlong(node, 0)), PhasedAxis(WindowAlong(node, 1)),
      1,     1,     terms};
  const WindowAxis& axis = conv.columns.window;
  const bool adjacent = axis.dilation == 1;
  conv.parts = adjacent ? conv.columns.phases : axis.kernel;
  conv.taps = adjacent ? conv.columns.reach + 1 : 1;
  conv.channels = FilledChannels(conv.in_channels, conv.taps, terms);
  return conv;
}

double Cost(const Conv& conv, const Band& band, const MatrixTile& tile, const Target& target) {
  const int64_t tiles = CeilDiv(band.Pixels(conv), tile.block_rows()) * conv.blocks() / tile.tiles_n;
  const int64_t steps = conv.rows.window.kernel * conv.parts * conv.part_terms() / conv.terms / tile.groups;
  const double block =
      static_cast<double>(steps) * MatrixStepCycles(tile, target) + MatrixCopyCycles(tile, target);
  constexpr double kPassCycles = 30;  // of a band for some blocks, besides its tiles
  const int64_t passes = conv.blocks() / tile.tiles_n;
  return static_cast<double>(band.CountIn(conv)) *
         (static_cast<double>(tiles) * block + kPassCycles * static_cast<double>(passes));
}

}  // namespace

std::string ConvMatrixWhyNot(const Workload& workload, const Target& target) {
  if (std::string reason = BlockedConvWhyNot(workload, target); !reason.empty()) return reason;
  if (std::string reason = ComputedWeightsWhyNot(workload); !reason.empty()) return reason;
  const Node& conv = *workload.anchor;
  if (MatrixTerms(conv, target) == 0) return "no matrix instruction for these types";
  if (kBlock % conv.output()->type().layout.block != 0) return "blocks do not fill the columns of a tile";
  if (conv.attrs().Int("group", 1) != 1) return "grouped";
  if (conv.output()->type().num_elements() == 0 || conv.input(0)->type().num_elements() == 0)
    return "nothing to compute";
  const Shape out = conv.output()->type().shape();
  if (out[2] * out[3] < kLeastMatrixRows) return "few pixels";
  return "";
}

std::vector<Knob> ConvMatrixSpace(const Workload& workload, const Target& target) {
  const Conv conv = ConvOf(*workload.anchor, MatrixTerms(*workload.anchor, target));
  const int64_t pixels = Band{conv.rows.window.output, conv.columns.window.output}.Pixels(conv);
  std::vector<Knob> knobs = MatrixSpace(pixels, conv.blocks() * kBlock, conv.part_terms() / conv.terms);
  Knob& tiles_n = knobs[2];
  std::erase_if(tiles_n.values, [&](int64_t n) { return conv.blocks() % n != 0; });
  std::set<int64_t> rows, columns;
  for (const Band& band : BandsOf(conv)) {
    rows.insert(band.rows);
    columns.insert(band.columns);
  }
  knobs.push_back({"output_rows", {rows.begin(), rows.end()}});
  knobs.push_back({"output_columns", {columns.begin(), columns.end()}});
  knobs.push_back({"bands_first", {0, 1}});
  knobs.push_back({"prefetch", {0, 1}});
  return knobs;
}

Config ConvMatrixDefault(const Workload& workload, const Target& target) {
  const Conv conv = ConvOf(*workload.anchor, MatrixTerms(*workload.anchor, target));
  const std::vector<Knob> space = ConvMatrixSpace(workload, target);
  Config best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (const Band& band : BandsOf(conv)) {
    const auto cost = [&](const MatrixTile& tile) { return Cost(conv, band, tile, target); };
    const Config config = CheapestMatrixTile(space, band.Pixels(conv), cost);
    if (config.empty()) continue;
    const double here = cost(MatrixTileOf(config));
    if (here >= best_cost) continue;
    best_cost = here;
    best = config;
    best["output_rows"] = band.rows;
    best["output_columns"] = band.columns;
  }
  best["bands_first"] = 0;
  best["prefetch"] = 1;
  return best;
}

double ConvMatrixCost(const Workload& workload, const Config& config, const Target& target) {
  const Node& node = *workload.anchor;
  const Conv conv = ConvOf(node, MatrixTerms(node, target));
  const int64_t element = DTypeSize(node.input(0)->type().dtype);
  // Copies vectors of channels or, from a plain image, one channel at a time.
  const double copied_per_cycle = node.input(0)->type().layout.is_plain() ? 1.5 : 10;
  const double copy =
      static_cast<double>(conv.batch * conv.rows.phases * conv.columns.phases * conv.image() * element) /
      copied_per_cycle;
  const int64_t bytes = node.input(1)->type().num_elements() * element;
  return copy + WithMemoryTraffic(Cost(conv, BandOf(config), MatrixTileOf(config), target), bytes, target);
}

// conv0.pad  [batch, row phase, column phase, row · column · channel]  the image with its padding
// conv0.w    [tiles_n · 16, row of taps, part, terms / instruction, lane, term]  the weights
// conv0.acc  [batch, block, row · padded width + column, lane]  the sums
absl::StatusOr<ComputeDef> ConvMatrixDefine(const Workload& workload, const Config& config) {
  return DefineWithAnchor(workload, [&](Definition& definition, const Node& node) {
    const Value *x = node.input(0), *w = node.input(1);
    const Shape ws = w->type().shape();
    const int64_t terms = kGroupBytes / DTypeSize(x->type().dtype);
    const Conv conv = ConvOf(node, terms);
    const WindowAxis &rows = conv.rows.window, &columns = conv.columns.window;
    const Expr zero = ConstOf(x->type().dtype, 0);
    const Buffer image = definition.AddTemporary(
        node, "pad", x->type().dtype, {conv.batch, conv.rows.phases, conv.columns.phases, conv.image()},
        [&](const Indices& i) {
          const Expr pixel = FloorDiv(i[3], conv.channels), channel = FloorMod(i[3], conv.channels);
          const Expr row = FloorDiv(pixel, conv.width()) * Expr(rows.stride) + i[1] - Expr(rows.pad_begin);
          const Expr column =
              FloorMod(pixel, conv.width()) * Expr(columns.stride) + i[2] - Expr(columns.pad_begin);
          const Expr element =
              definition.Read(x, {i[0], Min(channel, Expr(conv.in_channels - 1)),
                                  Clamp(row, 0, rows.input - 1), Clamp(column, 0, columns.input - 1)});
          return Select(
              And(And(IsInside(rows, row), IsInside(columns, column)), channel < Expr(conv.in_channels)),
              element, zero);
        });
    const int64_t panel = config.at("tiles_n") * kBlock;
    const bool adjacent = columns.dilation == 1;
    const Buffer weights = definition.AddTemporary(
        node, "w", w->type().dtype,
        {CeilDiv(conv.out_channels, panel), rows.kernel, conv.parts, conv.part_terms() / terms, panel, terms},
        [&](const Indices& i) {
          const Expr term = i[3] * Expr(terms) + i[5], out = i[0] * Expr(panel) + i[4];
          const Expr channel = FloorMod(term, conv.channels);
          const Expr tap = adjacent ? FloorDiv(term, conv.channels) * Expr(columns.stride) + i[2] : i[2];
          const Expr element = definition.Read(w, {Min(out, Expr(ws[0] - 1)), Min(channel, Expr(ws[1] - 1)),
                                                   i[1], Min(tap, Expr(columns.kernel - 1))});
          return Select(And(And(out < Expr(ws[0]), channel < Expr(ws[1])), tap < Expr(columns.kernel)),
                        element, ConstOf(w->type().dtype, 0));
        });

    Reduction sum;
    sum.extents = {rows.kernel, conv.parts, conv.part_terms()};
    sum.names = {"kh", "part", "k"};
    sum.dtype = ComputeType(node.output()->type().dtype);
    sum.term = [&](const Indices& i, const Indices& r) {
      const auto phased = [](const WindowAxis& axis, const Expr& tap) {
        const Expr place = tap * Expr(axis.dilation);
        return std::pair(FloorMod(place, axis.stride), FloorDiv(place, axis.stride));
      };
      const auto [row_phase, row] = phased(rows, r[0]);
      const auto [column_phase, column] =
          adjacent ? std::pair(r[1], Expr(int64_t{0})) : phased(columns, r[1]);
      const Expr pixel = i[2] + row * Expr(conv.width()) + column;
      const Expr a = Load(image, {i[0], row_phase, column_phase, pixel * Expr(conv.channels) + r[2]});
      const Expr out = i[1] * Expr(kBlock) + i[3];
      const Expr b = Load(weights, {FloorDiv(out, panel), r[0], r[1], FloorDiv(r[2], terms),
                                    FloorMod(out, panel), FloorMod(r[2], terms)});
      return CastTo(sum.dtype, a) * CastTo(sum.dtype, b);
    };
    const Buffer sums = definition.AddTemporaryReduction(
        node, "acc", {conv.batch, conv.blocks(), Band{rows.output, columns.output}.Pixels(conv), kBlock},
        sum);
    definition.Define(node, node.output(), [&](const Indices& i) {
      const Expr pixel = i[2] * Expr(conv.width()) + i[3];
      const Expr total = Load(sums, {i[0], FloorDiv(i[1], kBlock), pixel, FloorMod(i[1], kBlock)});
      return node.input(2) == nullptr ? total : total + definition.ReadComputed(node.input(2), {i[1]});
    });
    return absl::OkStatus();
  });
}

namespace {

// How many pixels of the image are copied in one piece: a row. If there is no padding and there are few
// rows, as in a flattened feature map, a part of a row, so that threads can share the copy.
int64_t PixelsAtOnce(const Conv& conv, bool has_padding) {
  constexpr int64_t kPieces = 8;
  const int64_t rows =
      conv.batch * conv.rows.phases * conv.columns.phases * conv.image() / (conv.channels * conv.width());
  if (has_padding || rows >= kPieces) return conv.width();
  const std::vector<int64_t> parts = Divisors(conv.width(), std::max<int64_t>(conv.width() / kPieces, 1));
  return parts.back();
}

// Copies pixel by pixel, a vector of channels at a time.
absl::Status ScheduleImage(Schedule& s, const StageHandle& pad, const Conv& conv) {
  const WindowAxis& axis = conv.columns.window;
  const int64_t front = CeilDiv(axis.pad_begin, axis.stride);
  const int64_t end = (axis.input + axis.pad_begin - conv.columns.phases) / axis.stride + 1;
  const int64_t back = std::max<int64_t>(conv.width() - end, 0);
  ASSIGN_OR_RETURN(const SplitLoops elements, s.Split(s.Loop(pad, "d3"), conv.channels));
  ASSIGN_OR_RETURN(const SplitLoops pixels, s.Split(elements.outer, PixelsAtOnce(conv, front + back > 0)));
  if (conv.channels > kBlock) {
    ASSIGN_OR_RETURN(const SplitLoops channels, s.Split(elements.inner, kBlock));
    RETURN_IF_ERROR(s.Vectorize(channels.inner));
    if (conv.channels % kBlock != 0) RETURN_IF_ERROR(s.Peel(channels.outer, 0, 1));
  } else {
    RETURN_IF_ERROR(s.Vectorize(elements.inner));
  }
  RETURN_IF_ERROR(PeelPadding(s, pixels.inner, {.front = front, .back = back}));
  const bool shares = IsWorthSharing(conv.batch * conv.image());
  return shares ? ParallelizeOuter(s, pad, 4) : absl::OkStatus();
}

}  // namespace

absl::Status ConvMatrixApply(Schedule& s, const Workload& workload, const Config& config,
                             const Target& target) {
  const Conv conv = ConvOf(*workload.anchor, MatrixTerms(*workload.anchor, target));
  const MatrixTile tile = MatrixTileOf(config);
  const Band band = BandOf(config);
  RETURN_IF_ERROR(CheckMatrixTile(tile, band.Pixels(conv)));
  const StageHandle out = s.StageNamed(workload.output_stage),
                    copy = s.StageNamed(workload.accumulator_stage);
  RETURN_IF_ERROR(InlineEpilogue(s, workload));
  ASSIGN_OR_RETURN(const StageHandle sums, s.CacheWrite(copy));
  RETURN_IF_ERROR(ScheduleImage(s, StageOfAnchor(s, workload, ".pad"), conv));

  // Splits the output into blocks of channels and bands of pixels.
  const int64_t blocks_of_tile = kBlock / workload.anchor->output()->type().layout.block;
  const LoopHandle lanes = s.Loop(out, "v");
  ASSIGN_OR_RETURN(const SplitLoops blocks, s.Split(s.Loop(out, "d1"), tile.tiles_n * blocks_of_tile));
  ASSIGN_OR_RETURN(const SplitLoops rows, s.SplitOverlapping(s.Loop(out, "d2"), band.rows));
  ASSIGN_OR_RETURN(const SplitLoops columns, s.SplitOverlapping(s.Loop(out, "d3"), band.columns));
  std::vector<LoopHandle> order = {s.Loop(out, "d0"), blocks.outer,  rows.outer,   columns.outer,
                                   rows.inner,        columns.inner, blocks.inner, lanes};
  if (config.at("bands_first") != 0) std::rotate(order.begin() + 1, order.begin() + 2, order.begin() + 4);
  RETURN_IF_ERROR(s.Reorder(order));
  RETURN_IF_ERROR(s.Vectorize(lanes));
  RETURN_IF_ERROR(s.Unroll(blocks.inner));
  constexpr size_t kLoopsOfBand = 4;
  if (IsWorthSharing(workload.anchor->output()->type().num_elements() * conv.part_terms()))
    RETURN_IF_ERROR(ParallelizeOuter(s, out, order.size() - kLoopsOfBand));
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> nest, s.Loops(out));
  RETURN_IF_ERROR(s.ComputeAt(copy, nest[nest.size() - kLoopsOfBand - 1], MemorySpace::kScratch));
  const LoopHandle copied_blocks = s.Loop(copy, "d1");
  ASSIGN_OR_RETURN(const SplitLoops pixels, s.SplitOverlapping(s.Loop(copy, "d2"), tile.block_rows()));
  // The loop over tiles comes before those within one.
  RETURN_IF_ERROR(s.Reorder({pixels.outer, copied_blocks}));
  RETURN_IF_ERROR(s.ComputeAt(sums, pixels.outer, MemorySpace::kRegister));
  RETURN_IF_ERROR(ScheduleTileCopy(
      s, copy, {.rows = pixels.inner, .columns = s.Loop(copy, "d3"), .blocks = copied_blocks}, tile));
  const MatrixLoops loops = {.rows = s.Loop(sums, "d2"),
                             .columns = s.Loop(sums, "d3"),
                             .blocks = s.Loop(sums, "d1"),
                             .around = s.LoopsOver(sums, {"kh", "part"}),
                             .terms = s.Loop(sums, "k")};
  ASSIGN_OR_RETURN(const LoopHandle steps, ScheduleTileSums(s, sums, loops, conv.terms, tile));
  if (config.at("prefetch") == 0) return absl::OkStatus();
  return s.Prefetch(workload.FindStage(workload.anchor_stage + ".w").output, steps);
}

}  // namespace attune
