// The C++ interface of attune.h, whose comments hold here too: handles that free themselves, and errors as
// exceptions. Header only.
//
//   attune::runtime::Model model("resnet50.atn");
//   attune::runtime::Session session(model, 4);
//   std::ranges::copy(pixels, session.input<float>(0).begin());
//   session.run();
//   std::span<const float> scores = session.output(0).as<float>();
#ifndef ATTUNE_ATTUNE_HPP_
#define ATTUNE_ATTUNE_HPP_

#if __cplusplus < 202002L
#error "Attune is used from C++20 or newer (-std=c++20), or from C by attune/attune.h."
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "attune/attune.h"

namespace attune::runtime {

class Error : public std::runtime_error {
 public:
  explicit Error(const attune_error& error) : std::runtime_error(error.message), code_(error.code) {}
  attune_code code() const { return code_; }

 private:
  attune_code code_;
};

// Throws unless T has the size of the dtype's elements.
template <typename T>
void check_element(attune_dtype dtype) {
  if (sizeof(T) == attune_dtype_size(dtype)) return;
  throw std::invalid_argument(std::string("the tensor's elements are ") + attune_dtype_name(dtype));
}

// An input or output as the model declares it. Points into the model.
struct TensorInfo {
  const char* name;
  attune_dtype dtype;
  std::span<const int64_t> shape;  // upper bounds if is_dynamic
  bool is_dynamic;
  size_t bytes;
};

// Describes a port of a model or a session by the C function for it.
template <typename Handle, typename Function>
TensorInfo describe(const Handle* handle, Function function, size_t index) {
  attune_tensor_info info;
  attune_error error;
  if (function(handle, index, &info, &error)) throw Error(error);
  return {info.name, info.dtype, {info.shape, info.rank}, info.is_dynamic != 0, info.bytes};
}

// The range of one dimension, as attune_dimension. Points into the model.
struct Dimension {
  const char* name;  // nullptr unless it is an open size
  int64_t min, max;
  bool is_open;
};

// An output of the last run. Points into the session, until it runs again.
struct Output {
  attune_dtype dtype;
  std::span<const int64_t> shape;
  std::span<const std::byte> bytes;

