package veloflux

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// places returns each warning as "construct line:column".
func places(warnings []Warning) []string {
	out := []string{}
	for _, w := range warnings {
		out = append(out, fmt.Sprintf("%s %d:%d", w.Construct, w.Line, w.Column))
	}
	return out
}

func TestDroppedConstructs(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"SELECT a FROM user LIMIT 5", []string{"LIMIT 1:20"}},
		{"select a from user limit 5;", []string{"LIMIT 1:20"}},
		{"SELECT a FROM user LIMIT 5 OFFSET 2", []string{"LIMIT 1:20", "OFFSET 1:28"}},
		{"SELECT a FROM user OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY", []string{"OFFSET 1:20", "FETCH 1:34"}},
		{"SELECT a FROM user FETCH FIRST ROW ONLY", []string{"FETCH 1:20"}},
		{"SELECT TOP 5 * FROM user", []string{"TOP 1:8"}},
		{"SELECT TOP 5 PERCENT * FROM user LIMIT 1", []string{"TOP 1:8", "LIMIT 1:34"}},
		{"SELECT a FROM user QUALIFY a > 1", []string{"QUALIFY 1:20"}},
		{"SELECT DISTINCT a FROM user", []string{"DISTINCT 1:8"}},
		{"SELECT DISTINCT(a) FROM user LIMIT 1", []string{"DISTINCT 1:8", "LIMIT 1:30"}},
		{"SELECT DISTINCT ON (a) * FROM user LIMIT 1", []string{"DISTINCT 1:8", "LIMIT 1:36"}},
		{"SELECT DISTINCT TOP (3) * FROM user", []string{"DISTINCT 1:8", "TOP 1:17"}},
		{"SELECT DISTINCT distinct FROM user LIMIT 1", []string{"DISTINCT 1:8", "LIMIT 1:36"}},
		{"WITH x AS (SELECT DISTINCT a FROM user LIMIT 3) SELECT a FROM x", []string{"WITH 1:1"}},
		{"WITH RECURSIVE x AS (SELECT 1), y AS (SELECT 2) SELECT a FROM user LIMIT 1", []string{"WITH 1:1", "LIMIT 1:68"}},

		// Sub-queries in FROM, but not the constructs inside them.
		{"SELECT a FROM (SELECT a FROM user) t", []string{"sub-query in FROM 1:15"}},
		{"SELECT a FROM (SELECT DISTINCT a FROM (SELECT a FROM user) LIMIT 3) t LIMIT 1", []string{"sub-query in FROM 1:15", "LIMIT 1:71"}},
		{"SELECT a FROM ((SELECT a FROM user)) t LIMIT 1", []string{"sub-query in FROM 1:16", "LIMIT 1:40"}},
		{"SELECT a FROM user, ( /* c */ SELECT b FROM o) o", []string{"sub-query in FROM 1:21"}},
		{"SELECT a FROM user JOIN (SELECT b FROM o) o ON user.a = o.b, (SELECT 1)", []string{"sub-query in FROM 1:25", "sub-query in FROM 1:62"}},
		{"SELECT a FROM ((a JOIN b ON x IN (SELECT 1)) CROSS JOIN (SELECT 2) f) LIMIT 1", []string{"sub-query in FROM 1:57", "LIMIT 1:71"}},
		{"SELECT a FROM LATERAL (VALUES (1)) v", []string{"sub-query in FROM 1:23"}},
		{"SELECT a FROM (WITH q AS (SELECT 1) SELECT a FROM q) t", []string{"sub-query in FROM 1:15"}},
		{"SELECT a FROM user WHERE a IN (SELECT b FROM o LIMIT 3)", nil},
		{"SELECT a FROM user WHERE a IN (1, 2) AND (SELECT 1) > 0", nil},
		{"SELECT a, (SELECT b FROM o LIMIT 1) FROM user", nil},
		{"SELECT a FROM f((SELECT 1), 2)", nil},
		{"SELECT a FROM user JOIN b ON x IN (SELECT 1)", nil},

		// Names that are keywords elsewhere.
		{"SELECT limit FROM t", nil},
		{"SELECT limit, offset, fetch, qualify FROM limit", nil},
		{"SELECT a AS limit, b AS distinct, c AS from FROM t AS limit", nil},
		{"SELECT t.limit, t.distinct, t . fetch, t.from, t.top FROM t", nil},
		{"SELECT limit FROM limit LIMIT 5", []string{"LIMIT 1:25"}},
		{"SELECT a FROM t WHERE limit > 5", nil},
		{"SELECT a FROM t WHERE t.case LIMIT 1", []string{"LIMIT 1:30"}},
		{"SELECT a FROM t WHERE a > limit AND NOT limit AND a BETWEEN limit AND offset", nil},
		{"SELECT a FROM t WHERE a * limit > 3 LIMIT 2", []string{"LIMIT 1:37"}},
		{"SELECT a FROM t WHERE CASE WHEN limit > 1 THEN limit ELSE offset END LIMIT 1", []string{"LIMIT 1:70"}},
		{"SELECT a FROM t WHERE a IS DISTINCT FROM limit", nil},
		{"SELECT a IS NOT DISTINCT FROM b FROM t LIMIT 1", []string{"LIMIT 1:40"}},
		{"SELECT a FROM t WHERE distinct LIMIT 1", []string{"LIMIT 1:32"}},
		{"SELECT a FROM t WHERE a NOT LIKE limit", nil},
		{"SELECT a FROM t WHERE a NOT IN (1) LIMIT 1", []string{"LIMIT 1:36"}},
		{"SELECT a FROM t WHERE a->limit = 1", nil},
		{"SELECT a FROM t WHERE @limit", nil},
		{"SELECT a FROM t ORDER BY limit", nil},
		{"SELECT a FROM t ORDER BY limit DESC, offset LIMIT 1", []string{"LIMIT 1:45"}},
		{"SELECT sum(a) FROM t GROUP BY limit, tumblingwindow('ss', 10) HAVING limit > 1", nil},
		{"SELECT sum(a) FROM t GROUP BY ALL LIMIT 1", []string{"GROUP BY ALL 1:22", "LIMIT 1:35"}},
		{"SELECT a FROM t LIMIT offset OFFSET limit", []string{"LIMIT 1:17", "OFFSET 1:30"}},
		{"SELECT limit(a), count(DISTINCT a) FROM t WHERE limit(a) > 5", nil},
		{"SELECT a FROM t AS x(limit) LIMIT 1", []string{"LIMIT 1:29"}},
		{"SELECT a FROM a JOIN b USING (limit) LIMIT 1", []string{"LIMIT 1:38"}},
		{"SELECT a, b distinct FROM t", nil},
		{"SELECT * FROM t LIMIT 1", []string{"LIMIT 1:17"}},
		{"SELECT t.*, 2 * a FROM t LIMIT 1", []string{"LIMIT 1:26"}},
		{"SELECT from FROM t LIMIT 1", []string{"LIMIT 1:20"}},
		{"SELECT tags[0] FROM t WHERE tags[limit] LIMIT 1", []string{"LIMIT 1:41"}},
		{"SELECT lag(a) OVER (PARTITION BY c) AS p FROM t LIMIT 1", []string{"LIMIT 1:49"}},
		{"SELECT ALL a FROM t", nil},

		// Comments and quoted text.
		{"SELECT 'LIMIT 5', 'it''s LIMIT 5' FROM t", nil},
		{"SELECT 'a\\' FROM t LIMIT 5", []string{"LIMIT 1:20"}},
		{"SELECT \"a\"\" LIMIT 5\" FROM \"limit\"", nil},
		{"SELECT `a`` LIMIT 5` FROM `limit` LIMIT 5", []string{"LIMIT 1:35"}},
		{"SELECT a FROM t -- LIMIT 5", nil},
		{"SELECT a FROM t -- x\nLIMIT 5", []string{"LIMIT 2:1"}},
		{"SELECT a FROM t /* LIMIT 5 /* nested */ LIMIT 5 */", nil},
		{"SELECT a FROM t /* /* x */ */ LIMIT 5", []string{"LIMIT 1:31"}},
		{"SELECT a FROM t /**/ LIMIT 5", []string{"LIMIT 1:22"}},
		{"SELECT a FROM t WHERE b = $$ LIMIT $$ OR b = $x$ LIMIT $$ $x$ OR b = $1", nil},
		{"SELECT a FROM t lımıt 5", []string{"LIMIT 1:17"}}, // the parser raises ı to I
		{"SELECT DISTINCTA, LIMITED FROM t WHERE OFFSET_1 > 1", nil},
		{"SELECT a FROM t WHERE a > 5LIMIT 5", nil}, // a long, and a word after it
		{"SELECT a FROM t WHERE a > 1.5e3 LIMIT 5", []string{"LIMIT 1:33"}},

		// Places are counted in characters.
		{"SELECT 'é中😀' AS größe\r\n  , ß\n\tFROM t\n\n LIMIT 5", []string{"LIMIT 5:2"}},
		{"SELECT '\n中', \"\n\n中中\", 'x' FROM t LIMIT 5", []string{"LIMIT 4:17"}},
		{"/* 中\n中 */ SELECT\u00a0DISTINCT a FROM t", []string{"DISTINCT 2:13"}},

		// SQL that the Manager refuses or supports.
		{"", nil},
		{";", nil},
		{"hello LIMIT 5", nil},
		{"INSERT INTO t VALUES (1)", nil},
		{"SELECT a FROM t; SELECT DISTINCT a FROM t LIMIT 1", nil},
		{"(SELECT a FROM t LIMIT 5)", nil},
		{"SELECT 1 LIMIT 5", nil},
		{"SELECT a FROM t LIMIT 'open", []string{"LIMIT 1:17"}},
		{"SELECT a FROM (SELECT", []string{"sub-query in FROM 1:15"}},
		{"SELECT a) FROM t) LIMIT 1", []string{"LIMIT 1:19"}},
		{"SELECT a, sum(b) FROM t WHERE a > 1 GROUP BY tumblingwindow('ss', 10), a HAVING sum(b) > 1 ORDER BY a DESC", nil},
	} {
		if c.want == nil {
			c.want = []string{}
		}
		if diff := cmp.Diff(c.want, places(warningsFor(c.sql, ""))); diff != "" {
			t.Errorf("%s\n%s", c.sql, diff)
		}
	}
}

