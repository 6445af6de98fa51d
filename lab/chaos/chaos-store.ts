import { z } from 'zod';
import type { Clock, DocumentStore, Write } from '#shared/ports/ports.ts';
import type { EntryMessage, EntrySettings } from './phones/entry-settings.ts';
import type { Random } from './random.ts';

/** Longer than the lease of 60 s: when the worker comes back, another may have done its work. */
const SHORTEST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 240_000;

const madeSchema = z.looseObject({
  generation: z.number(),
  by: z.string(),
  requestId: z.string().optional(),
});

const NEED = 'compactionRequests.auto';

interface ChaosStoreOptions {
  settings: Pick<EntrySettings, 'broken' | 'pausedSwapShare'>;
  random: Random;
  clock: Clock;
  tell: (message: EntryMessage) => void;
  /** Called with the request id of a need before the batch that notes it. */
  onRequest: (requestId: string) => void;
}

const historyOf = (writes: readonly Write[]) =>
  writes.find((write) => write.op === 'create' && write.path.includes('/histories/'));

function requestIdsOf(writes: readonly Write[]): string[] {
  return writes
    .flatMap((write) => (write.op === 'delete' ? [] : [write.fields]))
    .flatMap((fields) => [fields[NEED], fields['compactionRequests.manual']])
    .flatMap((need) =>
      typeof need === 'object' &&
      need !== null &&
      'requestId' in need &&
      typeof need.requestId === 'string'
        ? [need.requestId]
        : [],
    );
}

/** The batch that ends a turn, without the need that it notes. */
const withoutRequest = (writes: readonly Write[]): Write[] =>
  writes.map((write) => {
    if (write.op !== 'update' || write.fields[NEED] === undefined) return write;
    const { [NEED]: _, ...fields } = write.fields;
    return { ...write, fields };
  });

/** The batch of a swap without its guards: it overwrites what another worker has made. */
async function withoutFence(
  store: Pick<DocumentStore, 'get'>,
  writes: readonly Write[],
): Promise<Write[]> {
  const history = historyOf(writes);
  const [existing] = history ? await store.get([history.path]) : [];
  return writes.map((write): Write => {
    if (write.op === 'create' && write === history && existing)
      return { ...write, op: 'update', guard: { exists: true } };
    return write.op === 'update' ? { ...write, guard: { exists: true } } : write;
  });
}

/**
 * A store as chaos wants it: some swaps stand still before they are committed, and with `broken` one
 * protection is missing. Every generation that was made is told.
 */
export function chaosStore(inner: DocumentStore, options: ChaosStoreOptions): DocumentStore {
  const { settings, random, clock, tell } = options;

  async function altered(writes: readonly Write[]): Promise<readonly Write[]> {
    if (settings.broken === 'outbox') return withoutRequest(writes);
    if (settings.broken === 'fence' && historyOf(writes)) return withoutFence(inner, writes);
    return writes;
  }

  return {
    ...inner,
    async commit(writes) {
      for (const requestId of requestIdsOf(writes)) options.onRequest(requestId);
      const history = historyOf(writes);
      if (history && random.chance(settings.pausedSwapShare)) {
        tell({ kind: 'fault', name: 'paused swap' });
        await clock.wait(random.integer(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS));
      }
      const times = await inner.commit(await altered(writes));
      if (history?.op === 'create') {
        const { generation, by, requestId } = madeSchema.parse(history.fields);
        const conversationId = history.path.split('/')[1] ?? '';
        // The first generation of a fork: whoever takes the copy over makes it anew.
        if (requestId !== conversationId)
          tell({ kind: 'generation', conversationId, generation, by });
      }
      return times;
    },
  };
}
