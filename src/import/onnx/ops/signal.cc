// Spectra and windows. A Fourier transform is a product with a matrix of cosines and sines that is known at
// import, and whose size is limited.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// The maximum number of elements in a matrix.
constexpr int64_t kMaxMatrixElements = int64_t{1} << 22;

Value* Table(OpContext& c, DType dtype, const Shape& shape,
             const std::function<double(int64_t, int64_t)>& value) {
  if (Product(shape) > kMaxMatrixElements) Unsupported("a transform matrix of ", Product(shape), " elements");
  Tensor table = c.NewTable(dtype, shape);
  const int64_t columns = shape.back();
  for (int64_t i = 0; i < table.num_elements(); ++i) table.SetDouble(i, value(i / columns, i % columns));
  return c.Constant(std::move(table));
}

// 2π (i j mod n) / n: the product is reduced first, so that large indices stay accurate.
double Angle(int64_t i, int64_t j, int64_t n) {
  return 2 * std::numbers::pi * static_cast<double>((i % n) * (j % n) % n) / static_cast<double>(n);
}

struct Complex {
  Value* real;
  Value* imaginary;  // nullptr: 0
};

// The last axis has the real part and, if it has two elements, the imaginary part.
Complex SplitComplex(OpContext& c, Value* x) {
  const int64_t parts = c.DimOf(x, -1);
  if (parts != 1 && parts != 2) Invalid("its last dimension is ", parts, ", not 1 (real) or 2 (complex)");
  const auto part = [&](int64_t i) { return c.Squeeze(c.SliceAxis(x, -1, i, 1), {-1}); };
  return {part(0), parts == 2 ? part(1) : nullptr};
}

// Crops the last axis, or pads it with zeros, to `size`.
Value* Fit(OpContext& c, Value* x, int64_t size) {
  const int64_t now = c.DimOf(x, -1);
  if (now > size) return c.SliceAxis(x, -1, 0, size);
  Ints pads(2 * x->type().rank(), 0);
  pads.back() = size - now;
  return c.Pad(x, pads);
}

// The transform of length n along the last axis of x, reduced to its first `bins` bins.
Complex Transform(OpContext& c, Complex x, int64_t n, int64_t bins, bool inverse) {
  const DType dtype = x.real->type().dtype;
  const double scale = inverse ? 1.0 / static_cast<double>(n) : 1.0;
  const double sign = inverse ? 1.0 : -1.0;
  Value* cosine =
      Table(c, dtype, {n, bins}, [&](int64_t i, int64_t k) { return scale * std::cos(Angle(i, k, n)); });
  Value* sine = Table(c, dtype, {n, bins},
                      [&](int64_t i, int64_t k) { return scale * sign * std::sin(Angle(i, k, n)); });
  const auto times = [&](Value* a, Value* matrix) {
    const bool vector = a->type().rank() == 1;
    Value* product = c.MatMul(vector ? c.Unsqueeze(a, {0}) : a, matrix);
    return vector ? c.Squeeze(product, {0}) : product;
  };
  Complex y{times(Fit(c, x.real, n), cosine), times(Fit(c, x.real, n), sine)};
  if (x.imaginary != nullptr) {
    Value* imaginary = Fit(c, x.imaginary, n);
    y.real = c.Sub(y.real, times(imaginary, sine));
    y.imaginary = c.Add(y.imaginary, times(imaginary, cosine));
  }
  return y;
}

Value* JoinComplex(OpContext& c, Complex x) {
  return c.Concat(
      {c.Unsqueeze(x.real, {x.real->type().rank()}), c.Unsqueeze(x.imaginary, {x.real->type().rank()})},
      x.real->type().rank());
}

// The second half of a one-sided spectrum: the conjugate of the first half, reversed.
Complex MirrorSpectrum(OpContext& c, Complex x, int64_t n) {
  const int64_t bins = n / 2 + 1;
  x.real = Fit(c, x.real, bins);
  x.imaginary = x.imaginary != nullptr ? Fit(c, x.imaginary, bins) : c.Mul(x.real, 0.0);
  const int64_t mirrored = n - bins;
  if (mirrored == 0) return x;
  const auto mirror = [&](Value* part) { return c.SliceAxis(part, -1, mirrored, mirrored, -1); };
  return {c.Concat({x.real, mirror(x.real)}, -1),
          c.Concat({x.imaginary, c.Emit(Op::kNeg, {mirror(x.imaginary)})}, -1)};
}

