package controlplane

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// startEtcd starts etcd and waits until it serves.
func (p *ControlPlane) startEtcd(ctx context.Context) error {
	return onFreePort(func(port string) error {
		data, err := os.MkdirTemp(p.dir, "etcd-")
		if err != nil {
			return fmt.Errorf("start etcd: %w", err)
		}
		const peer = "http://127.0.0.1:0" // this etcd has no peers, so any port will do
		name := "etcd-" + rand.Text()
		url := "http://127.0.0.1:" + port
		s, err := p.launch("etcd",
			"--name="+name,
			"--data-dir="+data,
			"--listen-client-urls="+url,
			"--advertise-client-urls="+url,
			"--listen-peer-urls="+peer,
			"--initial-advertise-peer-urls="+peer,
			"--initial-cluster="+name+"="+peer,
			"--unsafe-no-fsync", // the data need not outlive the machine
			"--log-level=warn",
		)
		if err != nil {
			return err
		}
		if err := s.await(ctx, func(ctx context.Context) error { return checkEtcd(ctx, url, name) }); err != nil {
			_ = s.stop() // has nothing to add to err
			return err
		}
		p.servers = append(p.servers, s)
		p.Etcd = url
		return nil
	})
}

// checkEtcd returns nil if the etcd at url serves and is the one with that name. At first another etcd may answer: it
// took the port before ours, and ours has not noticed this yet.
func checkEtcd(ctx context.Context, url, name string) error {
	// A linearized read, so it waits until the member leads.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v3/cluster/member/list",
		strings.NewReader(`{"linearizable":true}`))
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", req.URL.Path, resp.Status)
	}
	type member struct {
		Name string `json:"name"`
	}
	var list struct {
		Members []member `json:"members"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return fmt.Errorf("%s: %w", req.URL.Path, err)
	}
	if !slices.Contains(list.Members, member{name}) {
		return fmt.Errorf("%s: members are %v, not %q", req.URL.Path, list.Members, name)
	}
	return nil
}
