import type { Caller } from '#shared/ports/ports.ts';
import type { Reply, Route, RouteDependencies } from '../route.ts';
import { callAtEnd } from '#functions/lib/async-iterators.ts';
import { wantsStream } from './headers.ts';

/** Frees a place; once more does nothing. */
type Release = () => void;

/** Whether the answer may be a stream: as the client asks, or as the clients of a façade decide by themselves. */
const mayStream = ({ format = 'aip', method }: Route, accept: string | undefined): boolean =>
  (format !== 'aip' && method === 'POST') || wantsStream(accept);

/** A stream that frees its place when it ends, when it breaks, and when its reader leaves. */
const freeing = (reply: Extract<Reply, { kind: 'stream' }>, release: Release): Reply => ({
  ...reply,
  text: (reader) => callAtEnd(reply.text(reader), reader.left, release),
});

/**
 * Runs a request with a place for the stream that may come of it: who has as many open as is allowed is
 * refused before anything begins. Throws USER_STREAMS, and what `answer` throws.
 */
export async function withStreamPlace(
  { quota }: Pick<RouteDependencies, 'quota'>,
  input: { route: Route; caller: Caller | undefined; accept: string | undefined },
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const { route, caller, accept } = input;
  if (!caller) return answer();
  const early = mayStream(route, accept) ? quota.openStream(caller) : undefined;
  try {
    const reply = await answer();
    if (reply.kind === 'stream') return freeing(reply, early ?? quota.openStream(caller));
    early?.();
    return reply;
  } catch (error) {
    early?.();
    throw error;
  }
}
