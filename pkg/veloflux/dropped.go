package veloflux

// Warning is what a verification has to say of SQL that is valid: a construct that the Manager accepts and leaves out of the
// plan without a word; or, as cleanup, a temporary pipeline that is not deleted yet.
type Warning struct {
	Construct string `json:"construct"`
	// Message says what happens instead, and what to write.
	Message string `json:"message"`
	// Line and Column are where the construct begins, counted from 1, the column in characters; both are 0, and left out in
	// JSON, of what has no place in the text.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// droppedConstructs finds what the Manager drops of a query: WITH, DISTINCT and TOP after SELECT, sub-queries in FROM,
// QUALIFY, LIMIT, OFFSET and FETCH. The list is in the order of the text and never nil. Nothing is reported of what
// stands inside a sub-query, and little of SQL that the Manager refuses: its error says more.
//
// The Manager's parser takes all of the ANSI grammar, and its planner reads of that the projection, the names of the
// streams in FROM, WHERE, GROUP BY, HAVING and ORDER BY.
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

// droppedMessage is a construct's message.
func droppedMessage(construct string) string {
	const allRows = " is accepted and ignored: the pipeline sends every row, for as long as it runs. Leave it out. "
	switch construct {
	case "LIMIT", "FETCH", "TOP":
		return construct + allRows + "Narrow the rows with WHERE, aggregate them in a window, or let the reader of the sink stop."
	case "OFFSET":
		return construct + allRows + "Skip rows with WHERE, or in the reader of the sink."
	case "DISTINCT":
		return "SELECT DISTINCT is accepted and ignored: rows that are equal are all sent. For one row per value aggregate " +
			"in a window, as in SELECT a, count(*) FROM s GROUP BY tumblingwindow('ss', 10), a."
	case "sub-query in FROM":
		return "A sub-query in FROM is accepted and ignored: the streams in it are read as if they stood in the outer FROM, and " +
			"its own columns, WHERE, GROUP BY and the rest are lost. Write one SELECT over the stream, or make the inner query a " +
			"pipeline of its own with a memory sink and read its topic through a memory stream."
	case "WITH":
		return "WITH is accepted and ignored: a name in FROM is always that of a stream, never of a query in WITH. Write one " +
			"SELECT over the stream."
	case "QUALIFY":
		return "QUALIFY is accepted and ignored: no row is left out by it. Write the condition in WHERE, or in HAVING if it is " +
			"about an aggregate in a window."
	}
	return construct + " is accepted and ignored."
}
