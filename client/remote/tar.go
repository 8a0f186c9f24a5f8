package remote

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// blockSize is the size of a block of an archive. Two blocks of zeros are its end.
const blockSize = 512

// maxPadding bounds the zeros after the end of an archive, in bytes. GNU tar fills up a record, by default 10 KiB.
const maxPadding = 16 << 20

var (
	errNoEnd   = fmt.Errorf("the archive is incomplete: %w", io.ErrUnexpectedEOF)
	errHeader  = fmt.Errorf("an entry of the archive has a header of more than %d bytes", maxHeader)
	errTrailer = errors.New("the archive has data after its end")
)

// readTar reads an archive to its end, and calls add for each entry. An archive without its end mark is an error,
// because entries may be missing.
func readTar(r io.Reader, add func(entry) error) error {
	m := &meter{r: bufio.NewReaderSize(r, 64<<10)}
	archive := tar.NewReader(m)
	for {
		begin := m.n
		m.left = maxHeader
		h, err := archive.Next()
		m.left = math.MaxInt64
		switch {
		case err == io.EOF && m.n-begin < 2*blockSize:
			return errNoEnd
		case err == io.EOF:
			return padding(m)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // add checks the name
			return fmt.Errorf("read the archive: %w", err)
		}
		e := entry{name: h.Name, mode: h.FileInfo().Mode(), time: h.ModTime, size: h.Size, target: h.Linkname, body: archive}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
			e.kind = aFile
		case tar.TypeDir:
			e.kind = aFolder
		case tar.TypeSymlink:
			e.kind = aLink
		case tar.TypeLink:
			e.kind = aHardLink
		case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
			e.kind = aDevice
		case tar.TypeXGlobalHeader:
			return &entryError{h.Name, errors.New("it is a global header, which no tar writes for files")}
		default:
			return &entryError{h.Name, fmt.Errorf("its type %q is not known", h.Typeflag)}
		}
		if err := add(e); err != nil {
			return err
		}
	}
}

// padding reads the rest of the output after an archive. It must be zeros, at most maxPadding.
func padding(r io.Reader) error {
	part := make([]byte, 8<<10)
	for n := 0; ; {
		got, err := r.Read(part)
		for _, b := range part[:got] {
			if b != 0 {
				return errTrailer
			}
		}
		if n += got; n > maxPadding {
			return errTrailer
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// meter counts the read bytes, and fails once left bytes have been read.
type meter struct {
	r       io.Reader
	n, left int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errHeader
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.left)])
	m.n += int64(n)
	m.left -= int64(n)
	return n, err
}

// tarHeader returns the header of an entry that is sent. The format is GNU's, because it is the only one with long
// names that busybox's tar knows.
func tarHeader(e entry) *tar.Header {
	h := &tar.Header{
		Name: "./" + e.name, Mode: int64(e.mode.Perm()), ModTime: e.time.Truncate(time.Second), Size: e.size, Linkname: e.target, Format: tar.FormatGNU,
	}
	switch e.kind {
	case aFolder:
		h.Typeflag, h.Name = tar.TypeDir, strings.TrimSuffix(h.Name, "/")+"/"
	case aLink:
		h.Typeflag = tar.TypeSymlink
	default:
		h.Typeflag = tar.TypeReg
	}
	return h
}

// isChangeOnly reports whether GNU tar failed only because files changed while it read them.
func isChangeOnly(code int, stderr string) bool {
	if code != 1 || stderr == "" {
		return false
	}
	for line := range strings.Lines(stderr) {
		if !strings.HasSuffix(strings.TrimRight(line, "\r\n"), ": file changed as we read it") {
			return false
		}
	}
	return true
}
