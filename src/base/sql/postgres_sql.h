// Says in PostgreSQL's words what stores say in SQL that SQLite knows.
#ifndef ATTUNE_BASE_SQL_POSTGRES_SQL_H_
#define ATTUNE_BASE_SQL_POSTGRES_SQL_H_

#include <string>
#include <string_view>

namespace attune {

// The statement with $1, $2, … for its parameters, and, if it makes or changes a table, with PostgreSQL's
// types. Texts are compared byte by byte, as SQLite does. Strings and names in quotes stay as they are.
std::string PostgresSql(std::string_view sql);

// The text in UTF-8, with U+FFFD in the place of each byte that is none, and of 0.
std::string PostgresText(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_POSTGRES_SQL_H_
