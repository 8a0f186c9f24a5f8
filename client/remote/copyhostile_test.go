package remote_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/remote"
)

// made is an entry that a hostile container makes.
type made struct {
	name   string
	kind   byte // of package tar; 0 is a file
	target string
	body   string
	size   int64 // if it is not the one of body
}

func (m made) typeflag() byte {
	if m.kind == 0 {
		return tar.TypeReg
	}
	return m.kind
}

// archive returns an archive, without checks.
func archive(entries ...made) []byte {
	var out bytes.Buffer
	for _, e := range entries {
		for _, long := range []struct {
			kind byte
			text string
		}{{'L', e.name}, {'K', e.target}} {
			if len(long.text) > 100 {
				out.Write(block("././@LongLink", long.kind, "", int64(len(long.text)+1)))
				out.WriteString(long.text + "\x00")
				pad(&out)
			}
		}
		size := e.size
		if size == 0 {
			size = int64(len(e.body))
		}
		out.Write(block(e.name[:min(len(e.name), 100)], e.typeflag(), e.target[:min(len(e.target), 100)], size))
		out.WriteString(e.body)
		pad(&out)
	}
	out.Write(make([]byte, 1024))
	return out.Bytes()
}

func pad(out *bytes.Buffer) { out.Write(make([]byte, -out.Len()&511)) }

// block returns a header of GNU tar.
func block(name string, kind byte, target string, size int64) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0006755\x00")
	copy(b[108:], "0000000\x000000000\x00")
	if size < 0 || size >= 8<<30 { // in base 256
		for i := range 8 {
			b[135-i] = byte(size >> (8 * i))
		}
		b[124] = 0x80
		if size < 0 {
			copy(b[124:128], "\xff\xff\xff\xff")
		}
	} else {
		copy(b[124:], fmt.Sprintf("%011o\x00", size))
	}
	copy(b[136:], fmt.Sprintf("%011o\x00", 1_000_000_000))
	b[156] = kind
	copy(b[157:], target)
	copy(b[257:], "ustar  \x00")
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// packed returns the same as the script without tar would send it.
func packed(nonce string, entries ...made) []byte {
	var out bytes.Buffer
	for _, e := range entries {
		kind, target := "f", ""
		switch e.typeflag() {
		case tar.TypeDir:
			kind = "d"
		case tar.TypeSymlink:
			kind, target = "l", e.target+"\x00"
		case tar.TypeFifo, tar.TypeChar, tar.TypeBlock:
			kind = "o"
		}
		size := e.size
		if size == 0 {
			size = int64(len(e.body))
		}
		fmt.Fprintf(&out, "%s %s 6755 1000000000 %d\x00%s\x00%s%s", nonce, kind, size, e.name, target, e.body)
	}
	fmt.Fprintf(&out, "%s e 0 - 0\x00", nonce)
	return out.Bytes()
}

