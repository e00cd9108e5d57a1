// The library's results as dicts and lists of Python.
#ifndef ATTUNE_PYTHON_RESULTS_H_
#define ATTUNE_PYTHON_RESULTS_H_

#include <nanobind/nanobind.h>

#include <vector>

#include "attune/compiler.hpp"

namespace attune::python {

nanobind::dict ToDict(const compiler::TuningReport& report);
nanobind::dict ToDict(const compiler::QuantizationResult& result);
nanobind::dict ToDict(const compiler::OutputCheck& check);
nanobind::dict ToDict(const compiler::KernelTime& kernel);
nanobind::dict ToDict(const compiler::NetworkSizes& sizes);
nanobind::dict ToDict(const compiler::ModelDeclaration& declaration);
// (name, dtype, shape, text) of each.
nanobind::list ToRows(const std::vector<compiler::InputInfo>& inputs);

template <typename Result>
nanobind::list ToDicts(const std::vector<Result>& results) {
  nanobind::list dicts;
  for (const Result& result : results) dicts.append(ToDict(result));
  return dicts;
}

}  // namespace attune::python

#endif  // ATTUNE_PYTHON_RESULTS_H_