// TestDroppedMessages asserts that each message names its construct, what happens to it, and what to do.
func TestDroppedMessages(t *testing.T) {
	found := warningsFor("WITH x AS (SELECT 1) SELECT DISTINCT TOP 5 a FROM (SELECT a FROM user) QUALIFY a LIMIT 1 OFFSET 2 FETCH NEXT ROW ONLY", "")
	if len(found) != 8 {
		t.Errorf("%d warnings, want 8: %v", len(found), places(found))
	}
	for _, w := range found {
		if !strings.Contains(w.Message, w.Construct) || !strings.Contains(w.Message, " is accepted and ignored: ") ||
			!strings.Contains(w.Message, "Write ") && !strings.Contains(w.Message, "Leave it out") && !strings.Contains(w.Message, "aggregate in a window") {
			t.Errorf("%s: %s", w.Construct, w.Message)
		}
	}
}

func FuzzDroppedConstructs(f *testing.F) {
	for _, s := range []string{
		"", "SELECT DISTINCT a FROM (SELECT 1) t LIMIT 5 OFFSET 2", "WITH x AS (SELECT 1) SELECT TOP 5 * FROM t FETCH NEXT ROW ONLY",
		"SELECT 'a''b', \"c\"\"d\", `e` FROM t -- x\n/* /* */ */ LIMIT 1", "SELECT $a$ $b$ $a$, $1, 1.5e-3L FROM ((t JOIN (SELECT 2)))", "'", "/*", "$", "SELECT é FROM\r\n\t中 LIMIT \xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		found := warningsFor(sql, "")
		if found == nil {
			t.Fatal("nil")
		}
		lines := strings.Split(sql, "\n")
		for _, w := range found {
			if w.Message == "" || w.Line < 1 || w.Line > len(lines) || w.Column < 1 {
				t.Fatalf("%+v in %q", w, sql)
			}
			if rest := fromColumn(lines[w.Line-1], w.Column); w.Construct == "sub-query in FROM" {
				if !strings.HasPrefix(rest, "(") {
					t.Fatalf("%s %d:%d stands at %q in %q", w.Construct, w.Line, w.Column, rest, sql)
				}
			} else if !strings.HasPrefix(strings.ToUpper(rest), strings.Fields(w.Construct)[0]) {
				t.Fatalf("%s %d:%d stands at %q in %q", w.Construct, w.Line, w.Column, rest, sql)
			}
		}
	})
}

// fromColumn returns a line from a column on.
func fromColumn(line string, column int) string {
	for ; column > 1 && line != ""; column-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}
