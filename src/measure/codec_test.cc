#include "measure/codec.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/random.h"
#include "measure/kernels_for_test.h"

namespace attune {
namespace {

MeasureItem SampleItem() {
  MeasureItem item;
  item.kind = MeasureItem::Kind::kTimeKernel;
  item.options.cache = CacheMode::kCold;
  item.options.threads = 3;
  item.options.until_significant = true;
  item.options.cold_bytes = 12345;
  item.subject = std::string(64, '1');
  item.data = std::string(64, '2');
  item.baseline = std::string(64, '3');
  item.baseline_seconds = 0.25;
  item.processors = {1, 5};
  return item;
}

Measurement SampleMeasurement() {
  Measurement m;
  m.outcome = TrialOutcome::kOk;
  m.timing = {1e-3, 0.9e-3, 1.1e-3, 50};
  m.seconds = 0.5;
  m.abandoned = true;
  m.waited_share = 0.25;
  m.baseline_seconds = 2e-3;
  m.ratio = 0.5;
  m.ratio_low = 0.4;
  m.ratio_high = 0.6;
  m.is_significant = true;
  m.normalized_seconds = 1.5e-3;
  m.profile[std::string(64, 'a')] = {1, 2};
  m.baseline_profile[std::string(64, 'b')] = {3};
  m.peaks.gflops_per_core = 100;
  m.peaks.l2_bytes = 1 << 20;
  return m;
}

TEST(MeasureCodec, EverythingComesBackAsItWas) {
  const std::string kernel = EncodeKernel(SampleKernel());
  const auto decoded_kernel = DecodeKernel(kernel);
  ASSERT_TRUE(decoded_kernel.ok()) << decoded_kernel.status();
  EXPECT_EQ(EncodeKernel(*decoded_kernel), kernel);

  const std::string request = EncodeWorkerRequest(SampleItem());
  const auto decoded_request = DecodeWorkerRequest(request);
  ASSERT_TRUE(decoded_request.ok()) << decoded_request.status();
  EXPECT_EQ(EncodeWorkerRequest(*decoded_request), request);
  EXPECT_EQ(std::get<MeasureItem>(*decoded_request).processors, (std::vector<int>{1, 5}));
  for (const WorkerRequest& blob :
       {WorkerRequest(NewBlob{std::string(64, 'c')}), WorkerRequest(ForgetBlob{std::string(64, 'd')})}) {
    const auto decoded_blob = DecodeWorkerRequest(EncodeWorkerRequest(blob));
    ASSERT_TRUE(decoded_blob.ok()) << decoded_blob.status();
    EXPECT_EQ(decoded_blob->index(), blob.index());
  }

  const std::string measurement = EncodeMeasurement(SampleMeasurement());
  const auto decoded_measurement = DecodeMeasurement(measurement);
  ASSERT_TRUE(decoded_measurement.ok()) << decoded_measurement.status();
  EXPECT_EQ(EncodeMeasurement(*decoded_measurement), measurement);
}

TEST(MeasureCodec, NumbersThatCannotBeAreErrors) {
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Measurement m = SampleMeasurement();
    m.timing.seconds = bad;
    EXPECT_TRUE(absl::IsDataLoss(DecodeMeasurement(EncodeMeasurement(m)).status())) << bad;
    MeasureItem item = SampleItem();
    item.options.seconds_limit = bad;
    EXPECT_TRUE(absl::IsDataLoss(DecodeWorkerRequest(EncodeWorkerRequest(item)).status())) << bad;
  }
  BuiltKernel kernel = SampleKernel();
  kernel.code.phases[1].offset = 100;
  EXPECT_FALSE(DecodeKernel(EncodeKernel(kernel)).ok());
  kernel = SampleKernel();
  kernel.code.params[1].index = 1;  // there is only one prepacking
  EXPECT_FALSE(DecodeKernel(EncodeKernel(kernel)).ok());
  kernel = SampleKernel();
  kernel.code.phases.clear();
  EXPECT_FALSE(DecodeKernel(EncodeKernel(kernel)).ok());
}

TEST(MeasureCodec, DamagedMessagesAreErrorsOrOtherMessages) {
  Random random(1);
  for (const std::string& good : {EncodeKernel(SampleKernel()), EncodeWorkerRequest(SampleItem()),
                                  EncodeMeasurement(SampleMeasurement())}) {
    for (int i = 0; i < 10000; ++i) {
      std::string bad = good.substr(0, static_cast<size_t>(random.Integer(1, std::ssize(good))));
      bad[static_cast<size_t>(random.Integer(0, std::ssize(bad) - 1))] = static_cast<char>(random.Next());
      const auto kernel = DecodeKernel(bad);
      if (kernel.ok()) {
        for (const KernelCode::Phase& phase : kernel->code.phases)
          EXPECT_LT(phase.offset, std::ssize(kernel->code.bytes));
      }
      DecodeWorkerRequest(bad).status().IgnoreError();
      DecodeMeasurement(bad).status().IgnoreError();
    }
  }
}

}  // namespace
}  // namespace attune
