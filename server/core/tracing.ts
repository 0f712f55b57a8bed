/**
 * Traces by OpenTelemetry, exported by OTLP over HTTP. Loaded only where they are wanted (wantsTraces of config.ts); the SDK reads
 * its OTEL_ variables from the environment. Spans are handed on as arguments: nothing follows asynchronous calls.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Span as ApiSpan,
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  getNumberFromEnv,
  getStringFromEnv,
  getStringListFromEnv,
  setGlobalErrorHandler,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { limits } from './limits.ts';
import type { Observe } from './observe.ts';
import type { Span, SpanAttributes } from './span.ts';

const TASK = 'exporting traces';

/** The span of a request. */
type RequestSpan = Span & {
  /** Ends it. @param status absent: the connection ended before the answer */
  answered(status: number | undefined): void;
};

export type Tracing = {
  /**
   * Begins the span of a request, under its caller's where `traceparent` names one.
   * @param route the pattern; absent: no route matches
   * @returns undefined for a request that is not sampled
   */
  request(method: string, route: string | undefined, headers: Headers): RequestSpan | undefined;
  /** Exports what waits, in limits.tracesFlushMsMax at most. */
  close(): Promise<void>;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function createTracing({ observe, version }: { observe: Observe; version: string }): Tracing {
  const tell = (message: string) => observe({ kind: 'background_failed', task: TASK, error: new Error(message) });
  const quiet = () => {};
  diag.setLogger(
    { error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) => observe({ kind: 'background_failed', task: TASK, error }));
  const own = resourceFromAttributes({ 'service.name': 'accord', 'service.version': version });
  const sampling = samplingOf();
  const provider = new BasicTracerProvider({
    ...(sampling && { sampler: sampling.sampler }),
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('accord', version);
  const propagators = getStringListFromEnv('OTEL_PROPAGATORS') ?? ['tracecontext'];
  const propagator = propagators.includes('tracecontext') ? new W3CTraceContextPropagator() : undefined;
  return {
    request(method, route, headers) {
      const context =
        propagator === undefined || headers.traceparent === undefined
          ? ROOT_CONTEXT
          : propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const caller = context === ROOT_CONTEXT ? undefined : trace.getSpanContext(context);
      if (sampling !== undefined && !sampling.mayTrace(caller)) return undefined;
      const name = route === undefined ? method : `${method} ${route}`;
      const attributes = { 'http.request.method': method, ...(route === undefined ? {} : { 'http.route': route }) };
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, context);
      return span.isRecording() ? new OpenRequestSpan(tracer, span, context) : undefined;
    },
    async close() {
      const waiting = new AbortController();
      const late = sleep(limits.tracesFlushMsMax, undefined, { signal: waiting.signal }).catch(() => {});
      await Promise.race([provider.shutdown().catch((error) => tell(String(error))), late]);
      waiting.abort();
    },
  };
}

/** Which requests are traced, where a share of them is. */
type Sampling = {
  /** Of what mayTrace let pass. */
  sampler: Sampler;
  /** @param caller what traceparent says, if anything */
  mayTrace(caller: SpanContext | undefined): boolean;
};

/**
 * The samplers that trace a share: a request without a caller's trace is counted out before the SDK makes ids, attributes and a
 * span for it, which took 2 us of CPU. Undefined: the SDK's sampler decides alone.
 */
function samplingOf(): Sampling | undefined {
  const name = getStringFromEnv('OTEL_TRACES_SAMPLER');
  const share = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG');
  if (share === undefined || share < 0 || share > 1) return undefined;
  const isChosen = () => Math.random() < share;
  const root = new AlwaysOnSampler();
  if (name === 'parentbased_traceidratio') {
    const mayTrace: Sampling['mayTrace'] = (caller) =>
      caller === undefined ? isChosen() : (caller.traceFlags & TraceFlags.SAMPLED) !== 0;
    return { sampler: new ParentBasedSampler({ root }), mayTrace };
  }
  if (name !== 'traceidratio') return undefined;
  const byId = new TraceIdRatioBasedSampler(share);
  const sampler = new ParentBasedSampler({ root, remoteParentSampled: byId, remoteParentNotSampled: byId });
  return { sampler, mayTrace: (caller) => caller !== undefined || isChosen() };
}

class OpenSpan implements Span {
  readonly #tracer: Tracer;
  readonly #context: Context;
  protected readonly span: ApiSpan;

  constructor(tracer: Tracer, span: ApiSpan, parent: Context) {
    this.#tracer = tracer;
    this.span = span;
    this.#context = trace.setSpan(parent, span);
  }

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  child(name: string): Span {
    return new OpenSpan(this.#tracer, this.#tracer.startSpan(name, {}, this.#context), this.#context);
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes(attributes);
  }

  end(error?: unknown): void {
    if (error !== undefined) {
      // Not its message, which may quote what was asked.
      const { code, name } = error as { code?: unknown; name?: unknown };
      this.span.setAttribute('error.type', String(code ?? name ?? 'error'));
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

class OpenRequestSpan extends OpenSpan implements RequestSpan {
  answered(status: number | undefined): void {
    if (status !== undefined) this.set({ 'http.response.status_code': status });
    if (status !== undefined && status >= 500) {
      this.set({ 'error.type': String(status) });
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.end();
  }
}
