// The C interface of sessions; see c_api.cc.
#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "base/joined.h"
#include "runtime/c_api.h"

using attune::Joined;
using attune::ModelSession;
using attune::Port;
using attune::Program;
using attune::RuntimeStatus;
using attune::c_api::CheckIndex;
using attune::c_api::DescribeTensor;
using attune::c_api::Guard;
using attune::c_api::Invalid;
using attune::c_api::NullArgument;

namespace {

// Describes port `index` of the session's current program at its current sizes.
RuntimeStatus DescribeNow(const ModelSession& session, const std::vector<Port>& ports, const char* what,
                          size_t index, attune_tensor_info* info) {
  const Program& program = session.program();
  if (RuntimeStatus status = CheckIndex(what, index, ports.size()); !status.ok()) return status;
  DescribeTensor(ports[index], program.tensors[ports[index].tensor],
                 session.Current().Shape(ports[index].tensor), info);
  return {};
}

}  // namespace

extern "C" {

attune_code attune_session_create(const attune_model* model, size_t threads, attune_session** session,
                                  attune_error* error) {
  return Guard(error, [&] {
    if (model == nullptr || session == nullptr) return NullArgument();
    auto made = std::make_unique<attune_session>();
    RuntimeStatus status = ModelSession::Create(model->loaded, model->shape_set, threads, &made->session);
    if (status.ok()) *session = made.release();
    return status;
  });
}

void attune_session_free(attune_session* session) { delete session; }

attune_code attune_session_use_shape_set(attune_session* session, size_t index, attune_error* error) {
  return Guard(error, [&] {
    if (session == nullptr) return NullArgument();
    const size_t count = session->session->model().variant().programs.size();
    RuntimeStatus status = CheckIndex("shape set", index, count);
    return status.ok() ? session->session->UseProgram(index) : status;
  });
}

attune_code attune_session_use_shapes(attune_session* session, const attune_shape* shapes, size_t count,
                                      attune_error* error) {
  return Guard(error, [&]() -> RuntimeStatus {
    if (session == nullptr || (shapes == nullptr && count != 0)) return NullArgument();
    for (size_t i = 0; i < count; ++i) {
      if (shapes[i].sizes == nullptr && shapes[i].rank != 0) return NullArgument();
    }
    return session->session->UseShapes({shapes, count});
  });
}

attune_code attune_session_set_max_memory(attune_session* session, uint64_t bytes, attune_error* error) {
  return Guard(error,
               [&] { return session == nullptr ? NullArgument() : session->session->SetMaxMemory(bytes); });
}

attune_code attune_session_input_info(const attune_session* session, size_t index, attune_tensor_info* info,
                                      attune_error* error) {
  return Guard(error, [&] {
    if (session == nullptr || info == nullptr) return NullArgument();
    return DescribeNow(*session->session, session->session->program().inputs, "input", index, info);
  });
}

attune_code attune_session_output_info(const attune_session* session, size_t index, attune_tensor_info* info,
                                       attune_error* error) {
  return Guard(error, [&] {
    if (session == nullptr || info == nullptr) return NullArgument();
    return DescribeNow(*session->session, session->session->program().outputs, "output", index, info);
  });
}

size_t attune_session_num_instructions(const attune_session* session) {
  return session == nullptr ? 0 : session->session->program().instructions.size();
}

void* attune_session_input(attune_session* session, size_t index) {
  if (session == nullptr || index >= session->session->program().inputs.size()) return nullptr;
  return session->session->input(index);
}

attune_code attune_session_set_input(attune_session* session, size_t index, const void* data, size_t bytes,
                                     attune_error* error) {
  return Guard(error, [&]() -> RuntimeStatus {
    if (session == nullptr || (data == nullptr && bytes != 0)) return NullArgument();
    attune_tensor_info info = {};
    const std::vector<Port>& inputs = session->session->program().inputs;
    RuntimeStatus status = DescribeNow(*session->session, inputs, "input", index, &info);
    if (!status.ok()) return status;
    if (bytes != info.bytes) {
      return Invalid(Joined(
          {"input ", index, " (\"", inputs[index].name, "\") takes ", info.bytes, " bytes, not ", bytes}));
    }
    session->session->model().device().Copy(session->session->input(index), data, bytes);
    return {};
  });
}

attune_code attune_session_run(attune_session* session, attune_error* error) {
  return Guard(error, [&] { return session == nullptr ? NullArgument() : session->session->Run({}); });
}

attune_code attune_session_run_profiled(attune_session* session, uint64_t* nanoseconds, size_t count,
                                        attune_error* error) {
  return Guard(error, [&] {
    if (session == nullptr || nanoseconds == nullptr) return NullArgument();
    const size_t instructions = attune_session_num_instructions(session);
    if (count != instructions) {
      return Invalid(Joined({"the program has ", instructions, " instructions, not ", count}));
    }
    std::memset(nanoseconds, 0, count * sizeof(*nanoseconds));
    return session->session->Run({nanoseconds, count});
  });
}

attune_code attune_session_output(attune_session* session, size_t index, attune_output* output,
                                  attune_error* error) {
  return Guard(error, [&] {
    if (session == nullptr || output == nullptr) return NullArgument();
    const Program& program = session->session->program();
    RuntimeStatus status = CheckIndex("output", index, program.outputs.size());
    if (!status.ok()) return status;
    ModelSession::Output found;
    status = session->session->GetOutput(index, &found);
    if (!status.ok()) return status;
    const uint8_t dtype = program.tensors[program.outputs[index].tensor].dtype;
    *output = {found.data, static_cast<attune_dtype>(dtype), found.shape.size(), found.shape.data(),
               found.bytes};
    return status;
  });
}

}  // extern "C"
