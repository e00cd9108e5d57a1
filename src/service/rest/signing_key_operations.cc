// The public keys by which artifacts of the tenant's jobs are signed.
#include "artifact/signer.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

absl::StatusOr<HttpResponse> List(const ArtifactSigner& signer, const RestCall& call) {
  ASSIGN_OR_RETURN(const std::vector<SigningKey> keys, signer.KeysOf(call.caller.tenant));
  JsonSchema list = JsonSchema::array();
  for (const SigningKey& key : keys) {
    ASSIGN_OR_RETURN(const std::string pem, key.PublicPem());
    list.push_back({{"id", KeyId(key.public_key())},
                    {"key", KeyHex(key.public_key())},
                    {"pem", pem},
                    {"state", list.empty() ? "current" : "retired"}});
  }
  return JsonResponse({{"keys", list}});
}

}  // namespace

void AddSigningKeyOperations(const ArtifactSigner& signer, RestApi& api) {
  api.schemas["SigningKey"] =
      ObjectSchema({{"id", TextSchema()},
                    {"key", TextSchema()},
                    {"pem", TextSchema()},
                    {"state", {{"type", "string"}, {"enum", {"current", "retired"}}}}});
  api.operations.push_back({.id = "listSigningKeys",
                            .route = {"GET", "/v1/signing-keys"},
                            .summary = "Lists the public Ed25519 keys that sign artifacts of the tenant's "
                                       "jobs; the first one signs now, the others have signed before.",
                            .answers = {{.help = "The keys", .schema = ItemsSchema("keys", "SigningKey")}},
                            .handler = [&signer](const RestCall& call) { return List(signer, call); }});
}

}  // namespace attune
