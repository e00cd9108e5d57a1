#include "base/sql/postgres_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/overloaded.h"
#include "base/printable.h"
#include "base/sql/postgres_sql.h"
#include "base/status.h"

namespace attune {
namespace {

// Numbers of PostgreSQL's table pg_type.
constexpr Oid kBytea = 17, kInt8 = 20, kText = 25, kFloat8 = 701;
constexpr Oid kAnyType = 0;  // whichever the statement asks for

std::string OneLine(std::string_view message) { return WithoutControls(absl::StripAsciiWhitespace(message)); }

// The statements that a connection remembers. The stores have some two hundred.
constexpr size_t kMostStatements = 500;

SqlBytes BytesOf(const char* text) {
  size_t bytes = 0;
  unsigned char* unescaped = PQunescapeBytea(reinterpret_cast<const unsigned char*>(text), &bytes);
  SqlBytes value;
  if (unescaped != nullptr) value.bytes.assign(reinterpret_cast<const char*>(unescaped), bytes);
  PQfreemem(unescaped);
  return value;
}

// The types of stores' columns; a value of another one, such as of a sum, is a text.
SqlValue ValueOf(const PGresult& result, int row, int column) {
  if (PQgetisnull(&result, row, column) != 0) return SqlNull{};
  const char* bytes = PQgetvalue(&result, row, column);
  const std::string_view text(bytes, static_cast<size_t>(PQgetlength(&result, row, column)));
  const Oid type = PQftype(&result, column);
  if (type == kBytea) return BytesOf(bytes);
  if (int64_t number = 0; type == kInt8 && absl::SimpleAtoi(text, &number)) return number;
  if (double number = 0; type == kFloat8 && absl::SimpleAtod(text, &number)) return number;
  return std::string(text);
}

}  // namespace

// The values of a statement's parameters, as libpq takes them.
class PostgresParameters {
 public:
  explicit PostgresParameters(const std::vector<SqlValue>& values) {
    for (const SqlValue& value : values) std::visit([this](const auto& typed) { Add(typed); }, value);
    for (const std::optional<std::string>& text : texts_) {
      pointers_.push_back(text ? text->c_str() : nullptr);
      lengths_.push_back(text ? static_cast<int>(text->size()) : 0);
    }
  }
  int Send(PGconn* connection, const std::string& sql) const {
    return PQsendQueryParams(connection, sql.c_str(), count(), types_.data(), pointers_.data(),
                             lengths_.data(), formats_.data(), /*resultFormat=*/0);
  }
  int SendPrepared(PGconn* connection, const std::string& name) const {
    return PQsendQueryPrepared(connection, name.c_str(), count(), pointers_.data(), lengths_.data(),
                               formats_.data(), /*resultFormat=*/0);
  }
  int Prepare(PGconn* connection, const std::string& name, const std::string& sql) const {
    return PQsendPrepare(connection, name.c_str(), sql.c_str(), count(), types_.data());
  }
  const std::vector<Oid>& types() const { return types_; }

 private:
  int count() const { return static_cast<int>(texts_.size()); }
  void Add(int64_t value) { Add(kInt8, absl::StrCat(value), 0); }
  void Add(double value) {
    constexpr size_t kMostDigits = 32;
    char text[kMostDigits];
    const auto end = std::to_chars(text, text + kMostDigits, value).ptr;  // the shortest that is exact
    Add(kFloat8, std::string(text, end), 0);
  }
  void Add(const std::string& value) { Add(kText, PostgresText(value), 0); }
  void Add(const SqlBytes& value) { Add(kBytea, value.bytes, 1); }
  void Add(SqlNull) { Add(kAnyType, std::nullopt, 0); }
  void Add(Oid type, std::optional<std::string> text, int format) {
    types_.push_back(type);
    texts_.push_back(std::move(text));
    formats_.push_back(format);
  }

