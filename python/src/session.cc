// The classes Model and Session: the runtime's.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/attune.hpp"
#include "attune/compiler.hpp"
#include "bindings.h"
#include "tensors.h"

namespace attune::python {
namespace {

namespace nb = nanobind;

// A loaded artifact at one of its sets of input shapes, or with open ones. Sessions keep it alive.
class Model {
 public:
  using Shapes = std::map<std::string, std::vector<int64_t>>;

  // The artifact's only set, which may leave sizes open.
  explicit Model(std::span<const std::byte> artifact) : file_(artifact), info_(file_) {}

  // The set with these shapes of all inputs.
  Model(std::span<const std::byte> artifact, const Shapes& shapes) : file_(artifact), info_(file_) {
    for (size_t set = 0; set < file_.num_shape_sets(); ++set) {
      info_ = file_.shape_set(set);
      if (Has(shapes)) return;
    }
    throw compiler::Error(compiler::ErrorCode::kInvalid, "the artifact is not compiled for these shapes");
  }

  const runtime::ModelInfo& info() const { return info_; }

 private:
  bool Has(const Shapes& shapes) const {
    for (size_t i = 0; i < info_.num_inputs(); ++i) {
      const runtime::TensorInfo input = info_.input(i);
      const auto given = shapes.find(std::string(input.name));
      if (given == shapes.end() || !std::ranges::equal(given->second, input.shape)) return false;
    }
    return true;
  }

  const runtime::Model file_;
  runtime::ModelInfo info_;
};

// Whether the elements of a buffer are of the dtype, by the format that Python's struct module has for them.
// bf16 is uint16.
bool HasDType(const Py_buffer& buffer, attune_dtype dtype) {
  struct Row {
    attune_dtype dtype;
    std::string_view formats;
  };
  constexpr Row kRows[] = {{ATTUNE_F32, "f"}, {ATTUNE_F64, "d"}, {ATTUNE_F16, "e"}, {ATTUNE_BF16, "H"},
                           {ATTUNE_I8, "b"},  {ATTUNE_I16, "h"}, {ATTUNE_I32, "i"}, {ATTUNE_I64, "lq"},
                           {ATTUNE_U8, "B"},  {ATTUNE_U16, "H"}, {ATTUNE_U32, "I"}, {ATTUNE_U64, "LQ"},
                           {ATTUNE_BOOL, "?"}};
  const std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  return format.size() == 1 && std::ranges::any_of(kRows, [&](const Row& row) {
           return row.dtype == dtype && row.formats.find(format[0]) != std::string_view::npos;
         });
}

// Dense buffers of Python objects, until it is destroyed.
class Buffers {
 public:
  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
  }

  const Py_buffer& operator[](size_t index) const { return buffers_[index]; }
  // False if the object has no dense buffer of that dtype and shape, in which -1 is any size.
  bool Add(PyObject* object, attune_dtype dtype, const std::vector<int64_t>& shape) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    buffers_.push_back(buffer);
    return HasDType(buffer, dtype) &&
           std::ranges::equal(std::span(buffer.shape, static_cast<size_t>(buffer.ndim)), shape,
                              [](int64_t given, int64_t wanted) { return wanted < 0 || given == wanted; });
  }

 private:
  std::vector<Py_buffer> buffers_;
};

// One session and the model that it runs.
class Session {
 public:
  Session(std::shared_ptr<const Model> model, int threads)
      : model_(std::move(model)), session_(model_->info(), NotNegative(threads)) {
    for (size_t i = 0; i < model_->info().num_inputs(); ++i) {
      const runtime::TensorInfo info = model_->info().input(i);
      Declared& input = inputs_.emplace_back();
      input.dtype = info.dtype;
      for (size_t d = 0; d < info.shape.size(); ++d) {
        const bool is_open = model_->info().input_dimension(i, d).is_open;
        input.shape.push_back(is_open ? -1 : info.shape[d]);
        is_open_ |= is_open;
      }
    }
  }

