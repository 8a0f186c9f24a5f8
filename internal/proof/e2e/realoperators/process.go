package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
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

// freePort returns a port of loopback that is free now.
func freePort() (string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// start starts the binary. Its log is appended to the file.
func (o *operator) start(binary, kubeconfig, log string) (*process, error) {
	metrics, err := freePort()
	if err != nil {
		return nil, err
	}
	health, err := freePort()
	if err != nil {
		return nil, err
	}
	args, env := o.settings(metrics, health)
	p := &process{cmd: exec.Command(binary, args...), metrics: "127.0.0.1:" + metrics, ended: make(chan struct{})}
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

// stop ends the process, and kills it if it does not end.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(40 * time.Second): // controller-runtime grants its runnables 30 seconds
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// usage has the CPU time of a process so far, and its resident memory in bytes, now and at its peak.
type usage struct {
	cpu            time.Duration
	resident, peak int64
}

// used reads the usage of the process from /proc.
func (p *process) used() (u usage, err error) {
	directory := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	stat, err := os.ReadFile(directory + "stat")
	if err != nil {
		return u, err
	}
	status, err := os.ReadFile(directory + "status")
	if err != nil {
		return u, err
	}
	return usageOf(string(stat), string(status))
}

var (
	memories = regexp.MustCompile(`(?s)VmHWM:\s+(\d+) kB.*VmRSS:\s+(\d+) kB`)
	times    = regexp.MustCompile(`\) \S( \S+){10} (\d+) (\d+) `) // after the name, utime and stime are fields 12 and 13
)

func usageOf(stat, status string) (usage, error) {
	memory, cpu := memories.FindStringSubmatch(status), times.FindStringSubmatch(stat)
	if memory == nil || cpu == nil {
		return usage{}, fmt.Errorf("no times or memories of a process in %q and %q", stat, status)
	}
	var n [4]int64
	for i, text := range []string{memory[1], memory[2], cpu[2], cpu[3]} {
		var err error
		if n[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return usage{}, err
		}
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	return usage{time.Duration(n[2]+n[3]) * tick, n[1] << 10, n[0] << 10}, nil
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
	cancel context.CancelFunc
	done   sync.WaitGroup

	// The fields below are set when done.
	starts int
	cpu    time.Duration
}

func (o *operator) keep(giveUp context.CancelCauseFunc, binary, kubeconfig, log string) *keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &keeper{cancel: cancel}
	k.done.Go(func() {
		for ctx.Err() == nil {
			if k.starts++; k.starts > 50 {
				giveUp(errors.New("the operator ended 50 times: see its log"))
				return
			}
			p, err := o.start(binary, kubeconfig, log)
			if err != nil {
				giveUp(err)
				return
			}
			select {
			case <-p.ended:
			case <-ctx.Done():
				p.stop()
			}
			k.cpu += p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	})
	return k
}

// stop ends the operator and waits for it.
func (k *keeper) stop() {
	k.cancel()
	k.done.Wait()
}
