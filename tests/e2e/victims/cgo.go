// SPDX-License-Identifier: GPL-2.0-or-later

// Calls of the C library's allocator by goroutines whose stacks grow, while
// memory is collected and busy ones are interrupted; C calls back as well.
package main

/*
#include <stdlib.h>

extern void goBack(int depth);
extern void goGrow(void);

static void *take(int size)
{
	return malloc(16 + size % 200);
}

static void call_back(int depth)
{
	void *volatile block = malloc(3000 + depth);

	free(block);
	goBack(depth);
}

static __attribute__((noinline)) void *take_late(int size)
{
	void *volatile block = malloc(5000 + size);

	return block;
}

// What frame pointers lead to isn't there any more when that has grown.
static void take_behind(int size)
{
	goGrow();
	free(take_late(size));
}

static void take_elsewhere(int size)
{
	void *volatile block = malloc(6000 + size);

	free(block);
}
*/
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"
)

//export goBack
func goBack(depth C.int) {
	C.free(C.take(depth))
	if depth > 0 {
		C.call_back(depth - 1)
	}
}

//go:noinline
func tall(n int) int {
	var room [2000]byte
	room[n] = 1
	if n == 0 {
		return int(room[1])
	}
	return tall(n-1) + int(room[n])
}

//export goGrow
func goGrow() {
	if tall(40) != 40 {
		os.Exit(1)
	}
	apart(stranger)
	C.free(C.take_late(7))
}

func apart(act func()) {
	done := make(chan bool)
	go func() {
		act()
		done <- true
	}()
	<-done
}

//go:noinline
func late() {
	C.free(deep(19))
	C.take_behind(9)
}

// Its frames are as large, and may lie where late's were.
//
//go:noinline
func stranger() {
	C.free(deep(19))
	C.take_elsewhere(9)
}

//go:noinline
func deep(n int) unsafe.Pointer {
	var room [300]byte
	room[n] = 1
	if n == 0 {
		return C.take(C.int(room[1]))
	}
	block := deep(n - 1)
	if room[n] != 1 {
		os.Exit(1)
	}
	return block
}

//go:noinline
func spin(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i & n
	}
	return sum
}

var garbage [4][]byte

func work(id int) {
	for depth := 1; depth < 20; depth += 6 {
		C.free(deep(depth))
	}
	text := C.CString("text")
	C.free(unsafe.Pointer(text))
	C.call_back(2)
	apart(late)
	garbage[id] = make([]byte, 1000+spin(1000)%7)
}

func crowd(rounds int, enough *int32) (made int64) {
	var crew sync.WaitGroup
	for id := 0; id < 4; id++ {
		crew.Add(1)
		go func(id int) {
			defer crew.Done()
			for i := 0; i < rounds || rounds == 0; i++ {
				if atomic.LoadInt32(enough) != 0 {
					break
				}
				// Each on a goroutine whose stack is small.
				done := make(chan bool)
				go func() {
					work(id)
					done <- true
				}()
				<-done
				atomic.AddInt64(&made, 1)
				if i%200 == 0 {
					runtime.GC()
				}
			}
		}(id)
	}
	crew.Wait()
	return made
}

func main() {
	var enough int32
	rounds, _ := strconv.Atoi(os.Args[1])
	lines := bufio.NewReader(os.Stdin)
	for i := 0; i < 8; i++ {
		C.free(C.malloc(C.size_t(500 + i)))
	}
	fmt.Println("ready")
	if rounds == 0 {
		go func() {
			_, _ = lines.ReadString('\n')
			atomic.StoreInt32(&enough, 1)
		}()
	}
	fmt.Println("rounds", crowd(rounds, &enough))
	os.Exit(7)
}
