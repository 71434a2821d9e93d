<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Says before each getppid() where it stands, as PHP has it: outwards.

function here()
{
	$words = array("here");
	foreach (debug_backtrace() as $frame) {
		// What a function in C has called has no place there.
		if (isset($frame["file"]))
			$words[] = $frame["file"] . ":" . $frame["line"];
	}
	echo implode("\t", $words), "\n";
}

function deep($n)
{
	if ($n)
		return deep($n - 1);
	here(); posix_getppid();
}

class Thing implements Countable
{
	public function __get($name) { here(); posix_getppid(); }

	public function count(): int
	{
		here(); posix_getppid();
		return 3;
	}

	public function __toString()
	{
		here(); posix_getppid();
		return "thing";
	}
}

function generate()
{
	here(); posix_getppid();
	yield 1;
	here(); posix_getppid();
}

function everything($others)
{
	here(); posix_getppid();
	deep(3);
	$list = array(2, 1);
	usort($list,
		function ($a, $b) {
			here(); posix_getppid();
			return $a <=> $b; });
	foreach (generate() as $each) {
		here(); posix_getppid();
	}
	$thing = new Thing;
	$thing->no_such;
	count(
		$thing);
	"$thing";
	eval("\n\nhere(); posix_getppid();");
	try {
		throw new Exception;
	} catch (Exception $e) {
		here(); posix_getppid();
	} finally {
		here(); posix_getppid();
	}
	foreach ($others as $other)
		include $other;
}

everything(array_slice($argv, 1));
