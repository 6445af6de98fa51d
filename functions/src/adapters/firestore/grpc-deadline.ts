import { AsyncLocalStorage } from 'node:async_hooks';

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
