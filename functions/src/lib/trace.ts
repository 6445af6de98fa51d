import type { EventPublisher, Logger } from '#shared/ports/ports.ts';

/** One request of an app and all that comes of it, by the name that the platform gave it. */
interface Trace {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** As W3C Trace Context writes it (`00-<traceId>-<parent>-<flags>`): header, and attribute of messages. */
  traceparent: string;
}

/** The attribute of messages that carries a trace to the worker. */
export const TRACE_ATTRIBUTE = 'traceparent';

/** Cloud Logging groups lines by this field, and shows them below their trace. */
const TRACE_FIELD = 'logging.googleapis.com/trace';

const nothing = /^0+$/;

/**
 * The trace that a request belongs to; Cloud Run gives every request the header `traceparent`. undefined where there is
 * none, or none that can be read.
 */
export function readTrace(text = ''): Trace | undefined {
  const [, version, traceId = '', parent = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/.exec(text) ?? [];
  if (version === undefined || version === 'ff' || nothing.test(traceId) || nothing.test(parent))
    return undefined;
  return { traceId, traceparent: `00-${traceId}-${parent}-${text.slice(53, 55)}` };
}

interface Traced {
  logger: Logger;
  publisher: EventPublisher;
  config: { readonly GOOGLE_CLOUD_PROJECT: string };
}

/** The same dependencies, whose log lines name the trace and whose messages carry it on. */
export function withTrace<Dependencies extends Traced>(
  dependencies: Dependencies,
  trace: Trace | undefined,
): Dependencies {
  if (trace === undefined) return dependencies;
  const { logger, publisher, config } = dependencies;
  const name = `projects/${config.GOOGLE_CLOUD_PROJECT}/traces/${trace.traceId}`;
  return {
    ...dependencies,
    logger: {
      log: (severity, event, fields) =>
        logger.log(severity, event, { ...fields, [TRACE_FIELD]: name }),
    } satisfies Logger,
    publisher: {
      publish: (event) =>
        publisher.publish({
          ...event,
          attributes: { ...event.attributes, [TRACE_ATTRIBUTE]: trace.traceparent },
        }),
    } satisfies EventPublisher,
  };
}
