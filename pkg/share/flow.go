package share

import (
	"context"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// Flow describes a shared workflow to those who have its token.
type Flow struct {
	Name        string       `json:"name"`
	Description *string      `json:"description"`
	OwnerFunded bool         `json:"ownerFunded"`
	Inputs      []FlowInput  `json:"inputs"`
	Outputs     []FlowOutput `json:"outputs"`
}

// FlowInput is a declared input of a workflow. Its value is text, which takes the declared type.
type FlowInput struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Type  string `json:"type"`
}

// FlowOutput is a declared output of a workflow.
type FlowOutput struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Flow returns the description of the workflow that a token shares, its inputs and outputs sorted by name.
func (s *Service) Flow(ctx context.Context, token string) (Flow, error) {
	share, err := s.share(ctx, token)
	if err != nil {
		return Flow{}, err
	}
	file, err := s.shared(share)
	if err != nil {
		return Flow{}, err
	}
	flow := Flow{Name: share.Workflow, OwnerFunded: share.OwnerFunded, Inputs: []FlowInput{}, Outputs: []FlowOutput{}}
	if text := file.Workflow.Description; text != "" {
		text = redact.For(nil, s.Env).Text(text)
		flow.Description = &text
	}
	for _, name := range slices.Sorted(maps.Keys(file.Workflow.Inputs)) {
		flow.Inputs = append(flow.Inputs, FlowInput{name, name, "text-input"})
	}
	for _, name := range slices.Sorted(maps.Keys(file.Workflow.Outputs)) {
		flow.Outputs = append(flow.Outputs, FlowOutput{name, name})
	}
	return flow, nil
}
