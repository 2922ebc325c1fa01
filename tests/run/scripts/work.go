// Goroutines by the hundred, preemption of loops without calls, garbage collection, growing stacks, faults as panics, signals, children,
// a web server and its clients.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

type node struct {
	left, right *node
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func (n *node) count() int {
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

func deep(n int) int {
	var frame [64]int
	if n == 0 {
		return 0
	}
	frame[n%64] = n
	return deep(n-1) + frame[n%64]
}

func channels() {
	numbers := make(chan int)
	var all sync.WaitGroup
	for w := 0; w < 100; w++ {
		all.Add(1)
		go func(w int) {
			defer all.Done()
			for i := 0; i < 100; i++ {
				numbers <- w*1000 + i
			}
		}(w)
	}
	go func() { all.Wait(); close(numbers) }()
	count, sum := 0, 0
	for n := range numbers {
		count++
		sum += n
	}
	fmt.Println("channels:", count, sum)
}

// One processor, and a loop that never asks for the scheduler: the others run because a signal takes it away.
func preemption() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	done := make(chan int)
	go func() {
		n := 0
		for i := 0; i < 600000000; i++ {
			n += i & 3
		}
		done <- n
	}()
	turns := 0
	for n := 0; n == 0; {
		select {
		case n = <-done:
			fmt.Println("preemption:", n, turns > 0)
		default:
			turns++
			time.Sleep(time.Millisecond)
		}
	}
}

func memory() {
	debug.SetGCPercent(20)
	total := make(chan int)
	for w := 0; w < 4; w++ {
		go func() {
			n := 0
			for i := 0; i < 10; i++ {
				n += tree(12).count()
			}
			total <- n
		}()
	}
	n := 0
	for w := 0; w < 4; w++ {
		n += <-total
	}
	fmt.Println("memory:", n, deep(50000))
}

func caught(what string, f func()) {
	defer func() { fmt.Println(what+":", recover()) }()
	f()
}

func faults() {
	var none *node
	zero, list := 0, []int{1}
	caught("nil", func() { fmt.Println(none.left) })
	caught("divide", func() { fmt.Println(1 / zero) })
	caught("index", func() { fmt.Println(list[zero+5]) })
	page, _ := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	debug.SetPanicOnFault(true)
	defer func() { fmt.Println("read-only:", recover() != nil) }()
	page[0] = 1
}

func signals() {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, syscall.SIGUSR1)
	for i := 0; i < 100; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-arrived
	}
	fmt.Println("signals")
}

func children() {
	for i := 0; i < 3; i++ {
		out, err := exec.Command("echo", "child", fmt.Sprint(i)).CombinedOutput()
		fmt.Print(string(out), err, "\n")
	}
	_, err := exec.Command("/nowhere/at/all").Output()
	fmt.Println(err, exec.Command("sh", "-c", "kill -9 $$").Run())
}

func web() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "page %s", r.URL.Path) }))
	lengths := make(chan int)
	for i := 0; i < 100; i++ {
		go func(i int) {
			answer, err := http.Get(fmt.Sprintf("http://%s/%d", listener.Addr(), i))
			if err != nil {
				lengths <- -1000000
				return
			}
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			lengths <- len(text)
		}(i)
	}
	total := 0
	for i := 0; i < 100; i++ {
		total += <-lengths
	}
	fmt.Println("web:", total)
}

func main() {
	channels()
	preemption()
	memory()
	faults()
	signals()
	children()
	web()
	panic("the end")
}
