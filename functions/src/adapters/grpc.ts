import { AsyncLocalStorage } from 'node:async_hooks';

/** How a client of gRPC finds out that its connection is dead. */
export interface KeepAlive {
  /** So long after the first call, and after each reply to a ping, the next ping is sent while there are calls; ms. */
  everyMs: number;
  /** Without a reply for so long the connection is closed, and the next call opens another; ms. */
  timeoutMs: number;
}

/** As often as Google's own clients ask; a server refuses many more. */
const KEEP_ALIVE: KeepAlive = { everyMs: 30_000, timeoutMs: 10_000 };

/**
 * Settings for a client of Google. Without them a connection whose bytes get lost on the way, with no reset, is used for
 * ever, and every call on it ends at its deadline.
 */
export const keepAliveSettings = ({ everyMs, timeoutMs }: KeepAlive = KEEP_ALIVE): Readonly<
  Record<string, number>
> => ({
  'grpc.keepalive_time_ms': everyMs,
  'grpc.keepalive_timeout_ms': timeoutMs,
});

/** What grpc-js hands to a call transformer, as far as it is read here. */
interface CallProperties {
  callOptions: { deadline?: Date | number };
}

/**
 * Ends every network attempt of a call at the call's own deadline. Firestore's client fixes its timeouts at
 * 60 s for one attempt and 600 s with retries, whatever `clientConfig` says (seen in 9.4.1, for commits): a
 * write that its caller has long given up could still arrive minutes later.
 */
export interface GrpcDeadline {
  /** Runs `call`; no attempt that it makes, now or in the background, outlives `deadlineMs`. */
  run<Result>(deadlineMs: number, call: () => Promise<Result>): Promise<Result>;
  /** Settings for the client: the option of grpc-js that sees each attempt before it starts. */
  clientSettings: Readonly<Record<string, unknown>>;
}

export function createGrpcDeadline(): GrpcDeadline {
  const endsAtMs = new AsyncLocalStorage<number>();

  function limit(properties: CallProperties): CallProperties {
    const deadline = endsAtMs.getStore();
    if (deadline === undefined) return properties;
    return { ...properties, callOptions: { ...properties.callOptions, deadline } };
  }

  return {
    run: async (deadlineMs, call) => endsAtMs.run(Date.now() + deadlineMs, call),
    clientSettings: { 'grpc.callInvocationTransformer': limit },
  };
}
