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