  // The memory that the network reads the input from.
  nb::object Input(nb::handle self, size_t index) {
    const runtime::TensorInfo info = model_->info().input(index);
    return ToNumpy(session_.input_bytes(index).data(), info.dtype, {info.shape.begin(), info.shape.end()},
                   self,
                   /*is_writable=*/true);
  }
  void Run() {
    const nb::gil_scoped_release released;
    session_.run();
  }
  // Whether the model takes inputs of these shapes; they are used then.
  bool Takes(const std::vector<std::vector<int64_t>>& shapes) {
    try {
      session_.use_shapes(shapes);
      return true;
    } catch (const runtime::Error& error) {
      if (error.code() != ATTUNE_INVALID_ARGUMENT) throw;
      return false;
    }
  }
  // Copies of the outputs {name: array} of these inputs {name: array}. None, and nothing is done, if an input
  // is no dense buffer as it must be.
  std::optional<nb::dict> Compute(const nb::dict& given, const nb::list& input_names,
                                  const nb::list& output_names) {
    Buffers buffers;
    if (given.size() != inputs_.size()) return std::nullopt;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      PyObject* const object = PyDict_GetItem(given.ptr(), input_names[i].ptr());
      if (object == nullptr || !buffers.Add(object, inputs_[i].dtype, inputs_[i].shape)) return std::nullopt;
    }
    std::vector<compiler::Tensor> outputs;
    {
      const nb::gil_scoped_release released;
      if (is_open_) UseShapesOf(buffers);
      for (size_t i = 0; i < inputs_.size(); ++i)
        std::memcpy(session_.input_bytes(i).data(), buffers[i].buf, session_.input_bytes(i).size());
      session_.run();
      for (size_t i = 0; i < model_->info().num_outputs(); ++i) {
        const runtime::Output output = session_.output(i);
        outputs.emplace_back(output.dtype, compiler::Shape(output.shape.begin(), output.shape.end()),
                             output.bytes);
      }
    }
    nb::dict arrays;
    for (size_t i = 0; i < outputs.size(); ++i) arrays[output_names[i]] = OwnedArray(std::move(outputs[i]));
    return arrays;
  }
  // The memory that the network has written the output to.
  nb::object Output(nb::handle self, size_t index) {
    const runtime::Output output = session_.output(index);
    return ToNumpy(const_cast<std::byte*>(output.bytes.data()), output.dtype,
                   {output.shape.begin(), output.shape.end()}, self, /*is_writable=*/false);
  }

 private:
  void UseShapesOf(const Buffers& buffers) {
    std::vector<std::vector<int64_t>> shapes;
    for (size_t i = 0; i < inputs_.size(); ++i)
      shapes.emplace_back(buffers[i].shape, buffers[i].shape + buffers[i].ndim);
    session_.use_shapes(shapes);
  }

  static size_t NotNegative(int threads) {
    if (threads >= 0) return static_cast<size_t>(threads);
    throw compiler::Error(compiler::ErrorCode::kInvalid,
                          "threads: is " + std::to_string(threads) + ", and must be at least 0");
  }

  struct Declared {
    attune_dtype dtype;
    std::vector<int64_t> shape;
  };

  std::shared_ptr<const Model> model_;
  runtime::Session session_;
  std::vector<Declared> inputs_;
  bool is_open_ = false;
};

nb::list Infos(const runtime::ModelInfo& model, size_t count,
               runtime::TensorInfo (runtime::ModelInfo::*get)(size_t) const) {
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
                  [](const nb::bytes& artifact, const Model::Shapes& shapes) {
                    return std::make_shared<Model>(
                        std::span(reinterpret_cast<const std::byte*>(artifact.data()), artifact.size()),
                        shapes);
                  })
      .def_static("open",
                  [](const nb::bytes& artifact) {
                    return std::make_shared<Model>(
                        std::span(reinterpret_cast<const std::byte*>(artifact.data()), artifact.size()));
                  })
      .def("inputs",
           [](const Model& model) {
             return Infos(model.info(), model.info().num_inputs(), &runtime::ModelInfo::input);
           })
      .def("outputs", [](const Model& model) {
        return Infos(model.info(), model.info().num_outputs(), &runtime::ModelInfo::output);
      });

  nb::class_<Session>(m, "Session")
      .def(nb::init<std::shared_ptr<const Model>, int>(), nb::call_guard<nb::gil_scoped_release>())
      .def("input", [](nb::handle self, size_t index) { return nb::cast<Session&>(self).Input(self, index); })
      .def("run", &Session::Run)
      .def("takes", &Session::Takes, nb::call_guard<nb::gil_scoped_release>())
      .def("compute", &Session::Compute)
      .def("output",
           [](nb::handle self, size_t index) { return nb::cast<Session&>(self).Output(self, index); });
}

}  // namespace attune::python
