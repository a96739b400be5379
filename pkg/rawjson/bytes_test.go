package rawjson

import (
	"encoding/json"
	"testing"
)

func TestBytes(t *testing.T) {
	for text, want := range map[string]struct {
		bytes Bytes
		shown string
	}{
		`1`:                {1, "1 byte"},
		`30000000`:         {30e6, "30 MB"},
		`2e3`:              {2000, "2 kB"},
		`"1500"`:           {1500, "1500 bytes"},
		`"30MB"`:           {30e6, "30 MB"},
		`"30 mb"`:          {30e6, "30 MB"},
		`" 1.5GiB "`:       {3 << 29, "1536 MiB"},
		`"64k"`:            {64 << 10, "64 KiB"},
		`"500kB"`:          {500e3, "500 kB"},
		`"7B"`:             {7, "7 bytes"},
		`".5KiB"`:          {512, "512 bytes"},
		`"2TB"`:            {2e12, "2 TB"},
		`"\u0032KB"`:       {2000, "2 kB"},
		`9007199254740991`: {1<<53 - 1, "9007199254740991 bytes"},
	} {
		var got Bytes
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want.bytes || got.String() != want.shown {
			t.Errorf("%s is %d (%s), %v; want %d (%s)", text, int64(got), got, err, int64(want.bytes), want.shown)
		}
	}
	for _, text := range []string{
		`0`, `-1`, `1.5`, `null`, `true`, `{}`, `[1]`, `""`, `"MB"`, `"0MB"`, `"1.5"`, `"-1MB"`, `"1e3MB"`, `"1MBit"`, `"1 M B"`, `"1..5MB"`, `"infMB"`, `"0x10"`, `"NaN"`,
		`9007199254740992`, `"9999999TB"`, `1e400`,
	} {
		var got Bytes
		if err := json.Unmarshal([]byte(text), &got); err == nil && got != 0 {
			t.Errorf("%s is %d, want an error", text, int64(got))
		}
	}
}
