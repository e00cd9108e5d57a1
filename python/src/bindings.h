// The parts of the module: each adds its classes and functions.
#ifndef ATTUNE_PYTHON_BINDINGS_H_
#define ATTUNE_PYTHON_BINDINGS_H_

#include <nanobind/nanobind.h>

namespace attune::python {

// Exceptions of the library become those of attune.errors.
void BindErrors();
void BindNetwork(nanobind::module_& module);
void BindSession(nanobind::module_& module);

}  // namespace attune::python

#endif  // ATTUNE_PYTHON_BINDINGS_H_
