# SPDX-License-Identifier: GPL-2.0-or-later
# Asks the server at a socket.
use strict;
use warnings;
use DBI;

sub sales {
	my ($db) = @_;
	my $statement = $db->prepare("SELECT sleep(1)");
	$statement->execute();
	return $statement->fetchall_arrayref();
}

$| = 1;
my $db = DBI->connect("DBI:mysql:mysql_socket=$ARGV[0]", "root", "",
		      { RaiseError => 1 });
while (1) {
	sales($db);
	print "round\n";
}