// hostile are the entries of containers that must be refused, and what the error says.
var hostile = []struct {
	name    string
	entries []made
	want    string
	tarOnly bool
}{
	{"parent", []made{{name: "../secret"}}, `has ".."`, false},
	{"parent after a part", []made{{name: "./a/../../secret"}}, `has ".."`, false},
	{"parent at the end", []made{{name: "./a/.."}}, `has ".."`, false},
	{"absolute", []made{{name: "/secret"}}, "its name is absolute", false},
	{"absolute after slashes", []made{{name: "//secret"}}, "its name is absolute", false},
	{"no name", []made{{name: ""}}, "is empty", false},
	{"the folder as a file", []made{{name: "./"}}, "has the name of the folder", true},
	{"the folder as a link", []made{{name: ".", kind: tar.TypeSymlink, target: "x"}}, "has the name of the folder", false},
	{"absolute link", []made{{name: "l", kind: tar.TypeSymlink, target: "/outside"}}, "to an absolute name", false},
	{"link out", []made{{name: "l", kind: tar.TypeSymlink, target: "../outside"}}, "not in the folder", false},
	{"link out of a folder", []made{{name: "a/b/l", kind: tar.TypeSymlink, target: "../../../outside"}}, "not in the folder", false},
	{"link down and up", []made{{name: "l", kind: tar.TypeSymlink, target: "a/../../outside"}}, `".." after another part`, false},
	{
		"chain of links", []made{
			{name: "a/b/up", kind: tar.TypeSymlink, target: "../.."}, {name: "away", kind: tar.TypeSymlink, target: "a/b/up/.."}, {name: "away/secret", body: "x"},
		}, `".." after another part`, false,
	},
	{"write through a link", []made{{name: "l", kind: tar.TypeSymlink, target: "a"}, {name: "l/x", body: "x"}}, "which is not a folder", false},
	{"write to a link", []made{{name: "l", kind: tar.TypeSymlink, target: "a"}, {name: "l", body: "x"}}, "occurs twice", false},
	{"folder that becomes a link", []made{{name: "a", kind: tar.TypeDir}, {name: "a", kind: tar.TypeSymlink, target: "x"}, {name: "a/x"}}, "occurs twice", false},
	{"link that becomes a folder", []made{{name: "a", kind: tar.TypeSymlink, target: "x"}, {name: "a", kind: tar.TypeDir}, {name: "a/x"}}, "occurs twice", false},
	{"file as a folder", []made{{name: "a", body: "x"}, {name: "a/x"}}, "which is not a folder", false},
	{"twice", []made{{name: "a", body: "x"}, {name: "./a", body: "y"}}, "occurs twice", false},
	{"twice in another writing", []made{{name: "a/b"}, {name: "a//./b"}}, "occurs twice", false},
	{"link to nothing", []made{{name: "l", kind: tar.TypeSymlink}}, "with an empty target", false},
	{"hard link out", []made{{name: "h", kind: tar.TypeLink, target: "../outside/secret"}}, "must not be copied", true},
	{"absolute hard link", []made{{name: "h", kind: tar.TypeLink, target: "/outside/secret"}}, "must not be copied", true},
	{"hard link to what was there", []made{{name: "h", kind: tar.TypeLink, target: "kept"}}, "which is not an earlier file", true},
	{"hard link to a folder", []made{{name: "a", kind: tar.TypeDir}, {name: "h", kind: tar.TypeLink, target: "a"}}, "which is not an earlier file", true},
	{
		"hard link to a link, elsewhere",
		[]made{{name: "a/b/l", kind: tar.TypeSymlink, target: "../x"}, {name: "h", kind: tar.TypeLink, target: "a/b/l"}},
		"not in the folder", true,
	},
	{"character device", []made{{name: "d", kind: tar.TypeChar}}, "a device, a pipe or a socket", false},
	{"block device", []made{{name: "d", kind: tar.TypeBlock}}, "a device, a pipe or a socket", false},
	{"pipe", []made{{name: "d", kind: tar.TypeFifo}}, "a device, a pipe or a socket", false},
	{"unknown type", []made{{name: "d", kind: 'Z'}}, "its type 'Z' is not known", true},
	{"long part", []made{{name: strings.Repeat("x", 256)}}, "more than 255", false},
	{"long name", []made{{name: strings.Repeat("xxx/", 1025)}}, "", false},
	{"deep name", []made{{name: strings.Repeat("x/", 300)}}, "more than 255 parts", true},
	{"long target", []made{{name: "l", kind: tar.TypeSymlink, target: strings.Repeat("x/", 2050)}}, "", false},
	{"endless name", []made{{name: strings.Repeat("x", 2<<20)}}, "", false},
	{"huge size", []made{{name: "f", size: 1 << 60}}, "CopyOptions.MaxBytes", false},
	{"negative size", []made{{name: "f", size: -5}}, "", false},
	{"more bytes than allowed", []made{{name: "f", body: strings.Repeat("x", 600)}, {name: "g", body: strings.Repeat("x", 600)}}, "CopyOptions.MaxBytes", false},
	{"more files than allowed", []made{{name: "1"}, {name: "2"}, {name: "3"}, {name: "4"}, {name: "5"}, {name: "6"}}, "CopyOptions.MaxFiles", false},
	{"more folders than allowed", []made{{name: "1/2/3/4/5/6"}}, "CopyOptions.MaxFiles", false},
	{"less than it says", []made{{name: "f", body: "x", size: 900}}, "", false},
	{"the place of a folder", []made{{name: "folder", body: "x"}}, "a folder of its name exists", false},
	{"the place of a file", []made{{name: "kept/x", body: "x"}}, "a file or link of its name exists", false},
	{"what there is", []made{{name: "kept", body: "x"}}, "Overwrite", false},
	{"through a link that is there", []made{{name: "out", kind: tar.TypeDir}, {name: "out/secret", body: "x"}}, "a file or link of its name exists", false},
}

