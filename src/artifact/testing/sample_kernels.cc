// The kernels are in their own section, whose bytes become the artifact's code. They are compiled without
// optimization and instrumentation, and use no floating-point constants, so that they do not refer to any
// bytes outside the section.
#include "artifact/testing/sample_kernels.h"

#define KERNEL                                                                                \
  __attribute__((section("sample_kernels"), noinline, optnone, used, no_builtin, aligned(16), \
                 disable_sanitizer_instrumentation, no_sanitize("function"))) int32_t

namespace attune::testing {
namespace {

constexpr int kSize = kRows * kColumns;

KERNEL Add(void* const* buffers, int64_t*, void*, int32_t part, int32_t parts) {
  const float* a = static_cast<const float*>(buffers[0]);
  const float* b = static_cast<const float*>(buffers[1]);
  float* out = static_cast<float*>(buffers[2]);
  const int begin = kRows * part / parts * kColumns;
  const int end = kRows * (part + 1) / parts * kColumns;
  for (int i = begin; i < end; ++i) out[i] = a[i] + b[i];
  return 0;
}

KERNEL KeepRows(void* const* buffers, int64_t* dims, void*, int32_t, int32_t) {
  const float* in = static_cast<const float*>(buffers[0]);
  float* out = static_cast<float*>(buffers[1]);
  int64_t kept = 0;
  for (int row = 0; row < kRows; ++row) {
    if (!(in[row * kColumns] > static_cast<float>(kept - kept))) continue;
    for (int column = 0; column < kColumns; ++column)
      out[kept * kColumns + column] = in[row * kColumns + column];
    ++kept;
  }
  dims[0] = kept;
  return 0;
}

KERNEL KeepColumns(void* const* buffers, int64_t* dims, void*, int32_t, int32_t) {
  const float* in = static_cast<const float*>(buffers[0]);
  float* out = static_cast<float*>(buffers[1]);
  int64_t kept = 0;
  for (int column = 0; column < kColumns; ++column) {
    if (!(in[column] > static_cast<float>(kept - kept))) continue;
    for (int row = 0; row < kRows; ++row) out[row * kColumns + kept] = in[row * kColumns + column];
    ++kept;
  }
  dims[1] = kept;
  return 0;
}

KERNEL Start(void* const* buffers, int64_t*, void*, int32_t, int32_t) {
  *static_cast<int64_t*>(buffers[0]) = 0;
  return 0;
}

KERNEL Step(void* const* buffers, int64_t*, void*, int32_t, int32_t) {
  int64_t* counter = static_cast<int64_t*>(buffers[0]);
  *counter += 1;
  *static_cast<uint8_t*>(buffers[1]) = *counter >= 5;
  return 0;
}

KERNEL Fail(void* const*, int64_t*, void*, int32_t, int32_t) { return 7; }

KERNEL FillScratch(void* const* buffers, int64_t*, void* scratch, int32_t part, int32_t parts) {
  if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) return 8;
  const float* in = static_cast<const float*>(buffers[0]);
  float* out = static_cast<float*>(buffers[1]);
  float* row = static_cast<float*>(scratch);
  for (int i = kSize * part / parts / kColumns; i < kSize * (part + 1) / parts / kColumns; ++i) {
    for (int column = 0; column < kColumns; ++column) row[column] = in[i * kColumns + column];
    for (int column = 0; column < kColumns; ++column) out[i * kColumns + column] = row[column];
  }
  return 0;
}

KERNEL AddOpen(void* const* buffers, int64_t* sizes, void*, int32_t part, int32_t parts) {
  const float* a = static_cast<const float*>(buffers[0]);
  const float* b = static_cast<const float*>(buffers[1]);
  float* out = static_cast<float*>(buffers[2]);
  const int64_t begin = sizes[0] * part / parts * 4;
  const int64_t end = sizes[0] * (part + 1) / parts * 4;
  for (int64_t i = begin; i < end; ++i) out[i] = a[i] + b[i];
  return 0;
}

KERNEL MultiplyOpen(void* const* buffers, int64_t* sizes, void* scratch, int32_t part, int32_t parts) {
  const float* v = static_cast<const float*>(buffers[0]);
  const float* m = static_cast<const float*>(buffers[1]);
  float* out = static_cast<float*>(buffers[2]);
  float* sums = static_cast<float*>(scratch);
  const int64_t rows = sizes[0], columns = sizes[1];
  for (int64_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      sums[j] = static_cast<float>(j - j);
      for (int64_t k = 0; k < columns; ++k) sums[j] += v[i * columns + k] * m[k * columns + j];
    }
    for (int64_t j = 0; j < columns; ++j) out[i * columns + j] = sums[j];
  }
  return 0;
}

}  // namespace

std::span<const KernelFunction> SampleKernels() {
  static constexpr KernelFunction kKernels[kNumSampleKernels] = {
      Add, KeepRows, KeepColumns, Start, Step, Fail, FillScratch, AddOpen, MultiplyOpen};
  return kKernels;
}

extern "C" const std::byte __start_sample_kernels[];
extern "C" const std::byte __stop_sample_kernels[];

std::span<const std::byte> SampleCode() { return {__start_sample_kernels, __stop_sample_kernels}; }

}  // namespace attune::testing
