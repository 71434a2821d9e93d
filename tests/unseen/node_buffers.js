// SPDX-License-Identifier: GPL-2.0-or-later
//
// Pushes a Buffer for each message to an array that nobody empties.
'use strict';
const ends = Date.now() + 1000 * Number(process.argv[2]);
const messages = [];

function receive() {
	messages.push(Buffer.alloc(20000, 'x'));
	if (Date.now() < ends)
		setTimeout(receive, 60);
}

receive();
