package redact_test

import (
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/home/redact"
)

func Example() {
	r := redact.New()
	r.Add("API_KEY", "s3cret-value")
	fmt.Println(r.Text("GET /?key=s3cret-value, or in base64 czNjcmV0LXZhbHVl"))

	// A string under a secret name becomes a secret itself.
	event, _ := r.JSON(json.RawMessage(`{"password":"hunter22","log":"logged in with hunter22"}`))
	fmt.Println(string(event))
	// Output:
	// GET /?key=<redacted>, or in base64 <redacted>
	// {"password":"<redacted>","log":"logged in with <redacted>"}
}
