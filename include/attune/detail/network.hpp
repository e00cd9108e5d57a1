// The functions of Network but for its steps. attune/compiler.hpp includes this at its end.
#ifndef ATTUNE_DETAIL_NETWORK_HPP_
#define ATTUNE_DETAIL_NETWORK_HPP_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/compiler.hpp"
#include "attune/detail/call.hpp"
#include "attune/detail/control.hpp"
#include "attune/detail/options.hpp"
#include "attune/detail/results.hpp"
#include "attune/detail/tensor.hpp"

namespace attune::compiler {

struct Network::State {
  detail::Owned<attune_network_free> handle;
  // Made when they are first asked for. The functions return references to them.
  mutable std::mutex mutex = {};
  mutable std::optional<CompileOptions> compiling = {};
  mutable std::optional<TuningReport> tuning = {};
};

namespace detail {

// A sentence of the library that may be empty, for a caller who may not want it.
inline void note_if(const char* text, const std::function<void(std::string_view)>& note) {
  if (note && *text != '\0') note(text);
}

}  // namespace detail

inline Network::Network(attune_network* network)
    : state_(std::make_shared<const State>(detail::Owned<attune_network_free>(network))) {}

inline const attune_network* Network::get() const { return state_->handle.get(); }

inline Network Network::zoo(const std::string& name) {
  return Network(detail::get<attune_network_free>(attune_network_zoo, name.c_str()).release());
}

inline std::vector<std::string> Network::zoo_names() {
  const auto names = detail::get<attune_texts_free>(attune_zoo_names);
  return detail::strings(names->items, names->count);
}

inline Network Network::from_artifact(std::span<const std::byte> bytes) {
  return Network(
      detail::get<attune_network_free>(attune_network_from_artifact, bytes.data(), bytes.size()).release());
}

inline void Network::save(const std::string& path) const {
  detail::call(attune_network_save, get(), path.c_str());
}

inline std::vector<std::byte> Network::artifact() const {
  const auto artifact = detail::get<attune_bytes_free>(attune_network_artifact, get());
  const auto* begin = static_cast<const std::byte*>(artifact->data);
  return {begin, begin + artifact->count};
}

inline void Network::save_onnx(const std::string& path) const {
  detail::call(attune_network_save_onnx, get(), path.c_str());
}

inline NamedTensors Network::run(const NamedTensors& inputs, int threads) const {
  const std::vector<attune_array> arrays = detail::arrays_of(inputs);
  const auto outputs =
      detail::get<attune_tensors_free>(attune_network_run, get(), arrays.data(), arrays.size(), threads);
  NamedTensors result;
  for (size_t i = 0; i < attune_tensors_count(outputs.get()); ++i)
    result.push_back(detail::named(detail::Owned<attune_tensor_free>(attune_tensors_take(outputs.get(), i))));
  return result;
}

inline std::vector<OutputCheck> Network::verify(const NamedTensors& inputs, uint64_t seed,
                                                int threads) const {
  const std::vector<attune_array> arrays = detail::arrays_of(inputs);
  const auto checks = detail::get<attune_checks_free>(attune_network_verify, get(), arrays.data(),
                                                      arrays.size(), seed, threads);
  return detail::from_c(checks->items, checks->count);
}

inline std::vector<double> Network::bench(double seconds, std::optional<int> threads,
                                          const NamedTensors& inputs, uint64_t seed,
                                          const std::function<void(std::string_view)>& note) const {
  const std::vector<attune_array> arrays = detail::arrays_of(inputs);
  const auto times = detail::get<attune_run_times_free>(attune_network_bench, get(), seconds,
                                                        threads.value_or(this->threads()), arrays.data(),
                                                        arrays.size(), seed);
  detail::note_if(times->disturbance, note);
  return {times->milliseconds, times->milliseconds + times->count};
}

inline std::vector<KernelTime> Network::profile(int rounds, std::optional<int> threads,
                                                const NamedTensors& inputs, uint64_t seed,
                                                const std::function<void(std::string_view)>& note) const {
  const std::vector<attune_array> arrays = detail::arrays_of(inputs);
  const auto times = detail::get<attune_kernel_times_free>(attune_network_profile, get(), rounds,
                                                           threads.value_or(this->threads()), arrays.data(),
                                                           arrays.size(), seed);
  detail::note_if(times->disturbance, note);
  return detail::from_c(times->items, times->count);
}

inline std::vector<InputInfo> Network::inputs() const {
  const auto inputs = detail::get<attune_ports_free>(attune_network_inputs, get());
  return detail::from_c(inputs->items, inputs->count);
}

inline std::vector<InputInfo> Network::outputs() const {
  const auto outputs = detail::get<attune_ports_free>(attune_network_outputs, get());
  return detail::from_c(outputs->items, outputs->count);
}

inline NamedTensor Network::random_input(const std::string& name, uint64_t seed) const {
  return detail::named(
      detail::get<attune_tensor_free>(attune_network_random_input, get(), name.c_str(), seed));
}

inline NamedTensor Network::picture(const std::string& path, const PictureOptions& options) const {
  const auto given = detail::to_c(options);
  detail::Following following(options);
  return detail::named(following.get<attune_tensor_free>(attune_network_picture, get(), path.c_str(),
                                                         options.input.c_str(),
                                                         static_cast<const attune_options*>(given.get())));
}

inline NetworkSizes Network::sizes() const {
  return detail::from_c(*detail::get<attune_network_size_free>(attune_network_sizes, get()));
}

inline bool Network::is_compiled() const { return attune_network_is_compiled(get()) != 0; }
inline bool Network::is_quantized() const { return attune_network_is_quantized(get()) != 0; }
inline int Network::threads() const { return attune_network_threads(get()); }

inline const CompileOptions& Network::compile_options() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->compiling)
    state_->compiling =
        detail::compile_from_c(*detail::get<attune_options_free>(attune_network_compile_options, get()));
  return *state_->compiling;
}

inline QuantizationResult Network::quantization() const {
  return detail::from_c(*detail::get<attune_quantization_free>(attune_network_quantization, get()));
}

inline const TuningReport& Network::tuning() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->tuning) {
    const attune_tuning* tuning = nullptr;
    detail::call(attune_network_tuning, get(), &tuning);
    state_->tuning = detail::from_c(*tuning);
  }
  return *state_->tuning;
}

}  // namespace attune::compiler

#endif  // ATTUNE_DETAIL_NETWORK_HPP_
