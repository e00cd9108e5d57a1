// Devices of the C interface.
#ifndef ATTUNE_LIBRARY_DEVICE_H_
#define ATTUNE_LIBRARY_DEVICE_H_

#include <memory>

#include "attune/compiler.h"
#include "measure/service.h"

struct attune_device {
  std::shared_ptr<attune::MeasuringService> service;  // not null
};

namespace attune::library {

// Null: this machine.
inline std::shared_ptr<MeasuringService> ServiceOf(const attune_device* device) {
  return device == nullptr ? nullptr : device->service;
}

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_DEVICE_H_
