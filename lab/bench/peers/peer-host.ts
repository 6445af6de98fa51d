import { shortReason } from './short-reason.ts';
import { orderSchema, type Figures, type Reply } from './peer-wire.ts';

/** What a peer can be asked for, by name; each takes one argument and resolves to what was measured, by name. */
type PeerWorks = Readonly<Record<string, (argument: string) => Promise<Figures>>>;

/** Works off one order. An order that is none, and a work that fails, are answered with the reason. */
export async function replyTo(message: unknown, works: PeerWorks): Promise<Reply> {
  try {
    const { work, argument } = orderSchema.parse(message);
    const run = works[work];
    if (run === undefined) throw new Error(`nobody can ${work}`);
    return { kind: 'done', figures: await run(argument) };
  } catch (error) {
    return { kind: 'failed', reason: shortReason(error) };
  }
}

/** Makes this process one of a peer: it works off the orders of its parent, one at a time, until that is gone. */
export function servePeer(works: PeerWorks): void {
  process.on('message', (message) => {
    void replyTo(message, works).then((reply) => process.send?.(reply));
  });
  process.on('disconnect', () => process.exit(0));
}

/**
 * A package that only the peer has. `url` is what its script resolves (`import.meta.resolve`), so that neither the
 * compiler nor the linter looks for it; what is used of it is declared by the caller.
 */
export const peerModule = async <Used>(url: string): Promise<Used> => (await import(url)) as Used;
