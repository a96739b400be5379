package page_test

import (
	"fmt"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
)

func Example() {
	names := []string{"ash", "beech", "cedar", "elm", "fir"}
	key := func(i int) string { return names[i] }
	for cursor, more := "", true; more; {
		places, err := page.Places(cursor, "trees", 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		from := places[0].In(len(names), key)
		shown, _, _ := page.Fill(from, len(names), 0, 18, true, func(i int) (string, error) { return names[i], nil })
		fmt.Println(shown)
		to := from + len(shown)
		cursor, more = page.Cursor("trees", page.After(to, key)), to < len(names)
	}
	// Output:
	// [ash beech]
	// [cedar elm]
	// [fir]
}
