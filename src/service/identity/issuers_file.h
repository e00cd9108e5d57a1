// The identity providers that a server trusts, as its operator has configured them.
#ifndef ATTUNE_SERVICE_IDENTITY_ISSUERS_FILE_H_
#define ATTUNE_SERVICE_IDENTITY_ISSUERS_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "service/access/access.h"

namespace attune {

// How a claim becomes a name of ours.
struct ClaimRule {
  std::string claim = {};                          // its name, or a JSON pointer; empty: none is asked
  std::map<std::string, std::string> values = {};  // if not empty, those alone, and what they stand for
  std::string otherwise = {};                      // without such a value; empty: the person is refused
};

struct OidcIssuer {
  std::string name = {};                           // for people and paths
  std::string issuer = {};                         // the URL, as tokens name it
  std::string client_id = {}, client_secret = {};  // of the page; a public client has no secret
  std::string cli_client_id = {};                  // of `attune login`, a public client
  std::vector<std::string> audiences = {};         // tokens are for one of these
  std::string scope = "openid";
  std::vector<std::string> algorithms = {};
  ClaimRule tenant = {}, role = {};
  std::string name_claim = {};  // of the person, for people; the subject where it is missing
  int64_t skew_ms = 60'000;
  std::string authorities_pem = {};  // that vouch for its TLS; empty: the system's
};

struct OidcIssuers {
  std::string url = {};  // by which browsers reach the server: "https://attune.example.org"
  std::vector<OidcIssuer> issuers = {};
};

// Reads the file and those that it names, which are relative to its folder. Errors name the file and the
// field.
absl::StatusOr<OidcIssuers> ReadIssuersFile(const std::string& path);

// A person as an issuer describes them.
struct KnownPerson {
  std::string issuer = {}, subject = {};
  std::string name = {}, tenant = {};
  AccessRole role = AccessRole::kViewer;
};
// Unauthenticated, with the reason, if the claims do not describe a person of the issuer.
absl::StatusOr<KnownPerson> PersonOfClaims(const OidcIssuer& issuer, const nlohmann::json& claims);

}  // namespace attune

#endif  // ATTUNE_SERVICE_IDENTITY_ISSUERS_FILE_H_
