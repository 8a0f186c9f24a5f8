package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestThePageFitsEveryScreen(t *testing.T) {
	p, b := start(t), open(t)
	p.create("a-name-that-is-as-long-as-names-of-objects-often-are-in-large-clusters-with-many-teams-and-their-own-prefixes", "b")
	p.keys <- "broken-" + strings.Repeat("long-", 40)
	for _, width := range []int64{320, 390, 768, 1280, 2560} {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, address := range []string{
			"", "?events", "?cache=configmaps.v1", "?cache=configmaps.v1&q=b", "?cache=configmaps.v1&object=default/b", "?controller=packer", "?cache=none",
		} {
			b.do(chromedp.Navigate(p.url + address))
			b.is(true, `document.documentElement.scrollWidth <= innerWidth`)
			b.is("true", `String(getComputedStyle(document.querySelector("header")).position === "sticky")`) // the style is there
			// Nothing of the main part lies beside the screen, and no text is cut without a sign.
			b.is(0, `[...document.querySelectorAll("main *")].filter(e => {
				const r = e.getBoundingClientRect();
				return r.width > 1 && r.right > innerWidth + 1 && !e.closest(".scroll, pre, .hidden");
			}).length`)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.DeleteFunc(b.errors, func(s string) bool { return strings.Contains(s, "404") }) // of the last address
}

func TestThePageStaysCurrent(t *testing.T) {
	p, b := start(t), open(t)
	p.create("a")
	b.do(chromedp.Navigate(p.url), chromedp.Evaluate(`window.same = document.querySelector('td a'); same.focus()`, nil))
	b.until(`document.querySelector('td[data-label="Objects"]').textContent === "1"`)
	p.create("b", "c")
	b.until(`document.querySelector('td[data-label="Objects"]').textContent === "3"`)
	b.is(true, `document.activeElement === same && same.isConnected`) // the focus stays
	p.keys <- "broken"
	b.until(`document.querySelector(".problems")?.innerText.includes("the disk is full")`)
	b.until(`document.title.startsWith("1 problem")`)

	b.press("p")
	b.is("Paused", `document.getElementById("live").innerText.trim()`)
	b.is("false", `document.getElementById("live").getAttribute("aria-pressed")`)
	p.create("d")
	// A look takes 2 s. While it is paused, the page asks for nothing.
	b.do(chromedp.Evaluate(`window.asked = 0; window.realFetch = fetch; window.fetch = (...a) => { asked++; return realFetch(...a) }; window.then = Date.now()`, nil))
	b.until(`Date.now() - then > 4500`)
	b.is(0, `asked`)
	b.is("3", `document.querySelector('td[data-label="Objects"]').textContent`)
	b.press("p")
	b.until(`document.querySelector('td[data-label="Objects"]').textContent === "4"`)
}

func TestEventsComeWhileThePageIsOpen(t *testing.T) {
	p, b := start(t), open(t)
	b.do(chromedp.Navigate(p.url + "?events"))
	b.until(`document.getElementById("live").innerText.trim() === "Live"`)
	p.create("fresh")
	b.until(`[...document.querySelectorAll("#events tr.new")].some(r => r.innerText.includes("default/fresh") && r.innerText.includes("added"))`)
	// Texts of others stay texts.
	const hostile = `broken<img src=x onerror="window.pwned = 1"><script>window.pwned = 1</script>`
	p.keys <- hostile
	b.until(fmt.Sprintf(`[...document.querySelectorAll("#events tr.bad")].some(r => r.innerText.includes(%q))`, hostile))
	b.do(chromedp.Navigate(p.url + "?events"))
	b.until(fmt.Sprintf(`document.getElementById("events").innerText.includes(%q)`, hostile))
	b.is("undefined", `typeof window.pwned`)
	b.is(0, `document.querySelectorAll("main img, main script").length`)
	// No event comes twice, and the table is bounded.
	for i := range 500 {
		p.keys <- fmt.Sprintf("key-%03d", i)
	}
	b.until(`document.querySelector("#events").innerText.includes("key-499")`)
	b.is(true, `document.querySelectorAll("#events tr").length <= 400`)
	keys := b.rows("Object")
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] && strings.HasPrefix(keys[i], "key-") {
			t.Errorf("%s is there twice", keys[i])
		}
	}
}