// scene is a folder with a folder that nothing must be written to, and one for the copy.
func scene(t testing.TB) (parent, dst string) {
	t.Helper()
	parent = t.TempDir()
	dst = filepath.Join(parent, "dst")
	for _, f := range []string{"outside", "dst/folder"} {
		if err := os.MkdirAll(filepath.Join(parent, f), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"outside/secret", "dst/kept", "dst/folder/kept"} {
		if err := os.WriteFile(filepath.Join(parent, f), []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside", filepath.Join(dst, "out")); err != nil {
		t.Fatal(err)
	}
	return parent, dst
}

// unchanged checks that nothing in parent has changed.
func unchanged(t testing.TB, parent string, before map[string]shot) {
	t.Helper()
	after := shoot(t, parent)
	for _, all := range []map[string]shot{before, after} { // the time of dst changes with the stage
		if s, ok := all["dst"]; ok {
			s.time = 0
			all["dst"] = s
		}
	}
	if !maps.Equal(before, after) {
		t.Errorf("the folders have %q, want %q", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
}

// sends is a container whose tar sends an archive; without one, its sh sends entries.
func sends(tarred []byte, entries []made) *containers.Server {
	return &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
		switch {
		case p.Args[0] == "tar" && tarred != nil:
			_, _ = p.Stdout.Write(tarred)
			return 0
		case p.Args[0] == "sh" && tarred == nil:
			_, _ = p.Stdout.Write(packed(p.Args[4], entries...))
			return 0
		}
		return 127
	}}
}

// guarantee S15, behaviour 167
func TestNothingIsWrittenOutsideOfTheFolder(t *testing.T) {
	for _, tc := range hostile {
		for _, with := range []string{"tar", "sh"} {
			if tc.tarOnly && with == "sh" {
				continue
			}
			t.Run(tc.name+" with "+with, func(t *testing.T) {
				var tarred []byte
				if with == "tar" {
					tarred = archive(tc.entries...)
				}
				r := newRig(t, sends(tarred, tc.entries), clienttest.Options{})
				parent, dst := scene(t)
				before := shoot(t, parent)
				res, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", dst, remote.CopyOptions{MaxBytes: 1000, MaxFiles: 5})
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("CopyFrom: %+v, %v, want %q", res, err, tc.want)
				}
				if err == nil || !strings.HasPrefix(err.Error(), `copy "/x/." from pod default/web: `) {
					t.Errorf("the error is a %T: %v", err, err)
				}
				unchanged(t, parent, before)
			})
		}
	}
}

// Archives that are broken, also with Overwrite.
func TestArchivesThatAreBroken(t *testing.T) {
	good := []made{{name: "./", kind: tar.TypeDir}, {name: "./a", body: strings.Repeat("\x00", 1024)}, {name: "./kept", body: "new"}}
	whole := archive(good...)
	sparse := block("f", 'S', "", 512)
	copy(sparse[483:], "00000000000\x00") // the real size
	for name, tarred := range map[string][]byte{
		"nothing":               {},
		"no end":                whole[:len(whole)-1024],
		"no end, after zeros":   archive(good[:2]...)[:512*4],
		"half an end":           whole[:len(whole)-512],
		"cut in a header":       whole[:700],
		"cut in a file":         whole[:512*3],
		"more after the end":    append(slices.Clone(whole), []byte("more")...),
		"archive after the end": append(slices.Clone(whole), whole...),
		"zeros without end":     append(slices.Clone(whole), make([]byte, 20<<20)...),
		"no archive":            bytes.Repeat([]byte("hello "), 1000),
		"headers without end":   bytes.Repeat(append(block("././@LongLink", 'L', "", 512), bytes.Repeat([]byte("x"), 512)...), 20<<10),
		"a global header":       append(block("g", 'g', "", 0), whole...),
		"a sparse file":         append(sparse, whole...),
		"a file of base 256":    archive(made{name: "f", size: 1 << 62}),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, sends(tarred, nil), clienttest.Options{})
			parent, dst := scene(t)
			before := shoot(t, parent)
			if res, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", dst, remote.CopyOptions{Overwrite: true}); err == nil {
				t.Errorf("CopyFrom: %+v", res)
			}
			unchanged(t, parent, before)
		})
	}
	r := newRig(t, sends(append(whole, make([]byte, 9<<10)...), nil), clienttest.Options{})
	_, dst := scene(t)
	if res, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", dst, remote.CopyOptions{Overwrite: true}); err != nil || res.Files != 2 {
		t.Errorf("CopyFrom of the whole archive: %+v, %v", res, err)
	}
}

