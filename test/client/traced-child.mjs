// A program that uses OpenTelemetry on its own: it makes a span below the one in TRACEPARENT, and sends it as JSON.
import { context, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] });
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
const parent = propagation.extract(context.active(), { traceparent: process.env.TRACEPARENT, tracestate: process.env.TRACESTATE });
provider.getTracer('child').startSpan('work of the child', {}, parent).end();
console.log(process.env.BAGGAGE ?? '', trace.getSpanContext(parent)?.spanId);
await provider.shutdown();
