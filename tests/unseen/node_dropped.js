// SPDX-License-Identifier: GPL-2.0-or-later
//
// Buffers are kept in a queue of fifty; the others are left to the garbage
// collector, which runs several times in a minute.
'use strict';
const ends = Date.now() + 1000 * Number(process.argv[2]);
const queue = [];

function receive() {
	for (let i = 0; i < 10; i++) {
		queue.push(Buffer.alloc(100000, 'x'));
		if (queue.length > 50)
			queue.shift();
	}
	if (Date.now() < ends)
		setTimeout(receive, 30);
}

receive();