func TestOutputWithoutTarThatIsBroken(t *testing.T) {
	good := []made{{name: "./a", body: "abc"}, {name: "./kept", body: "new"}}
	for name, send := range map[string]func(nonce string) string{
		"nothing":         func(string) string { return "" },
		"no end":          func(n string) string { s := string(packed(n, good...)); return s[:len(s)-len(n+" e 0 - 0\x00")] },
		"cut in a file":   func(n string) string { s := string(packed(n, good...)); return s[:len(n)+30] },
		"cut in a header": func(n string) string { return n },
		"another nonce":   func(n string) string { return string(packed("x"+n[1:], good...)) },
		"a shorter file": func(n string) string {
			return string(packed(n, made{name: "a", body: "abc", size: 9}, made{name: "b"}))
		},
		"a longer file": func(n string) string {
			return string(packed(n, made{name: "a", body: "abcde", size: 3}, made{name: "b"}))
		},
		"more after it":     func(n string) string { return string(packed(n, good...)) + "more" },
		"an unknown kind":   func(n string) string { return n + " x 0 - 0\x00a\x00" },
		"no numbers":        func(n string) string { return n + " f a b c\x00a\x00" },
		"an endless header": func(string) string { return strings.Repeat("x", 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
				if p.Args[0] == "tar" {
					return 126
				}
				_, _ = io.WriteString(p.Stdout, send(p.Args[4]))
				return 0
			}}, clienttest.Options{})
			parent, dst := scene(t)
			before := shoot(t, parent)
			if res, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", dst, remote.CopyOptions{Overwrite: true}); err == nil {
				t.Errorf("CopyFrom: %+v", res)
			}
			unchanged(t, parent, before)
		})
	}
}