// Moves `axis` to the end, and back.
Ints AxisLast(int64_t rank, int64_t axis) {
  Ints perm = Iota(rank);
  perm.erase(perm.begin() + axis);
  perm.push_back(axis);
  return perm;
}

Ints Inverse(const Ints& perm) {
  Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = static_cast<int64_t>(i);
  return inverse;
}

// value(n, N) for n = 0 … size - 1, where N is the period.
Outputs Window(OpContext& c, const std::function<double(double, double)>& value) {
  const double size = c.KnownScalar(c.In(0), "size").ToDouble();
  if (!(size >= 0 && size <= kMaxMatrixElements)) Invalid("its size is ", size);
  const double period = c.Bool("periodic", true) ? size : size - 1;
  const DType dtype = c.Has("output_datatype") ? c.TypeAttribute("output_datatype") : DType::kF32;
  return {Table(c, dtype, {static_cast<int64_t>(size)},
                [&](int64_t, int64_t n) { return value(static_cast<double>(n), period); })};
}

// 2595 log10(1 + hertz / 700) and its inverse.
Value* HertzToMel(OpContext& c, Value* hertz) {
  return c.Mul(c.Emit(Op::kLog, {c.Add(c.Div(hertz, 700), 1)}), 2595 / std::numbers::ln10);
}
Value* MelToHertz(OpContext& c, Value* mel) {
  Value* power = c.Emit(Op::kPow, {c.ScalarLike(mel, 10), c.Div(mel, 2595)});
  return c.Mul(c.Add(power, -1), 700);
}

// The bins [count + 2] where triangles begin, peak and end: equidistant on the mel scale.
Value* TriangleEdges(OpContext& c, int64_t count, int64_t length) {
  const auto real = [&c](int input) { return c.Cast(c.Reshape(c.In(input), {}), DType::kF64); };
  Value* low = HertzToMel(c, real(3));
  Value* high = HertzToMel(c, real(4));
  Value* step =
      c.Div(c.Mul(c.Count(DType::kF64, count + 2), c.Sub(high, low)), static_cast<double>(count + 2));
  Value* hertz = MelToHertz(c, c.Add(low, step));
  return c.Emit(Op::kFloor, {c.Div(c.Mul(hertz, static_cast<double>(length + 1)), real(2))});
}

}  // namespace

Outputs Dft(OpContext& c) {
  const int64_t rank = c.InRank(0);
  int64_t axis = c.Int("axis", 1);
  if (c.opset() >= 20) axis = c.HasInput(2) ? c.KnownInt(c.In(2), "axis") : -2;
  axis = Emitter::Axis(axis, rank);
  if (axis == rank - 1) Invalid("its axis is the one of real and imaginary parts");
  const bool inverse = c.Bool("inverse");
  const bool onesided = c.Bool("onesided");
  const int64_t size = c.InShape(0)[axis];
  int64_t n = inverse && onesided ? 2 * (size - 1) : size;
  if (c.HasInput(1)) n = c.KnownInt(c.In(1), "length");
  CheckedSize(n, "length", 1);
  const Ints perm = AxisLast(rank - 1, axis);
  Complex x = SplitComplex(c, c.In(0));
  x.real = c.Transpose(x.real, perm);
  if (x.imaginary != nullptr) x.imaginary = c.Transpose(x.imaginary, perm);
  if (inverse && onesided) x = MirrorSpectrum(c, x, n);
  Complex y = Transform(c, x, n, onesided && !inverse ? n / 2 + 1 : n, inverse);
  y.real = c.Transpose(y.real, Inverse(perm));
  if (inverse && onesided) return {c.Unsqueeze(y.real, {rank - 1})};
  y.imaginary = c.Transpose(y.imaginary, Inverse(perm));
  return {JoinComplex(c, y)};
}

