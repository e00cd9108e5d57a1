#include "results.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>

#include "attune/attune.h"

namespace attune::python {
namespace {

namespace nb = nanobind;

// (name, dtype, dims or None) of each.
nb::list Declared(const std::vector<compiler::InputInfo>& tensors) {
  nb::list rows;
  for (const compiler::InputInfo& tensor : tensors) {
    nb::list dims;
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      dims.append(tensor.shape[d] < 0 ? nb::cast(tensor.dims[d]) : nb::cast(tensor.shape[d]));
    // The text has the name of a type that Attune does not have, too.
    rows.append(nb::make_tuple(tensor.name, tensor.text.substr(0, tensor.text.find('[')),
                               tensor.has_shape ? nb::object(dims) : nb::none()));
  }
  return rows;
}

// Texts of a file may be of any bytes.
nb::object Decode(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::dict Decode(const std::map<std::string, std::string>& texts) {
  nb::dict decoded;
  for (const auto& [key, text] : texts) decoded[Decode(key)] = Decode(text);
  return decoded;
}

}  // namespace

nb::dict ToDict(const compiler::TuningReport& report) {
  nb::dict fields;
  fields["run"] = report.run;
  fields["trials"] = report.trials;
  fields["elapsed_seconds"] = report.elapsed_seconds;
  fields["baseline_seconds"] = report.baseline_seconds;
  fields["tuned_seconds"] = report.tuned_seconds;
  fields["was_stopped"] = report.was_stopped;
  fields["records"] = report.records;
  fields["fingerprint"] = report.fingerprint;
  fields["threads"] = report.threads;
  nb::list tasks, curve;
  for (const compiler::TaskReport& task : report.tasks) {
    nb::dict row;
    row["description"] = task.description;
    row["uses"] = task.uses;
    row["trials"] = task.trials;
    row["failed_trials"] = task.failed_trials;
    row["transferred_trials"] = task.transferred_trials;
    row["baseline_seconds"] = task.baseline_seconds;
    row["best_seconds"] = task.best_seconds;
    row["best_config"] = task.best_config;
    tasks.append(row);
  }
  for (const compiler::TuningPoint& point : report.curve)
    curve.append(nb::make_tuple(point.elapsed_seconds, point.trials, point.network_seconds));
  fields["tasks"] = tasks;
  fields["curve"] = curve;
  fields["stage_seconds"] = report.stage_seconds;
  return fields;
}

nb::dict ToDict(const compiler::QuantizationResult& result) {
  nb::dict fields;
  fields["agreement"] = result.agreement;
  fields["baseline_seconds"] = result.baseline_seconds;
  fields["quantized_seconds"] = result.quantized_seconds;
  fields["is_slower"] = result.is_slower;
  fields["verdict"] = result.verdict;
  return fields;
}

nb::dict ToDict(const compiler::OutputCheck& check) {
  nb::dict row;
  row["name"] = check.name;
  row["ok"] = check.ok;
  row["criterion"] = check.criterion;
  row["max_absolute_error"] = check.max_absolute_error;
  row["max_relative_error"] = check.max_relative_error;
  row["elements"] = check.elements;
  row["mismatches"] = check.mismatches;
  return row;
}

nb::dict ToDict(const compiler::KernelTime& kernel) {
  nb::dict row;
  row["op"] = kernel.op;
  row["labels"] = kernel.labels;
  row["strategy"] = kernel.strategy;
  row["calls"] = kernel.calls;
  row["seconds"] = kernel.seconds;
  row["share"] = kernel.share;
  row["gflops_per_second"] = kernel.gflops_per_second;
  row["gb_per_second"] = kernel.gb_per_second;
  row["peak_share"] = kernel.peak_share;
  row["roofline_share"] = kernel.roofline_share;
  return row;
}

nb::dict ToDict(const compiler::NetworkSizes& sizes) {
  nb::dict fields;
  fields["file_bytes"] = sizes.file_bytes;
  fields["code_bytes"] = sizes.code_bytes;
  fields["weight_bytes"] = sizes.weight_bytes;
  fields["stored_weight_bytes"] = sizes.stored_weight_bytes;
  fields["arena_bytes"] = sizes.arena_bytes;
  fields["scratch_bytes"] = sizes.scratch_bytes;
  fields["cpus"] = sizes.cpus;
  return fields;
}

nb::dict ToDict(const compiler::ModelDeclaration& declaration) {
  nb::dict fields;
  fields["inputs"] = Declared(declaration.inputs);
  fields["outputs"] = Declared(declaration.outputs);
  fields["is_compiled"] = declaration.is_compiled;
  fields["unsupported"] = Decode(declaration.unsupported);
  fields["files"] = declaration.files;
  fields["about"] = Decode(declaration.about);
  fields["metadata"] = Decode(declaration.metadata);
  return fields;
}

nb::list ToRows(const std::vector<compiler::InputInfo>& inputs) {
  nb::list rows;
  for (const compiler::InputInfo& input : inputs)
    rows.append(nb::make_tuple(input.name, attune_dtype_name(input.dtype), input.shape, input.text));
  return rows;
}

}  // namespace attune::python
