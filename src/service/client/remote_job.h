// Jobs of a server, as it tells of them by REST.
#ifndef ATTUNE_SERVICE_CLIENT_REMOTE_JOB_H_
#define ATTUNE_SERVICE_CLIENT_REMOTE_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

// A promise of the job's agreement. Numbers are in the unit of its name.
struct RemotePromise {
  std::string name = {}, state = {};
  std::optional<double> limit = {};
  std::optional<double> probability = {};  // that it can be met
  std::optional<double> low = {}, median = {}, high = {};
  std::vector<std::string> evidence = {};  // what it rests on
};

// The server's predictions for a job before it is submitted.
struct RemotePrediction {
  std::string verdict = {}, reason = {};  // reason: a sentence, or empty
  std::vector<RemotePromise> promises = {};
  std::vector<RemotePromise> offers = {};  // limits that would be promised, with their probability
};

// Texts are the server's, and may hold anything. Times are as in RFC 3339, UTC.
struct RemoteJob {
  std::string id = {}, kind = {}, state = {}, on = {}, stage = {}, waits_for = {}, runner = {}, progress = {};
  std::string error = {}, submitted = {}, ended = {};
  int64_t priority = 0;
  double remaining_seconds = 0;  // 0: unknown
  std::vector<RemotePromise> promises = {};
  nlohmann::ordered_json json = {};  // all that the server has said

  bool is_over() const { return state != "waiting" && state != "running"; }
};

struct RemoteStage {
  std::string name = {}, outcome = {}, runner = {}, reason = {}, ended = {};
  double waited_seconds = 0, seconds = 0;
};

struct RemoteFile {
  std::string name = {}, sha256 = {};
  int64_t bytes = 0;
};

struct RemoteJobDetail {
  RemoteJob job = {};
  nlohmann::ordered_json result = {};  // null: there is none
  std::vector<RemoteStage> stages = {};
  std::vector<RemoteFile> files = {};
};

// Fail, with the field's name, if the server's answer lacks a field or has one of another type; more fields
// do no harm. Promises may be missing.
absl::StatusOr<RemoteJob> ReadRemoteJob(const nlohmann::ordered_json& json);
absl::StatusOr<RemoteJobDetail> ReadRemoteJobDetail(const nlohmann::ordered_json& json);
absl::StatusOr<RemotePrediction> ReadRemotePrediction(const nlohmann::ordered_json& json);

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_REMOTE_JOB_H_
