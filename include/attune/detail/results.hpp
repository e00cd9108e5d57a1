// Results of the C interface as those of C++. For the headers of this folder alone.
#ifndef ATTUNE_DETAIL_RESULTS_HPP_
#define ATTUNE_DETAIL_RESULTS_HPP_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "attune/compiler.hpp"
#include "attune/detail/call.hpp"

namespace attune::compiler::detail {

inline InputInfo from_c(const attune_port& port) {
  return {.name = port.name,
          .dtype = port.dtype,
          .shape = Shape(port.shape, port.shape + port.rank),
          .text = port.text,
          .dims = strings(port.dims, port.rank),
          .has_shape = port.has_shape != 0};
}

inline OutputCheck from_c(const attune_check& check) {
  return {.name = check.name,
          .criterion = check.criterion,
          .max_absolute_error = check.max_absolute_error,
          .max_relative_error = check.max_relative_error,
          .elements = check.elements,
          .mismatches = check.mismatches,
          .ok = check.ok != 0};
}

inline KernelTime from_c(const attune_kernel_time& time) {
  return {.op = time.op,
          .labels = strings(time.labels, time.num_labels),
          .strategy = time.strategy,
          .calls = time.calls,
          .seconds = time.seconds,
          .share = time.share,
          .gflops_per_second = time.gflops_per_second,
          .gb_per_second = time.gb_per_second,
          .peak_share = time.peak_share,
          .roofline_share = time.roofline_share};
}

inline TaskReport from_c(const attune_task& task) {
  return {.description = task.description,
          .uses = task.uses,
          .trials = task.trials,
          .failed_trials = task.failed_trials,
          .transferred_trials = task.transferred_trials,
          .baseline_seconds = task.baseline_seconds,
          .best_seconds = task.best_seconds,
          .best_config = task.best_config};
}

inline TuningPoint from_c(const attune_tuning_point& point) {
  return {.elapsed_seconds = point.elapsed_seconds,
          .trials = point.trials,
          .network_seconds = point.network_seconds};
}

template <typename Item>
auto from_c(const Item* const* items, size_t count) {
  std::vector<decltype(from_c(**items))> result;
  for (const Item* item : std::span(items, count)) result.push_back(from_c(*item));
  return result;
}

inline TuningReport from_c(const attune_tuning& tuning) {
  TuningReport report = {.run = tuning.run,
                         .trials = tuning.trials,
                         .elapsed_seconds = tuning.elapsed_seconds,
                         .baseline_seconds = tuning.baseline_seconds,
                         .tuned_seconds = tuning.tuned_seconds,
                         .was_stopped = tuning.was_stopped != 0,
                         .records = tuning.records,
                         .fingerprint = tuning.fingerprint,
                         .threads = tuning.threads,
                         .tasks = from_c(tuning.tasks, tuning.num_tasks),
                         .curve = from_c(tuning.curve, tuning.num_points)};
  for (const attune_stage_time* time : std::span(tuning.stages, tuning.num_stages))
    report.stage_seconds[time->stage] = time->seconds;
  return report;
}

inline QuantizationResult from_c(const attune_quantization& result) {
  return {.agreement = result.agreement,
          .baseline_seconds = result.baseline_seconds,
          .quantized_seconds = result.quantized_seconds,
          .is_slower = result.is_slower != 0,
          .verdict = result.verdict};
}

inline NetworkSizes from_c(const attune_network_size& sizes) {
  return {.file_bytes = sizes.file_bytes,
          .code_bytes = sizes.code_bytes,
          .weight_bytes = sizes.weight_bytes,
          .stored_weight_bytes = sizes.stored_weight_bytes,
          .arena_bytes = sizes.arena_bytes,
          .scratch_bytes = sizes.scratch_bytes,
          .cpus = strings(sizes.cpus, sizes.num_cpus)};
}

inline std::map<std::string, std::string> from_c(const attune_entry* entries, size_t count) {
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : std::span(entries, count)) result[key] = value;
  return result;
}

inline ModelDeclaration from_c(const attune_declaration& declared) {
  return {.inputs = from_c(declared.inputs, declared.num_inputs),
          .is_compiled = declared.is_compiled != 0,
          .unsupported = declared.unsupported,
          .files = strings(declared.files, declared.num_files),
          .outputs = from_c(declared.outputs, declared.num_outputs),
          .about = from_c(declared.about, declared.num_about),
          .metadata = from_c(declared.metadata, declared.num_metadata)};
}

}  // namespace attune::compiler::detail

#endif  // ATTUNE_DETAIL_RESULTS_HPP_
