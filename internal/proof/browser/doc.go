// Package browser tests the page of informer/debug in a real browser: layout, live updates, filters, keyboard, dark
// mode, and a page without JavaScript. Its tests are not a part of CI, because they need Chromium:
//
//	apt-get install -y chromium
//	go test -count=1 .
//	go test -count=1 -run Screenshots . -screenshots ../../../informer/debug/testdata   # makes the screenshots anew
//
// The program is looked for under the names chromium, chromium-browser and google-chrome; -chromium names another.
package browser
