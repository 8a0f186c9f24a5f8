package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one run of an operator's binary.
type process struct {
	cmd     *exec.Cmd
	log     *os.File
	metrics string // the address of its metrics
	began   time.Time
	ended   chan struct{}
	err     error // how it ended; set when ended is closed
}

// freeAddress returns an address on loopback that is free now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// start starts the binary. Its log is appended to the file.
func (o *operator) start(binary, kubeconfig, log string) (*process, error) {
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	health, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args, env := o.settings(metrics, health)
	p := &process{cmd: exec.Command(binary, args...), metrics: metrics, ended: make(chan struct{})}
	p.cmd.Env = append([]string{"KUBECONFIG=" + kubeconfig, "HOME=" + os.TempDir(), "TMPDIR=" + os.TempDir()}, env...)
	p.log, err = os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		_ = p.log.Close()
		return nil, fmt.Errorf("start %s: %w", o.name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		_ = p.log.Close()
		close(p.ended)
	}()
	return p, nil
}

// stop ends the process, kills it if it does not end, and returns what it used.
func (p *process) stop() usage {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(40 * time.Second): // controller-runtime grants its runnables 30 seconds
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return p.used()
}

// usage is what a process used in its life.
type usage struct {
	cpu  time.Duration
	peak int64 // resident memory, in bytes
}

func (p *process) used() usage {
	state := p.cmd.ProcessState
	u := usage{cpu: state.UserTime() + state.SystemTime()}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.peak = int64(r.Maxrss) << 10 // Linux counts in KiB
	}
	return u
}

// now returns the CPU time so far and the resident memory, from /proc.
func (p *process) now() (cpu time.Duration, resident int64, err error) {
	pid := p.cmd.Process.Pid
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 22 {
		return 0, 0, fmt.Errorf("/proc/%d/stat has %d fields after the name", pid, len(fields))
	}
	var numbers [3]int64
	for i, field := range []int{11, 12, 21} { // utime, stime and rss; see proc_pid_stat(5)
		if numbers[i], err = strconv.ParseInt(fields[field], 10, 64); err != nil {
			return 0, 0, err
		}
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	return time.Duration(numbers[0]+numbers[1]) * tick, numbers[2] * int64(os.Getpagesize()), nil
}

// metric returns the sum of the samples of a metric that have all of the labels.
func (p *process) metric(ctx context.Context, name string, labels ...string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	return sumOf(string(text), name, labels...), nil
}

func sumOf(text, name string, labels ...string) float64 {
	sum := 0.0
lines:
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, name+"{")
		if !found {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue lines
			}
		}
		at := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		value, err := strconv.ParseFloat(strings.TrimSpace(line)[at+1:], 64)
		if err == nil {
			sum += value
		}
	}
	return sum
}

// keeper starts an operator again whenever it ends, as a kubelet does, up to 50 times. Then it gives up.
type keeper struct {
	stopping context.CancelFunc
	done     sync.WaitGroup

	// The fields below are set when done.
	restarts int
	total    usage
}

func (o *operator) keep(giveUp context.CancelCauseFunc, binary, kubeconfig, log string) *keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &keeper{stopping: cancel}
	k.done.Go(func() {
		for {
			p, err := o.start(binary, kubeconfig, log)
			if err != nil {
				giveUp(err)
				return
			}
			var u usage
			select {
			case <-p.ended:
				u = p.used()
			case <-ctx.Done():
				u = p.stop()
			}
			k.total.cpu += u.cpu
			k.total.peak = max(k.total.peak, u.peak)
			if ctx.Err() != nil {
				return
			}
			if k.restarts++; k.restarts > 50 {
				giveUp(errors.New("the operator ended more than 50 times: see its log"))
				return
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
		}
	})
	return k
}

// stop ends the operator and waits for it.
func (k *keeper) stop() {
	k.stopping()
	k.done.Wait()
}
