package llm

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
)

// cacheMark returns the field that marks the end of what a provider keeps in its cache, as Anthropic's API and OpenRouter have it.
func cacheMark() map[string]any {
	return map[string]any{"cache_control": map[string]string{"type": "ephemeral"}}
}

// marksCache reports whether requests of the chat completions API get these marks.
func (x *exchange) marksCache(q *question) bool { return q.cached && x.at.provider == openrouterName }

// cache marks the system prompt and the first turn of a request of the messages API.
func (q *question) cache(p *anthropic.MessageNewParams) {
	if !q.cached {
		return
	}
	for i := range p.System {
		p.System[i].CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	first := p.Messages[0].Content
	first[len(first)-1].OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
}

// systemMessage returns the system prompt as a message of the chat completions API.
func (x *exchange) systemMessage(q *question, text string) openai.ChatCompletionMessageParamUnion {
	if !x.marksCache(q) {
		return openai.SystemMessage(text)
	}
	part := openai.ChatCompletionContentPartTextParam{Text: text}
	part.SetExtraFields(cacheMark())
	return openai.SystemMessage([]openai.ChatCompletionContentPartTextParam{part})
}

// cacheKey returns the same key for all questions with the same model and instructions. OpenAI's service sends requests with the
// same key to the same machine, which has their beginning in its cache. It is empty for other servers, which may reject it.
func (x *exchange) cacheKey(q *question) string {
	if !q.cached || !x.at.own || x.at.provider != openaiName {
		return ""
	}
	sum := sha256.Sum256([]byte(q.model + "\x00" + q.instructions()))
	return "pflow-" + hex.EncodeToString(sum[:16])
}