func TestFilters(t *testing.T) {
	p, b := start(t), open(t)
	p.create("apple", "banana")
	p.keys <- "broken"
	b.do(chromedp.Navigate(p.url + "?events"))
	b.do(chromedp.Click(`.chip input[value="reconcile"]`, chromedp.ByQuery))
	b.until(`location.search.includes("kind=reconcile") && document.readyState === "complete"`)
	b.is("reconcile", `[...new Set([...document.querySelectorAll("#events .kind")].map(e => e.innerText))].join()`)
	b.is(true, `document.querySelector('.chip input[value="reconcile"]').checked`)
	b.do(chromedp.SendKeys(`input[type=search]`, "disk"+kb.Enter, chromedp.ByQuery))
	b.until(`location.search.includes("q=disk") && document.querySelectorAll("#events tr").length === 1`)

	b.do(chromedp.Navigate(p.url + "?cache=configmaps.v1"))
	b.do(chromedp.SendKeys(`input[type=search]`, "APP"+kb.Enter, chromedp.ByQuery))
	b.until(`location.search.includes("q=APP") && document.querySelectorAll("tbody tr").length === 1`)
	b.do(chromedp.Click(`tbody a`, chromedp.ByQuery))
	b.until(`document.querySelector("pre")?.innerText.includes('"greeting": "hello\\nworld\\n"')`)
	b.do(chromedp.Click(`.crumbs a:nth-child(2)`, chromedp.ByQuery))
	b.until(`location.search === "?cache=configmaps.v1" && document.querySelectorAll("#objects").length === 1`)
}

func TestTheKeyboardIsEnough(t *testing.T) {
	p, b := start(t), open(t)
	p.create("apple")
	b.do(chromedp.Navigate(p.url + "?cache=configmaps.v1"))
	b.do(chromedp.KeyEvent(kb.Tab))
	b.is("skip", `document.activeElement.className`)
	b.is(true, `document.activeElement.getBoundingClientRect().top >= 0`) // it is seen now
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.id === "main"`)
	b.press("/")
	b.is("search", `document.activeElement.type`)
	b.press("p") // which is text here
	b.is("p", `document.activeElement.value`)
	b.is("Live", `document.getElementById("live").innerText.trim()`)
	b.do(chromedp.KeyEvent("ple" + kb.Enter))
	b.until(`location.search.includes("q=pple") && document.querySelectorAll("tbody a").length === 1`)
	// Every link and control can be reached, in the order of the page, and is marked when it is.
	b.do(chromedp.Evaluate(`window.reached = []`, nil))
	for range 14 {
		b.do(chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(`reached.push(document.activeElement)`, nil))
		b.is(true, `document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	}
	b.is(true, `[...document.querySelectorAll("a, button, input:not([type=hidden])")].filter(e => e.offsetParent !== null).every(e => reached.includes(e))`)
}

func TestDarkMode(t *testing.T) {
	p, b := start(t), open(t)
	const brightness = `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, n) => a + Number(n), 0)`
	for scheme, dark := range map[string]bool{"dark": true, "light": false} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}), chromedp.Navigate(p.url))
		b.is(dark, brightness+" < 200")
		// Text can be read: the contrast of text, links and badges is 4.5 or more (WCAG 2.2, 1.4.3).
		b.is("", contrast)
	}
}

// contrast lists the elements whose text has too little contrast. Text that says that there is nothing may be faint.
const contrast = `(() => {
	const luminance = c => { const [r, g, b] = c.match(/[\d.]+/g).slice(0, 3).map(n => n / 255).map(n => n <= .04045 ? n / 12.92 : ((n + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
	const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== "rgba(0, 0, 0, 0)" && c !== "transparent") return c } return "rgb(255,255,255)" };
	return [...document.querySelectorAll("body *")].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.nodeValue.trim()) && !e.closest(".none, .count, .crumbs, .empty, .more")).filter(e => {
		const [a, b] = [luminance(getComputedStyle(e).color), luminance(ground(e))].sort((x, y) => y - x);
		return (a + .05) / (b + .05) < 4.5;
	}).map(e => e.outerHTML.slice(0, 80)).join("\n");
})()`

func TestThePageReadsWithoutJavaScript(t *testing.T) {
	p, b := start(t), open(t)
	p.create("apple")
	b.do(emulation.SetScriptExecutionDisabled(true))
	for _, address := range []string{"", "?events", "?cache=configmaps.v1&q=apple", "?controller=packer"} {
		var text string
		b.do(chromedp.Navigate(p.url+address), chromedp.Text("body", &text, chromedp.ByQuery))
		if !strings.Contains(text, "packer") || strings.Contains(text, "Live") {
			t.Errorf("%q reads: %s", address, text)
		}
		if strings.Contains(address, "events") != strings.Contains(text, "default/apple") && !strings.Contains(address, "q=apple") {
			t.Errorf("%q reads: %s", address, text)
		}
	}
}
