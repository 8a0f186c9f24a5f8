package main

// This file runs one process for each sample; the sides take turns.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/canned"
	"github.com/bowline-go/bowline/internal/proof/bench/managed"
	"github.com/bowline-go/bowline/internal/proof/bench/report"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// The sides.
const (
	clientgo = "client-go"
	bowline  = "Bowline"
)

// contender is a side with one setting: the program that measures it and the environment that the setting needs.
type contender struct {
	side, setting string
	program       string
	env           []string
}

const streamOff, streamOn = "KUBE_FEATURE_WatchListClient=false", "KUBE_FEATURE_WatchListClient=true"

// contenders are the sides of each job, in the order in which they take turns. If it matters how a list is read, each
// side has several settings.
var contenders = map[string][]contender{
	"sync":       lists("bowline"),
	"project":    lists("projection"),
	"relist":     lists("bowline"),
	"watch":      pair("bowline"),
	"slow":       pair("bowline"),
	"micro":      pair("bowline"),
	"get":        pair("bowline"),
	"contention": pair("bowline"),
	"patch":      pair("bowline"),

	// The part of a name after the slash is the collection of the server; see canned.Collections.
	"sync/pods-1":                        pair("bowline"),
	"sync/pods-20":                       pair("bowline"),
	"sync/pods-1000":                     pair("bowline"),
	"sync/pods-unique":                   pair("bowline"),
	"sync/pods-real":                     pair("bowline"),
	"sync-protobuf/pods-real":            pair("bowline"),
	"sync-deployments/deployments":       pair("bowline"),
	"sync-secrets/secrets":               pair("bowline"),
	"sync-custom/custom":                 pair("bowline"),
	"sync-compact/pods-real":             compacts,
	"sync-compact-protobuf/pods-real":    compacts,
	"manager-compact/pods-real":          managers,
	"manager-compact-protobuf/pods-real": managers,
	"manager/pods-real":                  managers,
	"manager-protobuf/pods-real":         managers,

	"sync-protobuf":    lists("bowline"),
	"project-protobuf": lists("projection"),
	"watch-protobuf":   pair("bowline"),
	"watch-projection": pair("projection"),

	"work": {
		{clientgo, "rate limiting", "clientgo", nil},
		{bowline, "", "bowline", nil},
		{clientgo, "plain", "clientgo", nil},
	},
	"priorities": {{clientgo, "", "controllerruntime", nil}, {bowline, "", "bowline", nil}},
	"groups":     {{clientgo, "rate limiting", "clientgo", nil}, {bowline, "", "bowline", nil}},

	"controller":       controllers("projection"),
	"controller-typed": controllers("bowline"),
	"failover":         {{clientgo, "", "clientgo", nil}, {bowline, "", "bowline", nil}},
	"own-write":        {{clientgo, "", "controllerruntime", nil}, {bowline, "", "bowline", nil}},

	"manager":                managers,
	"manager-protobuf":       managers,
	"manager-watch":          managers,
	"manager-watch-protobuf": managers,
	"manager-read":           managers,

	"manager-fields":                fields,
	"manager-fields-protobuf":       fields,
	"manager-fields-watch":          fields,
	"manager-fields-watch-protobuf": fields,

	"exec":      {{clientgo, "", "clientgo", nil}, {bowline, "", "bowline", nil}},
	"exec-idle": {{clientgo, "", "clientgo", nil}, {bowline, "", "bowline", nil}},
}

// clusters has the jobs whose samples each start a cluster, with its arguments. The others read from the canned server.
var clusters = map[string]func(sample.Params) []string{
	"failover":  func(sample.Params) []string { return nil },
	"own-write": func(p sample.Params) []string { return []string{"-lag", p.Lag.String()} },
}

// lists are the sides with each way to read a list.
func lists(program string) []contender {
	var all []contender
	for _, setting := range []string{"pages", "whole", "stream"} {
		env := streamOff
		if setting == "stream" {
			env = streamOn
		}
		all = append(all, contender{clientgo, setting, "clientgo", []string{env}}, contender{bowline, setting, program, nil})
	}
	return all
}

// collection splits the name of a job into the name that the sides know and the collection that they read.
func collection(job string) (name, objects string) {
	if name, objects, found := strings.Cut(job, "/"); found {
		return name, objects
	}
	return job, canned.Plain
}

// controllers are the sides with the ways to read a list that controller-runtime has.
func controllers(program string) []contender {
	return []contender{
		{clientgo, "pages", "controllerruntime", []string{streamOff}},
		{bowline, "pages", program, nil},
		{clientgo, "stream", "controllerruntime", []string{streamOn}},
		{bowline, "stream", program, nil},
	}
}

