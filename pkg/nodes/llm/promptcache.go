package llm

import (
	"crypto/sha256"
	"encoding/hex"
)

// textPart returns a text as a part of a message. If it is marked, it is the end of what the provider keeps in its cache: Anthropic's
// API and OpenRouter have the same field for it.
func textPart(text string, marked bool) object {
	part := object{"type": "text", "text": text}
	if marked {
		part["cache_control"] = object{"type": "ephemeral"}
	}
	return part
}

// marksCache reports whether requests of the chat completions API mark what to keep in the cache.
func (x *exchange) marksCache(q *question) bool { return q.cached && x.at.provider == openrouterName }

// cacheKey returns the same key for all questions with the same model and instructions. OpenAI's service sends requests with the
// same key to the same machine, which has their beginning in its cache. It is empty for other servers, which may reject it.
func (x *exchange) cacheKey(q *question) string {
	if !q.cached || !x.at.own || x.at.provider != openaiName {
		return ""
	}
	sum := sha256.Sum256([]byte(q.model + "\x00" + q.instructions()))
	return "pflow-" + hex.EncodeToString(sum[:16])
}
