package version

import (
	"runtime/debug"
	"testing"
)

func TestOfFindsTheVersionOfAProgram(t *testing.T) {
	mod := func(path, version string) *debug.Module { return &debug.Module{Path: path, Version: version} }
	replaced := func(version string) *debug.Module {
		m := mod(module, "v1.2.3")
		m.Replace = mod("../elsewhere", version)
		return m
	}
	for _, test := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"a dependency", &debug.BuildInfo{Main: *mod("example.com/a", "v9.0.0"), Deps: []*debug.Module{mod("example.com/b", "v8.0.0"), mod(module, "v1.2.3")}}, "v1.2.3"},
		{"a pseudo-version", &debug.BuildInfo{Deps: []*debug.Module{mod(module, "v0.0.0-20260102030405-abcdef012345")}}, "v0.0.0-20260102030405-abcdef012345"},
		{"a changed working copy", &debug.BuildInfo{Main: *mod(module, "v1.2.4-0.20260102030405-abcdef012345+dirty")}, "v1.2.4-0.20260102030405-abcdef012345+dirty"},
		{"a working copy", &debug.BuildInfo{Main: *mod(module, "(devel)")}, "devel"},
		{"a test of the module", &debug.BuildInfo{Main: *mod(module, "")}, "devel"},
		{"replaced by another version", &debug.BuildInfo{Deps: []*debug.Module{replaced("v1.9.0")}}, "v1.9.0"},
		{"replaced by a folder", &debug.BuildInfo{Deps: []*debug.Module{replaced("")}}, "devel"},
		{"a module whose path is longer", &debug.BuildInfo{Deps: []*debug.Module{mod(module+"/informer/metrics", "v3.0.0")}}, "unknown"},
		{"a version that breaks headers", &debug.BuildInfo{Main: *mod(module, "v1\r\nX: y")}, "devel"},
		{"a version with a space", &debug.BuildInfo{Main: *mod(module, "v1 (x)")}, "devel"},
		{"no build information", nil, "unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Of(test.info); got != test.want {
				t.Errorf("the version is %q, want %q", got, test.want)
			}
		})
	}
}
