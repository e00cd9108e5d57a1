#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "process/commands/server_command.h"
#include "service/state/audit_store.h"

namespace attune {
namespace {

absl::Status Verify(const SqlLocation& location, const std::string& head) {
  AuditHead passes;
  if (!head.empty()) {
    ASSIGN_OR_RETURN(passes, AuditHead::Parse(head));
  }
  ASSIGN_OR_RETURN(const auto store, AuditStore::Open(location));
  ASSIGN_OR_RETURN(const AuditVerdict verdict, store->Verify(passes));
  PrintNote(absl::StrCat("the audit log is whole: ", verdict.entries, " entries, ", verdict.erased,
                         " of them of deleted tenants; keep its head elsewhere:"));
  PrintResult(absl::StrCat(verdict.last.Text(), "\n"));
  return FlushOutput();
}

}  // namespace

void AddServerAuditCommand(CLI::App& server, const DatabaseOfServer& where, Action& action) {
  CLI::App* audit = server.add_subcommand("audit", "Check the log of changes over REST");
  audit->require_subcommand(1)->fallthrough();  // --state
  CLI::App* verify = audit->add_subcommand(
      "verify", "Check that no entry was changed, removed or inserted, and print the log's head");
  verify->fallthrough();
  const auto head = std::make_shared<std::string>();
  verify->add_option("--head", *head, "an earlier head: the log must pass through it");
  verify->callback([where, head, &action] {
    action = [where, head]() -> absl::Status {
      ASSIGN_OR_RETURN(const SqlLocation location, where());
      return Verify(location, *head);
    };
  });
}

}  // namespace attune
