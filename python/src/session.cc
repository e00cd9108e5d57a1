// The classes Model and Session: the runtime's.
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "attune/attune.hpp"
#include "bindings.h"
#include "tensors.h"

namespace attune::python {
namespace {

namespace nb = nanobind;

// A loaded artifact. Sessions keep it alive.
using Model = runtime::Model;

// One session and the model that it runs.
class Session {
 public:
  Session(std::shared_ptr<const Model> model, size_t threads)
      : model_(std::move(model)), session_(*model_, threads) {}

  const Model& model() const { return *model_; }
  // The memory that the network reads the input from.
  nb::object Input(nb::handle self, size_t index) {
    const runtime::TensorInfo info = model_->input(index);
    return ToNumpy(session_.input_bytes(index).data(), info.dtype, {info.shape.begin(), info.shape.end()},
                   self,
                   /*is_writable=*/true);
  }
  void Run() {
    const nb::gil_scoped_release released;
    session_.run();
  }
  // The memory that the network has written the output to.
  nb::object Output(nb::handle self, size_t index) {
    const runtime::Output output = session_.output(index);
    return ToNumpy(const_cast<std::byte*>(output.bytes.data()), output.dtype,
                   {output.shape.begin(), output.shape.end()}, self, /*is_writable=*/false);
  }

 private:
  std::shared_ptr<const Model> model_;
  runtime::Session session_;
};

nb::list Infos(const Model& model, size_t count, runtime::TensorInfo (Model::*get)(size_t) const) {
  nb::list rows;
  for (size_t i = 0; i < count; ++i) {
    const runtime::TensorInfo info = (model.*get)(i);
    rows.append(nb::make_tuple(info.name, attune_dtype_name(info.dtype),
                               std::vector<int64_t>(info.shape.begin(), info.shape.end())));
  }
  return rows;
}

}  // namespace

void BindSession(nb::module_& m) {
  nb::class_<Model>(m, "Model")
      .def_static("of",
                  [](const nb::bytes& artifact) {
                    return std::make_shared<Model>(
                        std::span(reinterpret_cast<const std::byte*>(artifact.data()), artifact.size()));
                  })
      .def("inputs", [](const Model& model) { return Infos(model, model.num_inputs(), &Model::input); })
      .def("outputs", [](const Model& model) { return Infos(model, model.num_outputs(), &Model::output); })
      .def("metadata", &Model::metadata);

  nb::class_<Session>(m, "Session")
      .def(nb::init<std::shared_ptr<const Model>, size_t>(), nb::call_guard<nb::gil_scoped_release>())
      .def("input", [](nb::handle self, size_t index) { return nb::cast<Session&>(self).Input(self, index); })
      .def("run", &Session::Run)
      .def("output",
           [](nb::handle self, size_t index) { return nb::cast<Session&>(self).Output(self, index); });
}

}  // namespace attune::python
