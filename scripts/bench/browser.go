package main

import (
	"github.com/tidwall/gjson"
)

// playwright needs a browser, and the package of the end-to-end tests that drives it. scripts/test installs them.
const playwright = "command -v node chromium && test -e $R/test/client/node_modules/playwright-core"

// paintedPage measures until a browser has painted the first row of the web page of 10,000 runs, from the start of the navigation, next to a
// page with one row and nothing else.
func paintedPage(s *stage) []side {
	url := s.runsPage()
	return []side{{name: "pflow-serve http", limits: "first row painted ms <= 300", run: func() figures {
		times := s.sh("node $R/test/client/first-row.mjs " + url + " 1")
		return figures{"first row painted ms": gjson.Get(times, "page.0").Float(), "page of one row ms": gjson.Get(times, "bare.0").Float()}
	}}}
}
