package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "the folder that the screenshots go to; empty makes them and keeps none")

func TestScreenshots(t *testing.T) {
	p, b := start(t), open(t)
	for i := range 60 {
		p.create(fmt.Sprintf("site-%02d", i))
	}
	p.server.Compact()
	p.server.DropWatches()
	p.keys <- "broken-site"
	for _, shot := range []struct {
		name, address, scheme string
		width, height         int64
		mobile                bool
	}{
		{"overview", "", "light", 1200, 760, false},
		{"overview-dark", "", "dark", 1200, 760, false},
		{"events-dark", "?events", "dark", 1200, 620, false},
		{"phone", "", "light", 390, 844, true},
		{"object", "?cache=configmaps.v1&object=default/site-07", "light", 1200, 620, false},
	} {
		var picture []byte
		viewport := emulation.SetDeviceMetricsOverride(shot.width, shot.height, 1, shot.mobile)
		scheme := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: shot.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}})
		b.do(viewport, scheme, chromedp.Navigate(p.url+shot.address))
		b.until(`document.getElementById("live").innerText.trim() !== "Connecting"`)
		b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			picture, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).WithOptimizeForSpeed(false).Do(ctx)
			return err
		}))
		if len(picture) < 10_000 {
			t.Errorf("%s has %d bytes", shot.name, len(picture))
		}
		if *screenshots == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(*screenshots, shot.name+".png"), picture, 0o644); err != nil {
			t.Error(err)
		}
	}
}