// managers are the same manager of controller-runtime, with its cache and with ours, and with the defaults of both.
var managers = []contender{{clientgo, "", "controllerruntime", nil}, {bowline, "", "ctrlcache", nil}}

// fields are the same manager, which reads two fields of pods: with the whole pods of controller-runtime's cache, with
// its transform, and with a projection of ours.
var fields = []contender{
	{clientgo, managed.Whole, "controllerruntime", nil}, {clientgo, "transform", "controllerruntime", nil}, {bowline, "", "ctrlcache", nil},
}

// compacts are the sides, of which Bowline's has a compact cache.
var compacts = []contender{{clientgo, "pages", "clientgo", []string{streamOff}}, {bowline, "compact", "bowline", nil}}

// pair are the sides, once each.
func pair(program string) []contender {
	return []contender{{clientgo, "pages", "clientgo", []string{streamOff}}, {bowline, "pages", program, nil}}
}

// want returns the exact counts of a job. A sample with other counts is invalid.
func want(job string, p sample.Params) map[string]int {
	job, objects := collection(job)
	pods := map[string]int{"pods": p.Pods, "running": p.Pods - p.Pods/10, "nodes": min(p.Pods, canned.Nodes)}
	if objects == "pods-real" {
		pods = map[string]int{"pods": p.Pods}
	}
	switch job {
	case "sync-deployments", "sync-secrets", "sync-custom":
		return map[string]int{"pods": p.Pods}
	case "sync", "project", "sync-protobuf", "project-protobuf", "manager", "manager-protobuf",
		"sync-compact", "sync-compact-protobuf", "manager-compact", "manager-compact-protobuf",
		"manager-fields", "manager-fields-protobuf":
		return pods
	case "relist":
		pods["added"] = p.Pods
		return pods
	case "manager-read":
		return map[string]int{"benchmarks": 4}
	case "watch", "watch-protobuf", "watch-projection", "manager-watch", "manager-watch-protobuf",
		"manager-fields-watch", "manager-fields-watch-protobuf":
		pods["applied"], pods["final"] = p.Events, min(p.Events, p.Pods)
		return pods
	case "slow":
		return map[string]int{"final": p.Keys}
	case "contention":
		return map[string]int{"wrong lists": 0}
	case "work", "priorities", "groups":
		return map[string]int{"wrong": 0}
	case "controller", "controller-typed":
		return map[string]int{"reconciled": p.Pods, "wrong": 0}
	case "failover":
		return map[string]int{"failovers": p.Elections, "early": 0}
	case "own-write":
		return map[string]int{"read": len(sample.WriterWorkers) * p.Written, "stale": 0}
	case "patch":
		return map[string]int{"checked": 7}
	case "exec":
		return map[string]int{"stdout": p.Streamed, "stdin": p.Streamed}
	case "exec-idle":
		return map[string]int{"ended": p.Sessions}
	}
	return nil
}

// outcome holds the results of a contender: all samples, and the medians of their figures.
type outcome struct {
	Side, Job string
	Setting   string `json:",omitempty"`
	Settings  string
	Asked     string `json:",omitempty"` // the requests of a sample
	Samples   []map[string]float64
	Medians   map[string]float64
}

// bench measures against one server.
type bench struct {
	dir      string // of the programs
	params   sample.Params
	progress io.Writer
}

// measure takes the samples of a job. In each round the contenders take turns, and every other round goes through them
// backwards.
func (b *bench) measure(ctx context.Context, job string, o options, limit budget) (m measured, err error) {
	if !limit.allows(0) {
		return measured{}, nil
	}
	m.load[0] = report.Load()
	if job == "hello" {
		m.rounds = max(o.builds, 1)
		m.outcomes, err = b.hello(ctx, o.builds)
		m.load[1] = report.Load()
		return m, err
	}
	if _, objects := collection(job); objects != canned.Plain {
		own := *b
		own.params.Pods = canned.Count(objects, b.params.Pods)
		url, stop, err := startServer(ctx, b.dir, "server", "-pods", fmt.Sprint(b.params.Pods), "-objects", objects)
		if err != nil {
			return measured{}, err
		}
		own.params.Server, b = url, &own
		defer func() { err = errors.Join(err, stop()) }()
	}
	turns := contenders[job]
	for _, c := range turns {
		m.outcomes = append(m.outcomes, &outcome{Side: c.side, Job: job, Setting: c.setting})
	}
	m.rounds, err = limit.repeat(o.rounds, func(round int) error {
		for i := range turns {
			if round%2 == 1 {
				i = len(turns) - 1 - i
			}
			fmt.Fprintf(b.progress, "round %d of %d: %s, %s %s\n", round+1, o.rounds, job, turns[i].side, turns[i].setting)
			if err := b.add(ctx, job, turns[i], m.outcomes[i]); err != nil {
				return fmt.Errorf("%s: %w", turns[i].side, err)
			}
		}
		return nil
	})
	if err != nil {
		return measured{}, err
	}
	for _, o := range m.outcomes {
		o.Medians = medians(o.Samples)
	}
	m.load[1] = report.Load()
	return m, nil
}

