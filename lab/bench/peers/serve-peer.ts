/** What a peer's process is asked to do: one of its works, with one argument. */
export interface Order {
  work: string;
  argument: string;
}

/** What it answers: ms, or why it could not do it. */
export type Reply = { ms: number } | { reason: string };

/** Makes this process one of a peer: it works off the orders of its parent, one at a time, until that is gone. */
export function servePeer(works: Readonly<Record<string, (argument: string) => Promise<number>>>) {
  process.on('message', (order) => {
    const { work, argument } = order as Order;
    works[work]?.(argument).then(
      (ms) => process.send?.({ ms }),
      (error: unknown) => process.send?.({ reason: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

/**
 * A package that only the peer has. `url` is what its script resolves (`import.meta.resolve`), so that neither the
 * compiler nor the linter looks for it; what is used of it is declared by the caller.
 */
export const peerModule = async <Used>(url: string): Promise<Used> => (await import(url)) as Used;
