package remote_test

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/remote"
)

// The folder has links of its owner: "out" leads out of it, "in" to a folder in it, and "folder/out" out of it again. A link of the
// container that leads through one of them may lead anywhere.
func TestALinkThroughAnExistingLink(t *testing.T) {
	link := func(name, target string) made { return made{name: name, kind: tar.TypeSymlink, target: target} }
	chain := func(n int) (all []made, names []string) { // to out
		for i := range n {
			name := fmt.Sprintf("l%03d", i)
			all, names = append(all, link(name, fmt.Sprintf("l%03d", i+1))), append(names, name)
		}
		all[n-1].target = "out"
		return all, names
	}
	long, longNames := chain(100)
	for _, tc := range []struct {
		name    string
		entries []made
		left    []string // out; the first one is the error without LeaveOut
		why     string
	}{
		{"to it", []made{link("l", "out")}, []string{"l"}, `leads through "out", a link that existed before`},
		{"to what it leads to", []made{link("l", "out/secret")}, []string{"l"}, `leads through "out"`},
		{"to what is not there yet", []made{link("l", "out/new")}, []string{"l"}, `leads through "out"`},
		{"with a slash", []made{link("l", "./out/")}, []string{"l"}, `leads through "out"`},
		{"to one that stays inside", []made{link("l", "in/kept")}, []string{"l"}, `leads through "in"`},
		{"from a folder", []made{{name: "a", kind: tar.TypeDir}, link("a/l", "../out/secret")}, []string{"a/l"}, `leads through "out"`},
		{"from a folder that is there", []made{link("folder/l", "out/secret")}, []string{"folder/l"}, `leads through "folder/out"`},
		{"through a folder that is there", []made{link("l", "folder/out")}, []string{"l"}, `leads through "folder/out"`},
		{"through a link of the copy", []made{link("a", "folder"), link("l", "a/out/secret")}, []string{"l"}, `leads through "folder/out"`},
		{"after a link of the copy", []made{link("l", "a/secret"), link("a", "out")}, []string{"l", "a"}, `leads through "out"`},
		{"through many links", long, longNames, `leads through "out"`},
		{"in a circle", []made{link("a", "b"), link("b", "a/./c"), link("c", "c")}, nil, ""},
		{"as a hard link", []made{link("a", "out"), {name: "h", kind: tar.TypeLink, target: "a"}}, []string{"a", "h"}, `leads through "out"`},
		{"to a file that is there", []made{link("l", "kept")}, nil, ""},
		{"to a folder that is there", []made{link("l", "folder")}, nil, ""},
		{"to nothing", []made{link("l", "none/x")}, nil, ""},
		{"beyond a file", []made{link("l", "kept/x")}, nil, ""},
		{"to a link of the copy", []made{link("a", "kept"), link("l", "a")}, nil, ""},
		{"to a link that the copy replaces", []made{{name: "out", body: "new"}, link("l", "out")}, nil, ""},
		{"to a link that the copy replaces by another", []made{link("out", "kept"), link("l", "out")}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, sends(archive(tc.entries...), nil), clienttest.Options{})
			for _, leave := range []bool{false, true} {
				parent, dst := scene(t)
				for name, target := range map[string]string{"in": "folder", "folder/out": "../../outside"} {
					if err := os.Symlink(target, filepath.Join(dst, name)); err != nil {
						t.Fatal(err)
					}
				}
				before := shoot(t, parent)
				res, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/", dst, remote.CopyOptions{Overwrite: true, LeaveOut: leave})
				if tc.left != nil && !leave {
					if wantText(t, err, tc.why); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q: ", tc.left[0])) {
						t.Errorf("CopyFrom: %v", err)
					}
					unchanged(t, parent, before)
					continue
				}
				if err != nil || !slices.Equal(res.LeftOut, tc.left) {
					t.Fatalf("CopyFrom: %+v, %v", res, err)
				}
				links := 0
				for _, e := range tc.entries {
					info, err := os.Lstat(filepath.Join(dst, e.name))
					if there := err == nil && (e.kind == 0 || e.kind == tar.TypeDir || info.Mode().Type() == fs.ModeSymlink); there == slices.Contains(tc.left, e.name) {
						t.Errorf("%s is there: %v", e.name, there)
					} else if there && info.Mode().Type() == fs.ModeSymlink {
						links++
					}
					if to, err := filepath.EvalSymlinks(filepath.Join(dst, e.name)); err == nil && !strings.HasPrefix(to+"/", dst+"/") {
						t.Errorf("%s leads to %s", e.name, to)
					}
				}
				if res.Links != links {
					t.Errorf("%d links are counted, and %d are there", res.Links, links)
				}
			}
		})
	}
}