// (signal [B, L, 1 or 2], step, window?, frame length?): [B, frames, bins, 2]
Outputs Stft(OpContext& c) {
  const Shape shape = c.InShape(0);
  if (shape.size() != 3) Invalid("its signal has rank ", shape.size(), ", not 3");
  const int64_t step = c.KnownInt(c.In(1), "frame step");
  int64_t length = c.HasInput(2) ? c.DimOf(c.In(2), 0) : shape[1];
  if (c.HasInput(3)) length = c.KnownInt(c.In(3), "frame length");
  if (step < 1 || step > shape[1] || length < 1 || length > shape[1])
    Invalid("frames of ", length, " by ", step, " do not fit ", shape[1], " samples");
  const int64_t frames = 1 + (shape[1] - length) / step;
  Value* start = c.Mul(c.Count(DType::kI64, frames), step);
  Value* index = c.Add(c.Reshape(start, {frames, 1}), c.Count(DType::kI64, length));
  const auto frame = [&](Value* part) {
    part = c.Gather(part, index, 1);
    return c.HasInput(2) ? c.Mul(part, c.In(2)) : part;
  };
  const Complex signal = SplitComplex(c, c.In(0));
  const int64_t bins = c.Bool("onesided", true) ? length / 2 + 1 : length;
  Value* imaginary = signal.imaginary == nullptr ? nullptr : frame(signal.imaginary);
  return {JoinComplex(c, Transform(c, {frame(signal.real), imaginary}, length, bins, false))};
}

Outputs HannWindow(OpContext& c) {
  return Window(c,
                [](double n, double period) { return std::pow(std::sin(std::numbers::pi * n / period), 2); });
}

Outputs HammingWindow(OpContext& c) {
  constexpr double kAlpha = 25.0 / 46.0;
  return Window(c, [](double n, double period) {
    return kAlpha - (1 - kAlpha) * std::cos(2 * std::numbers::pi * n / period);
  });
}

Outputs BlackmanWindow(OpContext& c) {
  return Window(c, [](double n, double period) {
    const double angle = 2 * std::numbers::pi * n / period;
    return 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
  });
}

// Triangles over the spectrogram's bins, evenly spaced in mel: [bins, mels]. Each column has one triangle
// of height 1; a triangle without a rising side begins with its peak.
Outputs MelWeightMatrix(OpContext& c) {
  const int64_t mels = c.KnownInt(c.In(0), "number of mel bins");
  const int64_t length = c.KnownInt(c.In(1), "DFT length");
  if (mels < 1 || length < 1) Invalid("its sizes must be positive");
  if (mels > kMaxMatrixElements || length > kMaxMatrixElements)
    Unsupported("a table of ", mels, " by ", length);
  const int64_t bins = length / 2 + 1;
  Value* edges = TriangleEdges(c, mels, length);
  Value* left = c.SliceAxis(edges, 0, 0, mels);
  Value* center = c.SliceAxis(edges, 0, 1, mels);
  Value* right = c.SliceAxis(edges, 0, 2, mels);
  Value* bin = c.Reshape(c.Count(DType::kF64, bins), {bins, 1});

  const auto both = [&c](Value* a, Value* b) { return c.Emit(Op::kAnd, {a, b}); };
  Value* rises = both(c.Emit(Op::kLessEqual, {left, bin}), c.Emit(Op::kLess, {bin, center}));
  Value* falls = both(c.Emit(Op::kLessEqual, {center, bin}), c.Emit(Op::kLess, {bin, right}));
  Value* top = c.Emit(Op::kEqual, {bin, center});
  Value* rising = c.Div(c.Sub(bin, left), c.Sub(center, left));
  Value* falling = c.Div(c.Sub(right, bin), c.Sub(right, center));
  Value* otherwise = c.Cast(top, DType::kF64);
  Value* weights = c.Where(falls, falling, c.Where(rises, rising, otherwise));
  return {c.Cast(weights, c.Has("output_datatype") ? c.TypeAttribute("output_datatype") : DType::kF32)};
}

}  // namespace attune::onnx
