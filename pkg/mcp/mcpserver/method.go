package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Method answers a request whose method MCP does not have. The result is a JSON object. An *Error is sent as it is, and
// any other error as a fault: a fault that is not_found or a wrong usage has the code -32602, any other -32603. The
// context ends as that of a tool's call does.
type Method func(ctx context.Context, request *CustomRequest) (json.RawMessage, error)

// CustomRequest is a request for a Method.
type CustomRequest struct {
	Method string
	// Revision is the protocol revision that the request follows.
	Revision string
	// Params is a JSON object in the client's own bytes, with the member _meta if the client sent one. It is nil if the
	// client sent no params.
	Params json.RawMessage
}

// customParams are params that keep their bytes.
type customParams struct {
	mcp.ParamsBase
	raw json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *customParams) UnmarshalJSON(data []byte) error {
	p.raw = bytes.Clone(data)
	return json.Unmarshal(data, &p.ParamsBase)
}

// customResult is a result that is a JSON object already, and the members of its _meta.
type customResult struct {
	mcp.ResultBase
	document json.RawMessage
}

// MarshalJSON implements json.Marshaler. It adds what the SDK has put into the _meta of the result.
func (r *customResult) MarshalJSON() ([]byte, error) {
	if len(r.Meta) == 0 {
		return r.document, nil
	}
	meta, err := rawjson.Marshal(r.Meta)
	if err != nil {
		return nil, err
	}
	return sjson.SetRawBytes(r.document, "_meta", meta)
}

// addMethods registers the methods of the configuration.
func (s *Server) addMethods() error {
	methods := taskMethods(s.config.Tasks)
	maps.Copy(methods, s.config.Methods)
	for name, answer := range methods {
		handler := func(ctx context.Context, client *mcp.ServerSession, params *customParams) (*customResult, error) {
			return s.answerCustom(ctx, name, answer, &mcp.ServerRequest[*customParams]{Session: client, Params: params})
		}
		if err := mcp.AddReceivingCustomMethod(s.sdk, name, handler); err != nil {
			return fault.New(fault.Internal, "the method %s cannot be served: %v", name, err)
		}
	}
	return nil
}

func (s *Server) answerCustom(ctx context.Context, name string, answer Method, req *mcp.ServerRequest[*customParams]) (*customResult, error) {
	request := &CustomRequest{Method: name, Revision: revisionOf(ctx, req)}
	if req.Params != nil {
		request.Params = req.Params.raw
	}
	document, err := answer(ctx, request)
	if err != nil {
		return nil, protocolError(err, jsonrpc.CodeInvalidParams)
	}
	if !json.Valid(document) || !gjson.ParseBytes(document).IsObject() {
		return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "The result of %s is not a JSON object", name))
	}
	if request.Revision >= statelessRevision && !gjson.GetBytes(document, "resultType").Exists() {
		if document, err = sjson.SetRawBytes(document, "resultType", []byte(`"complete"`)); err != nil {
			return nil, rpcError(jsonrpc.CodeInternalError, fault.From(err))
		}
	}
	result := &customResult{document: document}
	if meta := gjson.GetBytes(document, "_meta"); meta.IsObject() {
		result.Meta = mcp.Meta{}
		for name, value := range meta.Map() {
			result.Meta[name] = json.RawMessage(value.Raw)
		}
	}
	return result, nil
}
