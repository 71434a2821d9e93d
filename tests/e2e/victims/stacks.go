// SPDX-License-Identifier: GPL-2.0-or-later
// A goroutine's stack: it has been moved by the time that probeHere is called.
package main

//go:noinline
func probeHere(n int) int {
	return n + 1
}

//go:noinline
func recurse(depth int) int {
	var room [100]int
	room[depth] = depth
	if depth == 0 {
		return probeHere(room[0])
	}
	return recurse(depth-1) + room[depth]
}

//go:noinline
func worker(done chan int) {
	done <- recurse(50)
}

func main() {
	done := make(chan int)
	go worker(done)
	println(<-done)
}
