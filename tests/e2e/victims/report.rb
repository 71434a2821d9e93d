# SPDX-License-Identifier: GPL-2.0-or-later
# Asks the server at a socket.
require "mysql2"

def sales(db)
  db.query("SELECT sleep(1)").to_a
end

STDOUT.sync = true
db = Mysql2::Client.new(socket: ARGV[0], username: "root")
loop do
  sales(db)
  puts "round"
end