// A copy that skips what it may not copy brings the rest.
func TestLeaveOut(t *testing.T) {
	entries := []made{
		{name: "./", kind: tar.TypeDir},
		{name: "./out", kind: tar.TypeSymlink, target: "/etc/passwd"},
		{name: "./pipe", kind: tar.TypeFifo},
		{name: "./a/b", body: "b"},
		{name: "./a/again", kind: tar.TypeLink, target: "./a/b"},
		{name: "./a/l", kind: tar.TypeSymlink, target: "../a/./b"},
		{name: "./a/too", kind: tar.TypeLink, target: "./a/l"},
	}
	for _, with := range []string{"tar", "sh"} {
		var tarred []byte
		files, links := 1, 1
		list := slices.DeleteFunc(slices.Clone(entries), func(m made) bool { return m.kind == tar.TypeLink })
		if with == "tar" {
			tarred, files, links, list = archive(entries...), 2, 2, entries
		}
		r := newRig(t, sends(tarred, list), clienttest.Options{})
		dst := t.TempDir()
		res, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", dst, remote.CopyOptions{LeaveOut: true})
		if err != nil || !slices.Equal(res.LeftOut, []string{"out", "pipe"}) || res.Files != files || res.Links != links || res.Folders != 1 {
			t.Errorf("%s: %+v, %v", with, res, err)
		}
		got := shoot(t, dst)
		if f := got["a/b"]; f.mode != 0o755 || f.content != "b" || f.time != 1_000_000_000 { // and not setuid
			t.Errorf("%s: a/b is %+v", with, f)
		}
		if l := got["a/l"]; l.mode.Type() != fs.ModeSymlink || l.content != "../a/./b" {
			t.Errorf("%s: a/l is %+v", with, l)
		}
		r = newRig(t, sends(tarred, list), clienttest.Options{})
		if _, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", t.TempDir(), remote.CopyOptions{LeaveOut: true, MaxFiles: 4}); err == nil {
			t.Errorf("%s: what is left out is not counted", with)
		}
	}
}

// A hard link may lead to another one.
func TestHardLinksInARow(t *testing.T) {
	tarred := archive(
		made{name: "./", kind: tar.TypeDir}, made{name: "./a", body: "text"},
		made{name: "./b", kind: tar.TypeLink, target: "./a"}, made{name: "./c", kind: tar.TypeLink, target: "./b"})
	r := newRig(t, sends(tarred, nil), clienttest.Options{})
	dst := t.TempDir()
	if res, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", dst, remote.CopyOptions{}); err != nil || res.Files != 3 {
		t.Errorf("CopyFrom: %+v, %v, want 3 files", res, err)
	}
	if c := shoot(t, dst)["c"]; c.content != "text" {
		t.Errorf("c is %+v", c)
	}
}

// A container that sends for ever is left at the limits, or at the end of ctx.
func TestContainersThatSendForEver(t *testing.T) {
	for name, send := range map[string]func(p *containers.Process, enough func()) error{
		"bytes": func(p *containers.Process, _ func()) error {
			_, err := io.Copy(p.Stdout, io.MultiReader(bytes.NewReader(block("f", '0', "", 1<<40)), zeros{}))
			return err
		},
		"names": func(p *containers.Process, _ func()) error {
			for i := 0; ; i++ {
				if _, err := p.Stdout.Write(block(fmt.Sprint("f", i), '0', "", 0)); err != nil {
					return err
				}
			}
		},
		"headers": func(p *containers.Process, _ func()) error {
			for {
				if _, err := p.Stdout.Write(block("x", 'x', "", 0)); err != nil {
					return err
				}
			}
		},
		"errors": func(p *containers.Process, enough func()) error {
			for i := 0; ; i++ {
				if i == 500 {
					enough()
				}
				if _, err := io.WriteString(p.Stderr, strings.Repeat("tar: what ", 1000)); err != nil {
					return err
				}
			}
		},
		"pipes": func(p *containers.Process, _ func()) error {
			for i := 0; ; i++ {
				if _, err := p.Stdout.Write(block(fmt.Sprint("f", i), '6', "", 0)); err != nil {
					return err
				}
			}
		},
		"nothing": func(_ *containers.Process, enough func()) error {
			enough()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			ctx, enough := context.WithCancel(t.Context())
			defer enough()
			r := newRig(t, &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
				err := send(p, enough)
				<-ctx.Done()
				ended <- err
				return 0
			}}, clienttest.Options{})
			parent, dst := scene(t)
			before := shoot(t, parent)
			_, err := remote.CopyFrom(ctx, r.pods, web, "/x/.", dst, remote.CopyOptions{MaxFiles: 100, MaxBytes: 1 << 20, LeaveOut: true})
			if err == nil || (ctx.Err() != nil) != errors.Is(err, context.Canceled) {
				t.Errorf("CopyFrom: %v", err)
			}
			<-ended
			unchanged(t, parent, before)
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
