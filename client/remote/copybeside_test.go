package remote_test

import (
	"archive/tar"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/remote"
)

// A caller asks for one name, and the container answers with what it likes, as in CVE-2019-6111 of scp: dst gets that name, or nothing.
func TestNothingIsWrittenBesideTheName(t *testing.T) {
	for _, tc := range []struct {
		name    string
		entries []made
		tarOnly bool
		makes   []string // without OneFile; nothing is an error
	}{
		{"a folder", []made{
			{name: "./report.txt", kind: tar.TypeDir}, {name: "./report.txt/.ssh/authorized_keys", body: "evil"}, {name: "./report.txt/.bashrc", body: "evil"},
		}, true, []string{"report.txt", "report.txt/.bashrc", "report.txt/.ssh", "report.txt/.ssh/authorized_keys"}},
		{"a folder that is not told", []made{{name: "./report.txt/.bashrc", body: "evil"}}, true, []string{"report.txt", "report.txt/.bashrc"}},
		{"what is in a folder", []made{{name: ".", kind: tar.TypeDir}, {name: "./.bashrc", body: "evil"}}, true, nil},
		{"another file", []made{{name: "./.bashrc", body: "evil"}}, true, nil},
		{"a file and another", []made{{name: "./report.txt", body: "good"}, {name: "./.bashrc", body: "evil"}}, true, nil},
		{"a name that only begins so", []made{{name: "./report.txt2", body: "evil"}}, true, nil},
		{"a parent", []made{{name: "./report.txt", kind: tar.TypeDir}, {name: "./report.txt/../.bashrc", body: "evil"}}, false, nil},
		{"an absolute name", []made{{name: "/report.txt", body: "evil"}}, false, nil},
		{"a file in a file", []made{{name: "./report.txt", body: "good"}, {name: "./report.txt/x", body: "evil"}}, true, nil},
		{"twice", []made{{name: "./report.txt", body: "good"}, {name: "./report.txt", body: "evil"}}, true, nil},
		{"a pipe", []made{{name: "./report.txt", kind: tar.TypeFifo}}, true, nil},
		{"a link, and again", []made{{name: "./report.txt", kind: tar.TypeSymlink, target: "kept"}}, true, []string{"report.txt", "report.txt/report.txt"}},
		{"a hard link", []made{{name: "./report.txt", kind: tar.TypeLink, target: "./kept"}}, true, nil},
		{"a hard link to itself", []made{{name: "./report.txt", kind: tar.TypeLink, target: "./report.txt"}}, true, nil},
		{"a link beside it", []made{
			{name: "./report.txt", kind: tar.TypeDir}, {name: "./report.txt/l", kind: tar.TypeSymlink, target: "../kept"},
		}, true, nil},
		{"nothing", nil, false, nil},
		{"the folder as a file", []made{{name: ".", body: "evil"}}, false, nil},
		{"the folder as a link", []made{{name: ".", kind: tar.TypeSymlink, target: "kept"}}, false, nil},
	} {
		for _, with := range []string{"tar", "sh"} {
			if tc.tarOnly && with == "sh" {
				continue
			}
			for _, o := range []remote.CopyOptions{{}, {Overwrite: true}, {OneFile: true, Overwrite: true}} {
				var tarred []byte
				if with == "tar" {
					tarred = archive(tc.entries...)
				}
				r := newRig(t, sends(tarred, tc.entries), clienttest.Options{})
				home := t.TempDir()
				put(t, home, "kept", ".bashrc", ".ssh/known_hosts")
				before := shoot(t, home)
				_, err := remote.CopyFrom(t.Context(), r.pods, web, "/app/report.txt", home, o)
				after := shoot(t, home)
				var made []string
				for name := range after {
					if _, was := before[name]; !was {
						made = append(made, name)
					}
				}
				slices.Sort(made)
				for name := range before {
					if name != ".ssh" && after[name] != before[name] {
						t.Errorf("%s with %s, %+v: %s has changed", tc.name, with, o, name)
					}
				}
				want := tc.makes
				if o.OneFile {
					want = nil
				}
				if !slices.Equal(made, want) || (err == nil) != (want != nil) {
					t.Errorf("%s with %s, %+v: it makes %q, want %q; %v", tc.name, with, o, made, want, err)
				}
			}
		}
	}
}

// Without tar, the script says the names that are in a folder, and the folder has the name that the caller asked for.
func TestAFolderStaysBelowItsNameWithoutTar(t *testing.T) {
	for _, oneFile := range []bool{false, true} {
		r := newRig(t, sends(nil, []made{{name: ".", kind: tar.TypeDir}, {name: "./.bashrc", body: "evil"}}), clienttest.Options{})
		home := t.TempDir()
		_, err := remote.CopyFrom(t.Context(), r.pods, web, "/app/report.txt", home, remote.CopyOptions{OneFile: oneFile})
		if want := []string{"report.txt", "report.txt/.bashrc"}; oneFile {
			wantText(t, err, "other than the one file that was asked for")
			has(t, home)
		} else if has(t, home, want...); err != nil {
			t.Error(err)
		}
	}
}

