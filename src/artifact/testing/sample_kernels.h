#ifndef ATTUNE_ARTIFACT_TESTING_SAMPLE_KERNELS_H_
#define ATTUNE_ARTIFACT_TESTING_SAMPLE_KERNELS_H_

#include <span>

#include "artifact/testing/sample_artifact.h"

namespace attune::testing {

// The function of each SampleKernel, and the bytes that contain all of them.
std::span<const KernelFunction> SampleKernels();
std::span<const std::byte> SampleCode();

}  // namespace attune::testing

#endif  // ATTUNE_ARTIFACT_TESTING_SAMPLE_KERNELS_H_
