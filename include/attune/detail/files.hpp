// Devices, and functions without a network. attune/compiler.hpp includes this at its end.
#ifndef ATTUNE_DETAIL_FILES_HPP_
#define ATTUNE_DETAIL_FILES_HPP_

#include <cstdint>
#include <string>

#include "attune/compiler.hpp"
#include "attune/detail/call.hpp"
#include "attune/detail/results.hpp"

namespace attune::compiler {

inline Device Device::here() { return Device(nullptr); }

inline Device Device::in_fleet(const std::string& key, const std::string& server) {
  return Device(
      detail::get<attune_device_free>(attune_device_in_fleet, key.c_str(), server.c_str()).release());
}

inline std::string Device::fingerprint() const {
  return detail::get<attune_text_free>(attune_device_fingerprint, get()).get();
}

inline std::string Device::cpu() const {
  return detail::get<attune_text_free>(attune_device_cpu, get()).get();
}

inline int Device::processors() const {
  int processors = 0;
  detail::call(attune_device_processors, get(), &processors);
  return processors;
}

inline int64_t copy_records(const std::string& from, const std::string& to, const RecordSelection& which) {
  int64_t count = 0;
  detail::call(attune_copy_records, from.c_str(), to.c_str(), which.run.c_str(),
               static_cast<int>(which.is_best_only), &count);
  return count;
}

inline ModelDeclaration declaration(const std::string& path, const std::string& signature) {
  return detail::from_c(
      *detail::get<attune_declaration_free>(attune_declare, path.c_str(), signature.c_str()));
}

inline std::string records_path() { return detail::get<attune_text_free>(attune_records_path).get(); }

inline std::string version() { return attune_version(); }
inline std::string build_id() { return attune_build_id(); }

}  // namespace attune::compiler

#endif  // ATTUNE_DETAIL_FILES_HPP_
