// The extension module attune._core: the C++ interface as Python calls it. python/attune/ makes of it what
// people see.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "attune/compiler.hpp"
#include "bindings.h"
#include "results.h"
#include "tensors.h"

namespace attune::python {

namespace nb = nanobind;

NB_MODULE(_core, m) {
  attune_set_language(ATTUNE_LANGUAGE_PYTHON);
  BindErrors();
  m.def("version", &compiler::version);
  m.def("build_id", &compiler::build_id);
  m.def("array", &ToSharedNumpy);
  m.def("declaration", [](const std::string& path, const std::string& signature) {
    return ToDict(compiler::declaration(path, signature));
  });
  m.def("records_path", &compiler::records_path);
  m.def(
      "copy_records",
      [](const std::string& from, const std::string& to, const std::string& run, bool is_best_only) {
        return compiler::copy_records(from, to, {.run = run, .is_best_only = is_best_only});
      },
      nb::call_guard<nb::gil_scoped_release>());
  BindNetwork(m);
  BindSession(m);
}

}  // namespace attune::python