  std::vector<Oid> types_;
  std::vector<std::optional<std::string>> texts_;  // nothing: NULL
  std::vector<const char*> pointers_;
  std::vector<int> lengths_, formats_;
};

absl::StatusOr<PostgresAddress> PostgresAddress::FromUrl(const std::string& url) {
  const absl::Status fault = InvalidInput(
      "the database is not a URL postgresql://USER@HOST/DATABASE; a password belongs into PGPASSWORD or "
      "~/.pgpass");
  if (!url.starts_with("postgresql://") && !url.starts_with("postgres://")) return fault;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), nullptr);
  if (options == nullptr) return fault;
  PostgresAddress address;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option)
    if (option->val != nullptr) address.parameters[option->keyword] = option->val;
  PQconninfoFree(options);
  const auto part = [&](const char* key) {
    const auto found = address.parameters.find(key);
    return found == address.parameters.end() ? "" : found->second;
  };
  address.name = absl::StrCat("postgresql://", part("user"), part("user").empty() ? "" : "@", part("host"),
                              part("port").empty() ? "" : ":", part("port"), "/", part("dbname"));
  const auto usual = [&](const char* key, const char* value) { address.parameters.try_emplace(key, value); };
  usual("connect_timeout", "5");
  usual("application_name", "attune");
  usual("keepalives_idle", "5");
  usual("keepalives_interval", "2");
  usual("keepalives_count", "3");
  usual("tcp_user_timeout", "10000");
  address.parameters["client_encoding"] = "UTF8";
  return address;
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresConnection::Connect(
    const PostgresAddress& address, std::chrono::milliseconds patience) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : address.parameters) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<PostgresConnection> made(new PostgresConnection(address, patience));
  made->connection_ = PQconnectdbParams(keys.data(), values.data(), /*expand_dbname=*/0);
  if (made->connection_ == nullptr) return absl::ResourceExhaustedError("out of memory");
  if (PQstatus(made->connection_) != CONNECTION_OK) {
    const std::string reason = OneLine(PQerrorMessage(made->connection_));
    if (absl::StrContains(reason, "authentication failed") || absl::StrContains(reason, "no password") ||
        absl::StrContains(reason, "pg_hba.conf"))
      return absl::PermissionDeniedError(absl::StrCat(address.name, ": refuses the login (", reason,
                                                      "); give the password in PGPASSWORD or ~/.pgpass"));
    if (absl::StrContains(reason, "does not exist"))
      return absl::FailedPreconditionError(
          absl::StrCat(address.name, ": ", reason, "; make it with createuser and createdb"));
    return absl::UnavailableError(
        absl::StrCat(address.name, ": cannot be reached (", reason, "); is PostgreSQL running there?"));
  }
  PQsetnonblocking(made->connection_, 1);
  // A server that stands still must not hold locks that another one waits for. A statement that is prepared
  // while a table is nearly empty must not read all of it when it has grown.
  constexpr const char* kSettings =
      "SELECT set_config('statement_timeout', ?, false), set_config('lock_timeout', ?, false), "
      "set_config('idle_in_transaction_session_timeout', '10s', false), set_config('search_path', 'public', "
      "false), set_config('default_transaction_isolation', 'read committed', false), "
      "set_config('synchronous_commit', 'on', false), set_config('plan_cache_mode', 'force_custom_plan', "
      "false), set_config('client_min_messages', 'warning', false), set_config('tcp_keepalives_idle', '5', "
      "false), set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', "
      "false)";
  const std::string limit = absl::StrCat(patience.count(), "ms");
  RETURN_IF_ERROR(made->Execute(kSettings, {limit, limit}).status());
  return made;
}

PostgresConnection::~PostgresConnection() { PQfinish(connection_); }

void PostgresConnection::Clear::operator()(pg_result* result) const { PQclear(result); }

bool PostgresConnection::is_lost() const {
  return is_late_ || is_outdated_ || PQstatus(connection_) != CONNECTION_OK;
}

bool PostgresConnection::has_failed() const { return PQtransactionStatus(connection_) == PQTRANS_INERROR; }

bool PostgresConnection::WasEnded() const {
  // A connection that rests gets nothing else.
  pollfd socket = {.fd = PQsocket(connection_), .events = POLLIN, .revents = 0};
  return is_lost() || poll(&socket, 1, 0) != 0;
}

absl::StatusOr<SqlAnswer> PostgresConnection::Execute(const std::string& sql,
                                                      const std::vector<SqlValue>& values) {
  has_collided_ = false;
  if (is_lost()) return Lost("its connection was lost");
  const PostgresParameters parameters(values);
  ASSIGN_OR_RETURN(const std::string name, PreparedName(sql, parameters));
  const int sent = name.empty() ? parameters.Send(connection_, PostgresSql(sql))
                                : parameters.SendPrepared(connection_, name);
  if (sent == 0) return Lost(PQerrorMessage(connection_));
  ASSIGN_OR_RETURN(const Result result, AwaitResult());
  return ReadAnswer(*result);
}

