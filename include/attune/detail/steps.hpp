// Loading, and the steps of Network. attune/compiler.hpp includes this at its end.
#ifndef ATTUNE_DETAIL_STEPS_HPP_
#define ATTUNE_DETAIL_STEPS_HPP_

#include <span>
#include <string>
#include <vector>

#include "attune/compiler.hpp"
#include "attune/detail/call.hpp"
#include "attune/detail/control.hpp"
#include "attune/detail/options.hpp"
#include "attune/detail/tensor.hpp"

namespace attune::compiler {
namespace detail {

// The options with what is no option of the table.
inline Owned<attune_options_free> with_examples(const OptimizeOptions& options) {
  Owned<attune_options_free> result = to_c(options);
  const std::vector<attune_array> examples = arrays_of(options.examples);
  call(attune_options_set_arrays, result.get(), "examples", examples.data(), examples.size());
  return result;
}

template <typename Options>
void check(const Options& options) {
  call(attune_options_check, to_c(options).get());
}

// Runs a step, whose options are followed by `control`.
template <typename Followed, typename Function, typename... Arguments>
Network step(const Followed& control, const Owned<attune_options_free>& options, Function function,
             Arguments... arguments) {
  Following following(control);
  const attune_options* given = options.get();
  return Network(following.get<attune_network_free>(function, arguments..., given).release());
}

}  // namespace detail

inline void check(const OptimizeOptions& options) { detail::check(options); }
inline void check(const CompileOptions& options) { detail::check(options); }
inline void check(const TuneOptions& options) { detail::check(options); }
inline void check(const QuantizeOptions& options) { detail::check(options); }
inline void check(const PictureOptions& options) { detail::check(options); }

inline Network Network::load(const std::string& path, const LoadOptions& options) {
  std::vector<attune_named_shape> shapes;
  for (const auto& [name, shape] : options.shapes)
    shapes.push_back({name.c_str(), shape.data(), shape.size()});
  const std::vector<attune_array> values = detail::arrays_of(options.values);
  const std::vector<const char*> keys = detail::pointers(options.trusted_keys);
  const attune_open_options given = {.struct_bytes = sizeof(given),
                                     .shapes = shapes.data(),
                                     .num_shapes = shapes.size(),
                                     .values = values.data(),
                                     .num_values = values.size(),
                                     .signature = options.signature.c_str(),
                                     .sha256 = options.sha256.c_str(),
                                     .trusted_keys = keys.data(),
                                     .num_trusted_keys = keys.size(),
                                     .device = options.device.get(),
                                     .leaves_open = options.leaves_open};
  detail::Following following(options.control);
  return Network(following.get<attune_network_free>(attune_network_load, path.c_str(), &given).release());
}

inline Network Network::on(const Device& device) const {
  return Network(detail::get<attune_network_free>(attune_network_on, get(), device.get()).release());
}

inline Network Network::optimize(const OptimizeOptions& options) const {
  return detail::step(options.control, detail::with_examples(options), attune_network_optimize, get());
}

inline Network Network::quantize(std::span<const NamedTensors> samples,
                                 const QuantizeOptions& options) const {
  std::vector<std::vector<attune_array>> arrays;
  for (const NamedTensors& sample : samples) arrays.push_back(detail::arrays_of(sample));
  std::vector<attune_sample> given;
  for (const std::vector<attune_array>& sample : arrays) given.push_back({sample.data(), sample.size()});
  return detail::step(options.control, detail::to_c(options), attune_network_quantize, get(), given.data(),
                      given.size());
}

inline Network Network::tune(const TuneOptions& options) const {
  return detail::step(options, detail::to_c(options), attune_network_tune, get());
}

inline Network Network::compile(const CompileOptions& options) const {
  return detail::step(options.control, detail::to_c(options), attune_network_compile, get());
}

inline Network Network::with_shapes_of(const Network& other) const {
  return Network(
      detail::get<attune_network_free>(attune_network_with_shapes_of, get(), other.get()).release());
}

}  // namespace attune::compiler

#endif  // ATTUNE_DETAIL_STEPS_HPP_
