/* SPDX-License-Identifier: GPL-2.0-or-later
 * needs: -lsqlite3
 *
 * Statements that look for users are never finalised, those that insert them
 * are.
 */
#include "server.h"

#include <sqlite3.h>

static void insert_user(sqlite3 *db, unsigned int number)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO users VALUES (?)",
			       -1, &stmt, NULL))
		return;
	sqlite3_bind_int(stmt, 1, (int)number % 50);
	sqlite3_step(stmt);
	sqlite3_finalize(stmt);
}

static int find_user(sqlite3 *db, unsigned int number)
{
	sqlite3_stmt *stmt;
	int found;

	if (sqlite3_prepare_v2(db, "SELECT id FROM users WHERE id = ?",
			       -1, &stmt, NULL))
		return 0;
	sqlite3_bind_int(stmt, 1, (int)number % 70);
	found = sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_reset(stmt);
	return found;
}

int main(int argc, char **argv)
{
	sqlite3 *db;

	serve_for(argc, argv);
	sqlite3_open(":memory:", &db);
	sqlite3_exec(db, "CREATE TABLE users (id INTEGER PRIMARY KEY)", NULL,
		     NULL, NULL);
	for (unsigned int i = 0; serving(120); i++) {
		insert_user(db, i);
		find_user(db, i);
	}
	return 0;
}
