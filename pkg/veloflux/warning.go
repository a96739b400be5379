package veloflux

import (
	"cmp"
	"slices"
	"strings"
)

// Warning is a problem that a verification found although the SQL is valid: a construct that the Manager accepts but
// ignores or computes in another way than SQL says, or something about the verification itself.
type Warning struct {
	Construct string `json:"construct"`
	// Message says what happens instead, and what to write instead.
	Message string `json:"message"`
	// Line and Column are where the construct begins, from 1, the column in characters. Both are 0, and left out of the
	// JSON, if the warning is not about a place in the SQL.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// warningsFor returns a warning for each construct of a valid query that does not do what SQL says, in the order of the
// text. plan is the Manager's plan for the query, or "". The list is never nil. It does not cover the inside of sub-queries.
//
// The Manager's parser accepts the whole ANSI grammar, but its planner reads only the projection, the names of the
// streams in FROM, and WHERE, GROUP BY, HAVING and ORDER BY.
func warningsFor(sql, plan string) []Warning {
	s := queryScan{tokens: tokensOf(sql), found: []Warning{}}
	s.clauses()
	s.calls(plan)
	slices.SortStableFunc(s.found, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if strings.Count(plan[:max(0, strings.Index(plan, "Physical Plan"))], "DataSource_") > 1 {
		s.found = append(s.found, Warning{Construct: "JOIN", Message: warningMessage("JOIN")})
	}
	return s.found
}

// warningMessage returns the message of a construct's warning.
func warningMessage(construct string) string {
	const allRows = ": the pipeline sends every row, for as long as it runs. Leave it out. "
	ignored := construct + " is accepted and ignored"
	switch construct {
	case "LIMIT", "FETCH", "TOP":
		return ignored + allRows + "Narrow the rows with WHERE, aggregate them in a window, or let the reader of the sink stop."
	case "OFFSET":
		return ignored + allRows + "Skip rows with WHERE, or in the reader of the sink."
	case "DISTINCT":
		return "SELECT DISTINCT is accepted and ignored: equal rows are all sent. For one row per value, aggregate " +
			"in a window, as in SELECT a, count(*) FROM s GROUP BY tumblingwindow('ss', 10), a."
	case "sub-query in FROM":
		return "A sub-query in FROM is accepted and ignored: the streams in it are read as if they stood in the outer FROM, and " +
			"its own columns, WHERE, GROUP BY and the rest are lost. Write one SELECT over the stream, or make the inner query a " +
			"pipeline of its own with a memory sink and read its topic through a memory stream."
	case "WITH":
		return ignored + ": a name in FROM is always a stream, never a query in WITH. Write one SELECT over the stream."
	case "QUALIFY":
		return ignored + ": it filters out no row. Write the condition in WHERE, or in HAVING if it is about an aggregate in a window."
	case "FILTER":
		return "FILTER of an aggregate is accepted and ignored: the aggregate takes every row of its window. Write the condition in WHERE, " +
			"or inside the aggregate, as in sum(CASE WHEN b > 1 THEN a ELSE 0 END)."
	case distinctAggregate:
		return "DISTINCT in an aggregate is accepted, but the pipeline then never sends a row. Leave it out. For one row per value, " +
			"GROUP BY the column in a window, as in SELECT b, count(*) FROM s GROUP BY tumblingwindow('ss', 10), b."
	case aggregateAlone:
		return "An aggregate without a window is computed for each row alone: the pipeline sends one row per row. Declare a window, as in " +
			"GROUP BY tumblingwindow('ss', 10)."
	case "JOIN":
		return "A join is accepted, but nothing is joined: the pipeline sends the rows of each stream, and the condition is ignored. Select from one stream."
	case "PIVOT", "UNPIVOT":
		return ignored + ": rows and columns stay as they are. Write the columns yourself, as in sum(CASE WHEN b = 1 THEN a ELSE 0 END) AS b1."
	case "GROUP BY ALL":
		return ignored + ": nothing is grouped. Name the window and the columns, as in GROUP BY tumblingwindow('ss', 10), a."
	case "SORT BY", "CLUSTER BY", "DISTRIBUTE BY":
		return ignored + ": the rows keep their order. Leave it out, or write ORDER BY to sort the rows of a window."
	case "LATERAL VIEW":
		return ignored + ": it adds no row and no column. Leave it out, and take lists apart in the reader of the sink."
	case "INTO":
		return ignored + ": no table is made. Leave it out: the sinks of a pipeline say where its rows go."
	case "WINDOW":
		return ignored + ": nothing uses the window. Leave it out. Write OVER (PARTITION BY …) behind the function, or a window in GROUP BY."
	}
	return ignored + ". Leave it out." // FOR UPDATE and FOR SHARE
}
