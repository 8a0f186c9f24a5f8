package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/regular"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

const (
	// lookEvery is how often the files are read again.
	lookEvery = 10 * time.Second
	// maxPEM bounds the size of each file, in bytes.
	maxPEM = 1 << 20
)

// files is a Source: a certificate and its key in two files. Server.Run reads them at the start, and files.Run reads
// them again. No connection reads them, so a file system that does not answer blocks no connection.
type files struct {
	certFile, keyFile string

	mu    sync.Mutex // guards the fields below
	texts [2]string  // the last valid texts of the files
	is    *tls.Certificate
	err   error // of the last reading
}

// Run implements Source.
func (f *files) Run(ctx context.Context) error {
	log := report.New(logr.Logger{})
	log.Start(ctx)
	defer log.Stop()
	var pace report.Pace
	for retry.Sleep(ctx, lookEvery) == nil {
		err := f.look()
		if due := pace.Due(err); due {
			log.Failed(report.Topic{
				Key: "files", Fails: "webhook server: the certificate cannot be read, and the last good one stays",
				Works: "webhook server: the certificate can be read again",
			}, err, nil)
		}
		if err == nil {
			log.Works("files")
		}
	}
	return nil
}

// look reads the files. If they are not valid, it keeps the last valid certificate.
func (f *files) look() error {
	pair, texts, err := f.read()
	if err != nil { // the files of a mounted Secret may have been replaced between the two reads
		pair, texts, err = f.read()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err == nil && (f.is == nil || texts != f.texts) {
		f.is, f.texts = pair, texts
	}
	return err
}

// read reads both files once.
func (f *files) read() (*tls.Certificate, [2]string, error) {
	var texts [2]string
	for i, name := range []string{f.certFile, f.keyFile} {
		b, _, err := regular.Read(name, maxPEM)
		if err != nil {
			return nil, texts, fmt.Errorf("read the certificate: %w", err)
		}
		texts[i] = string(b)
	}
	pair, err := tls.X509KeyPair([]byte(texts[0]), []byte(texts[1]))
	if err != nil {
		return nil, texts, fmt.Errorf("read the certificate in %s and %s: %w", f.certFile, f.keyFile, err)
	}
	return &pair, texts, nil
}

// Certificate implements Source.
func (f *files) Certificate() (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.is, nil // begin has called look, so there is a certificate
}

// Ready implements Source.
func (f *files) Ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	return conn.Validity(f.is.Leaf, time.Now())
}
