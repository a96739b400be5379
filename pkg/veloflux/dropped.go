package veloflux

// Warning is a problem that a verification found although the SQL is valid: a construct that the Manager accepts but
// silently leaves out of the plan, or, with the construct cleanup, a temporary pipeline that is not deleted yet.
type Warning struct {
	Construct string `json:"construct"`
	// Message says what happens instead, and what to write instead.
	Message string `json:"message"`
	// Line and Column are where the construct begins, from 1, the column in characters. Both are 0, and left out of the
	// JSON, if the warning is not about a place in the SQL.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// droppedConstructs returns a warning for each construct of a query that the Manager drops: WITH, DISTINCT and TOP after
// SELECT, sub-queries in FROM, QUALIFY, LIMIT, OFFSET and FETCH. The list is in the order of the text and is never nil.
// It does not cover the inside of sub-queries, and covers little of SQL that the Manager refuses: its error says more.
//
// The Manager's parser accepts the whole ANSI grammar, but its planner reads only the projection, the names of the
// streams in FROM, and WHERE, GROUP BY, HAVING and ORDER BY.
func droppedConstructs(sql string) []Warning {
	s := clauseScan{lexer: newLexer(sql), found: []Warning{}}
	for {
		t := s.lexer.next()
		if t.kind == endToken || t.kind == symbolToken && t.text == ";" {
			return s.found
		}
		s.step(t)
	}
}

// droppedMessage returns the message of a construct's warning.
func droppedMessage(construct string) string {
	const allRows = " is accepted and ignored: the pipeline sends every row, for as long as it runs. Leave it out. "
	switch construct {
	case "LIMIT", "FETCH", "TOP":
		return construct + allRows + "Narrow the rows with WHERE, aggregate them in a window, or let the reader of the sink stop."
	case "OFFSET":
		return construct + allRows + "Skip rows with WHERE, or in the reader of the sink."
	case "DISTINCT":
		return "SELECT DISTINCT is accepted and ignored: equal rows are all sent. For one row per value, aggregate " +
			"in a window, as in SELECT a, count(*) FROM s GROUP BY tumblingwindow('ss', 10), a."
	case "sub-query in FROM":
		return "A sub-query in FROM is accepted and ignored: the streams in it are read as if they stood in the outer FROM, and " +
			"its own columns, WHERE, GROUP BY and the rest are lost. Write one SELECT over the stream, or make the inner query a " +
			"pipeline of its own with a memory sink and read its topic through a memory stream."
	case "WITH":
		return "WITH is accepted and ignored: a name in FROM is always a stream, never a query in WITH. Write one " +
			"SELECT over the stream."
	case "QUALIFY":
		return "QUALIFY is accepted and ignored: it filters out no row. Write the condition in WHERE, or in HAVING if it is " +
			"about an aggregate in a window."
	}
	return construct + " is accepted and ignored."
}
