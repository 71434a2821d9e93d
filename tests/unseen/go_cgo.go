// SPDX-License-Identifier: GPL-2.0-or-later
//
// C strings made for greetings aren't freed by Go, those of replies are.
package main

/*
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) char *new_greeting(void)
{
	char *text = strdup("the greeting from C");

	text[0] = 'T';
	return text;
}

static __attribute__((noinline)) char *new_reply(void)
{
	char *text = strdup("the reply from C");

	text[0] = 'T';
	return text;
}

static void drop_reply(char *reply)
{
	free(reply);
}
*/
import "C"

import (
	"os"
	"strconv"
	"time"
)

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	ends := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for time.Now().Before(ends) {
		C.new_greeting()
		C.drop_reply(C.new_reply())
		time.Sleep(100 * time.Millisecond)
	}
}