// Tar says that the name is one of a link, and then lies in the answer to the second question.
func TestALinkThatChangesItsKindStaysBelowItsName(t *testing.T) {
	for _, tc := range []struct {
		name    string
		oneFile bool
		second  []made // of the folder that the link leads to
		fails   bool   // the second question
		third   []made // of the file that it leads to
		makes   []string
	}{
		{"a folder", false, []made{{name: "./", kind: tar.TypeDir}, {name: "./.bashrc", body: "x"}}, false, nil, []string{"report.txt", "report.txt/.bashrc"}},
		{"a folder as a file", false, []made{{name: ".", body: "x"}}, false, nil, nil},
		{"another name", false, []made{{name: "../.bashrc", body: "x"}}, false, nil, nil},
		{"a file", false, nil, true, []made{{name: "./report.txt", body: "x"}}, []string{"report.txt"}},
		{"a file that is a folder", false, nil, true, []made{{name: "./report.txt", kind: tar.TypeDir}, {name: "./report.txt/x"}}, nil},
		{"a file and another", false, nil, true, []made{{name: "./report.txt", body: "x"}, {name: "./.bashrc", body: "x"}}, nil},
		{"another file", false, nil, true, []made{{name: "./.bashrc", body: "x"}}, nil},
		{"a link again", false, nil, true, []made{{name: "./report.txt", kind: tar.TypeSymlink, target: "x"}}, nil},
		{"one file", true, []made{{name: "./", kind: tar.TypeDir}}, false, []made{{name: "./report.txt", body: "x"}}, []string{"report.txt"}},
		{"a folder for one file", true, nil, false, []made{{name: "./report.txt", kind: tar.TypeDir}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			asked := 0
			r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
				switch asked++; {
				case asked == 1:
					_, _ = p.Stdout.Write(archive(made{name: "./report.txt", kind: tar.TypeSymlink, target: "x"}))
					return 0
				case slices.Contains(p.Args, "-h"):
					_, _ = p.Stdout.Write(archive(tc.third...))
					return 0
				case tc.fails:
					return 2
				}
				_, _ = p.Stdout.Write(archive(tc.second...))
				return 0
			}}, clienttest.Options{})
			home := t.TempDir()
			_, err := remote.CopyFrom(t.Context(), r.pods, web, "/app/report.txt", home, remote.CopyOptions{OneFile: tc.oneFile})
			if has(t, home, tc.makes...); (err == nil) != (tc.makes != nil) {
				t.Error(err)
			}
		})
	}
}

// A file replaces only a file, and a folder only a folder.
func TestThePlaceOfTheName(t *testing.T) {
	file := []made{{name: "./report.txt", body: "new"}}
	folder := []made{{name: "./report.txt", kind: tar.TypeDir}, {name: "./report.txt/x", body: "new"}}
	for _, tc := range []struct {
		name, there string // a file, a folder or a link
		entries     []made
		overwrite   bool
		want        string // empty for success
	}{
		{"a file", "file", file, false, "Overwrite is not set"},
		{"a file that may be replaced", "file", file, true, ""},
		{"a file by a folder", "file", folder, true, "a file or link of its name exists"},
		{"a folder by a file", "folder", file, true, "a folder of its name exists"},
		{"a folder by a folder", "folder", folder, false, ""},
		{"a link", "link", file, false, "Overwrite is not set"},
		{"a link that may be replaced", "link", file, true, ""},
		{"a link by a folder", "link", folder, true, "a file or link of its name exists"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parent, home := scene(t)
			place := filepath.Join(home, "report.txt")
			var err error
			switch tc.there {
			case "file":
				err = os.WriteFile(place, []byte("old"), 0o600)
			case "folder":
				err = os.Mkdir(place, 0o700)
			case "link":
				err = os.Symlink("../outside", place)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := shoot(t, parent)
			r := newRig(t, sends(archive(tc.entries...), nil), clienttest.Options{})
			_, err = remote.CopyFrom(t.Context(), r.pods, web, "/app/report.txt", home, remote.CopyOptions{Overwrite: tc.overwrite})
			if tc.want != "" {
				if wantText(t, err, tc.want); !errors.Is(err, fs.ErrExist) {
					t.Errorf("CopyFrom: %v", err)
				}
				unchanged(t, parent, before)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, s := range shoot(t, parent) {
				if rest, mine := strings.CutPrefix(name, "dst/report.txt"); mine && s.content != "new" && !s.mode.IsDir() || !mine && name != "dst" && before[name] != s {
					t.Errorf("%s (%s) is %+v", name, rest, s)
				}
			}
		})
	}
}

// The mode and the time of a folder that is copied under its name are those of the container.
func TestAFolderUnderItsName(t *testing.T) {
	for _, b := range boxes() {
		t.Run(b.name, func(t *testing.T) {
			r, there := b.start(t)
			put(t, there, "src/folder/a")
			if err := os.Chmod(there+"/src/folder", 0o750); err != nil {
				t.Fatal(err)
			}
			age(t, there)
			here := t.TempDir()
			res, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/src/folder", here, remote.CopyOptions{Verify: true})
			if err != nil || res.Files != 1 || res.Folders != 1 {
				t.Errorf("CopyFrom: %+v, %v", res, err)
			}
			compare(t, here, there+"/src", true)
		})
	}
}

// Without tar, a file comes under the name that was asked for, and the names in a folder begin with "./". So only a file may have that name.
func TestOnlyAFileMayHaveTheNameWithoutTar(t *testing.T) {
	const name = "/app/report.txt"
	for _, e := range []made{{name: name, kind: tar.TypeDir}, {name: name, kind: tar.TypeSymlink, target: "kept"}, {name: name, body: "good"}} {
		for _, oneFile := range []bool{false, true} {
			r := newRig(t, sends(nil, []made{e}), clienttest.Options{})
			home := t.TempDir()
			put(t, home, "kept")
			_, err := remote.CopyFrom(t.Context(), r.pods, web, name, home, remote.CopyOptions{OneFile: oneFile})
			if e.kind == 0 {
				if err != nil {
					t.Errorf("a file: %v", err)
				}
				has(t, home, "kept", "report.txt")
				continue
			}
			if err == nil {
				t.Errorf("an entry of kind %c is taken for the file", e.kind)
			}
			has(t, home, "kept")
		}
	}
}
