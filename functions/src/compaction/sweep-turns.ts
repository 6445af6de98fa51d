import {
  closeAbandonedWrites,
  type LeftBehind,
} from '../../../shared/conversation/abandoned-turns.ts';
import { turnPath } from '../../../shared/conversation/paths.ts';
import { readHead } from '../../../shared/conversation/read-conversation.ts';
import { readTurnDocument } from '../../../shared/conversation/turn.ts';
import { GuardLostError } from '../../../shared/errors.ts';
import type { StoredDocument, Value } from '../../../shared/ports.ts';
import { passCrashPoint } from './crash-points.ts';
import { conversationOf, earlierThan, forEachItem, pagesOf, type Sweep } from './sweep-pass.ts';

/** Chat changes a head at any moment; who loses this often has met a conversation that is alive. */
const MEND_TRIES = 5;
const AT_ONCE = 10;

/** What may be left behind in one conversation, or undefined where nobody may write any more. */
async function readLeftBehind(
  { dependencies }: Sweep,
  conversationId: string,
): Promise<LeftBehind | undefined> {
  const { store, clock } = dependencies;
  const head = await readHead(store, conversationId);
  if (head?.value.state !== 'live' && head?.value.state !== 'deleted') return undefined;
  const { open, queue, lastSeq } = head.value;
  const queued = queue ? Math.max(0, lastSeq - queue.first + 1) : 0;
  const seqs = [
    ...(open ? [open.seq] : []),
    ...Array.from({ length: queued }, (_, i) => (queue?.first ?? 1) + i),
  ];
  const found =
    seqs.length === 0 ? [] : await store.get(seqs.map((seq) => turnPath(conversationId, seq)));
  const turns = found.flatMap((document) =>
    document ? [readTurnDocument(conversationId, document)] : [],
  );
  return {
    conversationId,
    now: clock.now(),
    head,
    open: turns.find(({ value }) => value.seq === open?.seq),
    queue: turns.filter(({ value }) => value.seq !== open?.seq),
  };
}

/** Closes what was left behind in one conversation; returns how many turns. */
async function mendTurns(sweep: Sweep, conversationId: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    const found = await readLeftBehind(sweep, conversationId);
    const { writes, closed } = found ? closeAbandonedWrites(found) : { writes: [], closed: 0 };
    if (writes.length === 0) return 0;
    try {
      await sweep.dependencies.store.commit(writes);
      return closed;
    } catch (error) {
      if (!(error instanceof GuardLostError) || tries === MEND_TRIES) throw error;
    }
  }
}

const isMap = (value: Value | undefined): value is { readonly [field: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The open turn's path; that of a head that cannot be read names no turn. */
function openTurnPath(head: StoredDocument): string {
  const { open } = head.fields;
  const seq = isMap(open) ? Number(open['seq']) : 0;
  return turnPath(conversationOf(head), seq);
}

/** Heads of a page whose open turn nobody answers: the head knows the lease of its start alone. */
async function withoutProducer(
  { dependencies }: Sweep,
  page: readonly StoredDocument[],
): Promise<StoredDocument[]> {
  const turns = await dependencies.store.get(page.map(openTurnPath));
  const now = dependencies.clock.now();
  return page.filter((_, i) => {
    const leaseUntil = turns[i]?.fields['leaseUntil'];
    return !(leaseUntil instanceof Date) || leaseUntil <= now;
  });
}

/**
 * Closes the turns that nobody answers any more, and the queued messages whose senders have left, so that
 * the next message does not find them in its way.
 */
export async function sweepTurns(sweep: Sweep): Promise<void> {
  const now = sweep.dependencies.clock.now();
  const mend = async (heads: readonly StoredDocument[]) =>
    forEachItem(sweep, { pass: 'turns', items: heads, atOnce: AT_ONCE }, async (head) => {
      sweep.counts.turnsClosed += await mendTurns(sweep, conversationOf(head));
      await passCrashPoint(sweep.dependencies, 'sweep-turns-mended');
    });
  for await (const page of pagesOf(sweep, earlierThan('open.leaseUntil', now)))
    await mend(await withoutProducer(sweep, page));
  for await (const page of pagesOf(sweep, earlierThan('queue.leaseUntil', now))) await mend(page);
}
