#include "import/tensorflow/ops/images.h"

#include <algorithm>

#include "base/checked.h"

namespace attune::tensorflow {
namespace {

// SAME: ceil(size / stride) results; an odd pad is at the end.
void SamePads(SlidingWindow& w, const Ints& sizes) {
  const size_t rank = w.kernel.size();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t outputs = CeilDiv(sizes[i], w.strides[i]);
    const int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t total = std::max<int64_t>(0, (outputs - 1) * w.strides[i] + extent - sizes[i]);
    w.pads[i] = total / 2;
    w.pads[i + rank] = total - total / 2;
  }
}

}  // namespace

Images::Images(OpContext& c, int spatial, int input) : c_(c), spatial_(spatial) {
  if (c.InRank(input) != spatial + 2) {
    Unsupported("its images are ", ToString(c.In(input)->type()), ", not of rank ", spatial + 2);
  }
  const std::string format = c.String("data_format", "NHWC");
  if (format == "NCHW_VECT_C" || format == "NHWC_VECT_W") Unsupported("the data format ", format);
  channels_last_ = format.substr(0, 2) != "NC";
}

Value* Images::ChannelsFirst(Value* x) const {
  if (!channels_last_) return x;
  Ints perm = {0, spatial_ + 1};
  for (int64_t i = 1; i <= spatial_; ++i) perm.push_back(i);
  return c_.Transpose(x, perm);
}

Value* Images::AsGiven(Value* x) const {
  if (!channels_last_) return x;
  Ints perm = {0};
  for (int64_t i = 2; i < spatial_ + 2; ++i) perm.push_back(i);
  perm.push_back(1);
  return c_.Transpose(x, perm);
}

Ints Images::Spatial(const Ints& per_dimension) const {
  if (static_cast<int>(per_dimension.size()) != spatial_ + 2) {
    Invalid("it has ", per_dimension.size(), " values for ", spatial_ + 2, " dimensions");
  }
  const auto begin = per_dimension.begin() + (channels_last_ ? 1 : 2);
  return Ints(begin, begin + spatial_);
}

int64_t Images::Channels(const Ints& per_dimension) const {
  Spatial(per_dimension);  // checks the length
  return channels_last_ ? per_dimension.back() : per_dimension[1];
}

Ints Images::PerDimension(std::string_view name) const {
  const Ints all = c_.IntList(name, Ints(spatial_ + 2, 1));
  const Ints spatial = Spatial(all);
  if (all[0] != 1 || Channels(all) != 1) Unsupported("its ", name, " over batch or channels");
  for (int64_t value : spatial) {
    if (value < 1 || value > INT32_MAX) Invalid("its ", name, " has the value ", value);
  }
  return spatial;
}

// The file has the start and the end of each dimension in turn.
Ints Images::ExplicitPads() const {
  const Ints all = c_.IntList("explicit_paddings", {});
  if (static_cast<int>(all.size()) != 2 * (spatial_ + 2))
    Invalid("it has ", all.size(), " explicit paddings");
  Ints begins;
  Ints ends;
  for (size_t i = 0; i < all.size(); i += 2) {
    begins.push_back(CheckedSize(all[i], "padding"));
    ends.push_back(CheckedSize(all[i + 1], "padding"));
  }
  if (begins[0] + ends[0] + Channels(begins) + Channels(ends) != 0) Unsupported("pads of batch or channels");
  Ints pads = Spatial(begins);
  const Ints spatial_ends = Spatial(ends);
  pads.insert(pads.end(), spatial_ends.begin(), spatial_ends.end());
  return pads;
}

SlidingWindow Images::Window(const Ints& kernel, const Ints& sizes) const {
  for (int64_t size : kernel) {
    if (size < 1 || size > INT32_MAX) Invalid("its window has the size ", size);
  }
  SlidingWindow w{kernel, PerDimension("strides"), PerDimension("dilations"), Ints(2 * kernel.size(), 0)};
  const std::string padding = c_.Choice("padding", {"VALID", "SAME", "EXPLICIT"});
  if (padding == "SAME") SamePads(w, sizes);
  if (padding == "EXPLICIT") w.pads = ExplicitPads();
  return w;
}

}  // namespace attune::tensorflow