absl::StatusOr<std::string> PostgresConnection::PreparedName(const std::string& sql,
                                                             const PostgresParameters& parameters) {
  const std::string key = absl::StrCat(sql, "\n", absl::StrJoin(parameters.types(), " "));
  const auto found = statements_.find(key);
  if (found == statements_.end()) {
    if (statements_.size() < kMostStatements) statements_.emplace(key, "");
    return "";
  }
  if (!found->second.empty()) return found->second;
  const std::string name = absl::StrCat("attune_", num_prepared_++);
  if (parameters.Prepare(connection_, name, PostgresSql(sql)) == 0) return Lost(PQerrorMessage(connection_));
  RETURN_IF_ERROR(AwaitResult().status());
  found->second = name;
  return name;
}

absl::StatusOr<PostgresConnection::Result> PostgresConnection::AwaitResult() {
  // The database itself gives up earlier.
  const auto end = std::chrono::steady_clock::now() + patience_ + std::chrono::seconds(5);
  for (int left = 1; left != 0;) {
    left = PQflush(connection_);
    if (left < 0) return Lost(PQerrorMessage(connection_));
    if (left > 0) RETURN_IF_ERROR(AwaitSocket(end, /*is_sending=*/true));
  }
  Result first;
  for (;;) {
    while (PQisBusy(connection_) != 0) RETURN_IF_ERROR(AwaitSocket(end, /*is_sending=*/false));
    Result next(PQgetResult(connection_));
    if (next == nullptr) break;
    if (first == nullptr) first = std::move(next);
  }
  if (first == nullptr) return Lost(PQerrorMessage(connection_));
  const ExecStatusType status = PQresultStatus(first.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return Error(*first);
  return first;
}

absl::Status PostgresConnection::AwaitSocket(std::chrono::steady_clock::time_point end, bool is_sending) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
  pollfd socket = {.fd = PQsocket(connection_),
                   .events = static_cast<short>(is_sending ? POLLIN | POLLOUT : POLLIN),
                   .revents = 0};
  if (left <= 0 || poll(&socket, 1, static_cast<int>(left)) == 0) {
    is_late_ = true;
    return Lost("it does not answer");
  }
  return PQconsumeInput(connection_) == 1 ? absl::OkStatus() : Lost(PQerrorMessage(connection_));
}

absl::StatusOr<SqlAnswer> PostgresConnection::ReadAnswer(const pg_result& result) const {
  auto* read = const_cast<PGresult*>(&result);  // libpq takes no const there, and changes nothing
  SqlAnswer answer;
  if (!absl::SimpleAtoi(PQcmdTuples(read), &answer.changed)) answer.changed = 0;
  const int columns = PQnfields(read);
  for (int row = 0; row < PQntuples(read); ++row) {
    std::vector<SqlValue> values;
    for (int column = 0; column < columns; ++column) values.push_back(ValueOf(result, row, column));
    answer.rows.push_back(SqlRow(std::move(values)));
  }
  return answer;
}

absl::Status PostgresConnection::Lost(std::string_view reason) const {
  return absl::UnavailableError(absl::StrCat(address_.name, ": was lost (", OneLine(reason), "); try again"));
}

// https://www.postgresql.org/docs/15/errcodes-appendix.html
absl::Status PostgresConnection::Error(const pg_result& result) {
  const char* field = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
  const std::string_view code = field == nullptr ? "" : field;
  const char* primary = PQresultErrorField(&result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string reason = OneLine(primary == nullptr ? PQerrorMessage(connection_) : primary);
  if (is_lost() || code.empty() || code.starts_with("08") || code.starts_with("57P")) return Lost(reason);
  // https://www.postgresql.org/docs/15/sql-prepare.html: it is planned again by itself, but for other
  // columns.
  constexpr std::string_view kOtherColumns = "0A000", kNotPrepared = "26000";
  is_outdated_ = code == kOtherColumns || code == kNotPrepared;
  if (is_outdated_) return Lost(reason);
  has_collided_ = code.starts_with("40");
  if (has_collided_ || code == "55P03" || code == "57014" || code == "25P03")
    return absl::UnavailableError(
        absl::StrCat(address_.name, ": others kept it locked (", reason, "); try again"));
  if (code == "53100")
    return absl::ResourceExhaustedError(
        absl::StrCat(address_.name, ": cannot grow: its disk is full; free some space and try again"));
  if (code.starts_with("53") || code.starts_with("58"))
    return absl::UnavailableError(
        absl::StrCat(address_.name, ": ", reason, "; see to its server and try again"));
  if (code == "42501" || code == "25006")
    return absl::PermissionDeniedError(
        absl::StrCat(address_.name, ": ", reason, "; its user must own the database"));
  if (code.starts_with("23")) return absl::AlreadyExistsError(absl::StrCat(address_.name, ": ", reason));
  return absl::DataLossError(
      absl::StrCat(address_.name, ": is not a database of attune, or damaged (", reason, ")"));
}

}  // namespace attune
