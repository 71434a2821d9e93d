// SPDX-License-Identifier: GPL-2.0-or-later

// Calls of its own functions, on goroutines that move between threads and on
// stacks that grow.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

//go:noinline
func plain(i int) int {
	return i + 1
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n-1) + 1
}

//go:noinline
func growing(n int) int {
	var room [512]byte
	room[n%512] = 1
	if n == 0 {
		return int(room[0])
	}
	if n%10 == 0 {
		runtime.Gosched()
	}
	return growing(n-1) + int(room[n%512]) - 1
}

func main() {
	var group sync.WaitGroup
	wrong := false

	for i := 0; i < 100; i++ {
		wrong = wrong || plain(i) != i+1
	}
	wrong = wrong || deep(200) != 200
	for g := 0; g < 4; g++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if growing(100) != 1 {
				wrong = true
			}
		}()
	}
	group.Wait()
	fmt.Println("count MAIN plain 100")
	fmt.Println("count MAIN deep 201")
	fmt.Println("count MAIN growing 404")
	if wrong {
		os.Exit(1)
	}
	os.Exit(7)
}
