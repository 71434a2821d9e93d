<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Asks the server at a socket.

function sales($db, $wanted)
{
	$result = $db->query("SELECT sleep(1)");
	$row = $result->fetch_row();
	$table = array("first quarter" => $row, "second quarter" => 2);
	return $table[$wanted];
}

$db = new mysqli("localhost", "root", "", "", 0, $argv[1]);
while (true) {
	sales($db, $argv[2]);
	echo "round\n";
}