  // The elements as T, whose size must be the dtype's (uint16_t for f16 and bf16, uint8_t for bool).
  template <typename T>
  std::span<const T> as() const {
    check_element<T>(dtype);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

// Describes a model at one set of input shapes. Points into the model.
class ModelInfo {
 public:
  explicit ModelInfo(const attune_model* model) : model_(model) {}

  size_t num_inputs() const { return attune_model_num_inputs(get()); }
  size_t num_outputs() const { return attune_model_num_outputs(get()); }
  TensorInfo input(size_t index) const { return describe(get(), attune_model_input, index); }
  TensorInfo output(size_t index) const { return describe(get(), attune_model_output, index); }
  Dimension input_dimension(size_t index, size_t dimension) const {
    return range(attune_model_input_dimension, index, dimension);
  }
  Dimension output_dimension(size_t index, size_t dimension) const {
    return range(attune_model_output_dimension, index, dimension);
  }
  // Empty for an unknown key.
  std::string metadata(const std::string& key) const {
    const char* text = attune_model_metadata(get(), key.c_str());
    return text == nullptr ? "" : text;
  }

  const attune_model* get() const { return model_; }

 private:
  template <typename Function>
  Dimension range(Function function, size_t index, size_t dimension) const {
    attune_dimension found;
    attune_error error;
    if (function(get(), index, dimension, &found, &error)) throw Error(error);
    return {found.name, found.min, found.max, found.is_open != 0};
  }

  const attune_model* model_;
};

// Its ModelInfo is about the first set of input shapes.
class Model : public ModelInfo {
 public:
  explicit Model(const std::string& path, const attune_load_options& options = ATTUNE_LOAD_OPTIONS_INIT)
      : Model(load([&](attune_model** model, attune_error* error) {
          return attune_load(path.c_str(), &options, model, error);
        })) {}
  explicit Model(std::span<const std::byte> bytes,
                 const attune_load_options& options = ATTUNE_LOAD_OPTIONS_INIT)
      : Model(load([&](attune_model** model, attune_error* error) {
          return attune_load_memory(bytes.data(), bytes.size(), &options, model, error);
        })) {}

  // Throws if the weights do not match their checksum.
  void verify() const {
    attune_error error;
    if (attune_model_verify(get(), &error)) throw Error(error);
  }

  // The artifact's file as it was loaded. Lives as long as the model.
  std::span<const std::byte> file() const {
    size_t bytes = 0;
    const auto* data = static_cast<const std::byte*>(attune_model_file(get(), &bytes));
    return {data, bytes};
  }

  size_t num_shape_sets() const { return attune_model_num_shape_sets(get()); }
  ModelInfo shape_set(size_t index) const {
    const attune_model* set = attune_model_shape_set(get(), index);
    if (set == nullptr) throw std::out_of_range("there is no such set of input shapes");
    return ModelInfo(set);
  }

 private:
  struct Free {
    void operator()(attune_model* model) const { attune_model_free(model); }
  };

  explicit Model(attune_model* model) : ModelInfo(model), handle_(model) {}

  template <typename Function>
  static attune_model* load(Function function) {
    attune_model* model = nullptr;
    attune_error error;
    if (function(&model, &error)) throw Error(error);
    return model;
  }

  std::unique_ptr<attune_model, Free> handle_;
};

class Session {
 public:
  // `threads` = 0: one for each processor that this process may use.
  explicit Session(const ModelInfo& model, size_t threads = 1) {
    attune_session* session = nullptr;
    attune_error error;
    if (attune_session_create(model.get(), threads, &session, &error)) throw Error(error);
    handle_.reset(session);
  }

  // Switches to another of the model's sets of input shapes; the values of inputs and outputs are lost.
  void use_shape_set(size_t index) {
    attune_error error;
    if (attune_session_use_shape_set(get(), index, &error)) throw Error(error);
  }
  // The same, with the model that the session was made of.
  void use_shape_set(const Model&, size_t index) { use_shape_set(index); }
  // The same by the shapes of all inputs, in the model's order.
  void use_shapes(std::span<const std::vector<int64_t>> shapes) {
    std::vector<attune_shape> given;
    for (const std::vector<int64_t>& shape : shapes) given.push_back({shape.data(), shape.size()});
    attune_error error;
    if (attune_session_use_shapes(get(), given.data(), given.size(), &error)) throw Error(error);
  }
  // The most bytes that the session may have from now on; 0: any number.
  void set_max_memory(uint64_t bytes) {
    attune_error error;
    if (attune_session_set_max_memory(get(), bytes, &error)) throw Error(error);
  }

  // An input and an output at the current shapes.
  TensorInfo input_info(size_t index) const { return describe(get(), attune_session_input_info, index); }
  TensorInfo output_info(size_t index) const { return describe(get(), attune_session_output_info, index); }

  // Where to write an input. T as in Output::as.
  template <typename T>
  std::span<T> input(size_t index) const {
    const TensorInfo info = input_info(index);
    check_element<T>(info.dtype);
    return {static_cast<T*>(attune_session_input(get(), index)), info.bytes / sizeof(T)};
  }
  std::span<std::byte> input_bytes(size_t index) const {
    return {static_cast<std::byte*>(attune_session_input(get(), index)), input_info(index).bytes};
  }

  void run() {
    attune_error error;
    if (attune_session_run(get(), &error)) throw Error(error);
  }
  // The nanoseconds that each instruction took.
  std::vector<uint64_t> run_profiled() {
    const size_t count = attune_session_num_instructions(get());
    std::vector<uint64_t> nanoseconds(count + 1);  // never empty, so that data() is not null
    attune_error error;
    if (attune_session_run_profiled(get(), nanoseconds.data(), count, &error)) throw Error(error);
    nanoseconds.pop_back();
    return nanoseconds;
  }
  Output output(size_t index) const {
    attune_output output;
    attune_error error;
    if (attune_session_output(get(), index, &output, &error)) throw Error(error);
    return {output.dtype,
            {output.shape, output.rank},
            {static_cast<const std::byte*>(output.data), output.bytes}};
  }

  attune_session* get() const { return handle_.get(); }

 private:
  struct Free {
    void operator()(attune_session* session) const { attune_session_free(session); }
  };

  std::unique_ptr<attune_session, Free> handle_;
};

}  // namespace attune::runtime

#endif  // ATTUNE_ATTUNE_HPP_