// add takes a sample of a contender, and adds it to its outcome.
func (b *bench) add(ctx context.Context, job string, c contender, o *outcome) error {
	r, err := b.sample(ctx, job, c)
	if err != nil {
		return err
	}
	o.Settings, o.Samples = r.Settings, append(o.Samples, r.Figures)
	answer, err := b.reset(ctx)
	if len(contenders[job]) > 3 { // the job is about lists
		o.Asked = answer.Asked
	}
	return err
}

func medians(samples []map[string]float64) map[string]float64 {
	m := map[string]float64{}
	for key := range samples[0] {
		m[key] = report.MedianOf(samples, func(s map[string]float64) float64 { return s[key] })
	}
	return m
}

// sample runs one process. It does not inherit variables of the environment that would change how Go or client-go
// behave.
func (b *bench) sample(ctx context.Context, job string, c contender) (r sample.Report, err error) {
	p := b.params
	p.Setting = c.setting
	if args, found := clusters[job]; found {
		url, stop, err := startServer(ctx, b.dir, "cluster", args(p)...)
		if err != nil {
			return sample.Report{}, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		p.Server = url
	}
	params, err := json.Marshal(p)
	if err != nil {
		return sample.Report{}, err
	}
	name, _ := collection(job)
	cmd := exec.CommandContext(ctx, filepath.Join(b.dir, c.program), "-job", name, "-params", string(params))
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "KUBE") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, c.env...)
	cmd.Stderr = b.progress
	out, err := cmd.Output()
	if err != nil {
		return sample.Report{}, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return sample.Report{}, fmt.Errorf("read the report: %w", err)
	}
	for name, n := range want(job, p) {
		if got, found := r.Counts[name]; !found || got != n {
			return sample.Report{}, fmt.Errorf("it counted %v, want %s to be %d", r.Counts, name, n)
		}
	}
	return r, nil
}

// reset resets the server, after the last process has left it.
func (b *bench) reset(ctx context.Context) (canned.Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.params.Server+"/control/reset", nil)
	if err != nil {
		return canned.Answer{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return canned.Answer{}, err
	}
	defer response.Body.Close()
	var answer canned.Answer
	return answer, json.NewDecoder(response.Body).Decode(&answer)
}

// startServer starts a server, the canned one or the cluster; stop ends it.
func startServer(ctx context.Context, dir, program string, args ...string) (url string, stop func() error, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, program), args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	url, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("read the URL of the server: %w", err), stop())
	}
	return strings.TrimSpace(url), stop, nil
}

// hellos are the programs that list pods.
var hellos = []builds.Program{{Name: clientgo, Path: "./hello/clientgo"}, {Name: bowline, Path: "./hello/bowline"}}

// hello builds these programs, cold in each round. It makes each program list the pods once, to show that they do the
// same.
func (b *bench) hello(ctx context.Context, rounds int) ([]*outcome, error) {
	results, err := builds.Measure(ctx, b.dir, hellos, rounds, b.progress)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(b.dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte("apiVersion: v1\nkind: Config\ncurrent-context: canned\n"+
		"clusters: [{name: canned, cluster: {server: \""+b.params.Server+"\"}}]\nusers: [{name: nobody, user: {}}]\n"+
		"contexts: [{name: canned, context: {cluster: canned, user: nobody}}]\n"), 0o600); err != nil {
		return nil, err
	}
	var outcomes []*outcome
	for _, r := range results {
		out, err := builds.Run(ctx, nil, r.Binary, "-kubeconfig", kubeconfig)
		if err != nil {
			return nil, err
		}
		if want := fmt.Sprintf("pods: %d\n", b.params.Pods); !strings.HasSuffix(string(out.Stdout), want) {
			return nil, fmt.Errorf("run hello of %s: its output does not end in %q", r.Name, want)
		}
		o := &outcome{Side: r.Name, Job: "hello", Settings: "-ldflags='-s -w'", Medians: map[string]float64{
			"modules": float64(r.Modules), "binary": float64(r.Size),
		}}
		if rounds > 0 {
			o.Medians["build"] = r.Wall.Seconds()
		}
		outcomes = append(outcomes, o)
	}
	_, err = b.reset(ctx)
	return outcomes, err
}
