import { retry } from '#functions/lib/retry.ts';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import { mayBeCommitted } from '#shared/lib/errors.ts';
import type {
  Clock,
  DocumentStore,
  Randomness,
  StoredDocument,
  Write,
} from '#shared/ports/ports.ts';
import { type Usage, decodeUsage, encodeUsage, withBatch } from '#shared/quota/usage.ts';
import { type Budget, createBudget } from './budget.ts';

/** Where it is written what calls of models take: of their user, and of all users together. One for a process. */
export interface Accounting {
  usage: UsageDocuments;
  budget: Budget;
}

export const createAccounting = (dependencies: {
  store: Pick<DocumentStore, 'get' | 'commit' | 'sum'>;
  clock: Clock;
  randomness: Randomness;
}): Accounting => ({
  usage: createUsageDocuments(dependencies),
  budget: createBudget(dependencies),
});

/** How often a batch is tried when other instances write to the same documents, and the waits between, ms. */
const TRIES = 12;
const RETRY_MS = 10;
const RETRY_MAX_MS = 200;

/** Documents that are kept in memory: of the users whose figures changed last. */
export const DOCUMENTS_KEPT_MAX = 1_000;

/** A user's document of a day as it becomes, guarded by how it was read. */
export const usageWrite = (
  input: { path: string; document: StoredDocument | undefined },
  usage: Usage,
  now: Date,
) => {
  const { path, document } = input;
  const expireTime = document?.fields['expireTime'];
  // The figures that an erasure has left go earlier than others, whatever is counted after it.
  const fields = { ...encodeUsage(usage, now), ...(expireTime instanceof Date && { expireTime }) };
  return document
    ? ({ op: 'update', path, fields, guard: { updateTime: document.updateTime } } as const)
    : ({ op: 'create', path, fields } as const);
};

interface Changed<T> {
  result: T;
  /** Figures by day as they become; absent: they stay as they are. */
  usage?: Readonly<Record<string, Usage>>;
  /** What belongs into the same batch. */
  writes?: readonly Write[];
}

interface Change<T> {
  /** The days whose figures are looked at. */
  days: readonly string[];
  /** Other documents that are looked at. */
  paths?: readonly string[];
  /**
   * Called again where others have written meanwhile. `usageOf` gives undefined where a day has no figures. What it
   * throws is for who asked, and changes nothing.
   */
  decide: (
    usageOf: (day: string) => Usage | undefined,
    documents: readonly (StoredDocument | undefined)[],
  ) => Changed<T>;
}

/** What users have taken, a document for each user and day. */
export interface UsageDocuments {
  /** The figures of a user as they stand now. Throws StoreUnavailableError. */
  read(uid: string, day: string): Promise<Usage>;
  /**
   * Changes figures of a user, and resolves when that is stored. What is asked for while a batch of the same user is on
   * its way goes into the next one together, so that many changes take few writes. Throws what `decide` throws,
   * GuardLostError, StoreUnavailableError.
   */
  change<T>(uid: string, change: Change<T>): Promise<T>;
}

/** A change, and who waits for it. */
interface Waiting extends Omit<Change<unknown>, 'decide'> {
  /** Undefined: it is refused as things stand. */
  decide: (...args: Parameters<Change<unknown>['decide']>) => Changed<unknown> | undefined;
  /** Tells who waits what was decided last. */
  tell: () => void;
  fail: (error: unknown) => void;
}

function waitingFor<T>(change: Change<T>): { waiting: Waiting; promise: Promise<T> } {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let tell: () => void = () => undefined;
  const decide: Waiting['decide'] = (...args) => {
    try {
      const changed = change.decide(...args);
      tell = () => resolve(changed.result);
      return changed;
    } catch (error) {
      tell = () => reject(error);
      return undefined;
    }
  };
  return { waiting: { ...change, decide, tell: () => tell(), fail: reject }, promise };
}

type Documents = ReadonlyMap<string, StoredDocument>;

/** Decides one change after the other, each on what those before it leave. */
function decideAll(uid: string, batch: readonly Waiting[], documents: Documents) {
  const usage = new Map<string, Usage>();
  const writes: Write[] = [];
  let isRefused = false;
  const usageOf = (day: string) => {
    const document = documents.get(usagePath(uid, day));
    return usage.get(day) ?? (document && decodeUsage(document));
  };
  for (const { paths = [], decide } of batch) {
    const changed = decide(
      usageOf,
      paths.map((path) => documents.get(path)),
    );
    if (!changed) isRefused = true;
    for (const [day, figures] of Object.entries(changed?.usage ?? {})) usage.set(day, figures);
    writes.push(...(changed?.writes ?? []));
  }
  return { usage, writes, isRefused };
}

interface State {
  store: Pick<DocumentStore, 'get' | 'commit'>;
  clock: Clock;
  randomness: Randomness;
  /** By user; present while a batch of theirs is on its way. */
  queues: Map<string, Waiting[]>;
  /** As this instance last wrote them: another one that writes them meanwhile costs one more try. */
  kept: Map<string, StoredDocument>;
}

/** Reads documents, those that are kept in memory excepted unless all are wanted `afresh`. */
async function readDocuments(
  { store, kept }: State,
  paths: readonly string[],
  { afresh }: { afresh: boolean },
): Promise<{ documents: Documents; areFresh: boolean }> {
  const remembered = afresh ? [] : paths.map((path) => kept.get(path));
  const isKnown = (path: string) => remembered.some((document) => document?.path === path);
  const unknown = paths.filter((path) => !isKnown(path));
  const read = unknown.length > 0 ? await store.get(unknown) : [];
  const documents = [...read, ...remembered].filter((document) => document !== undefined);
  return {
    documents: new Map(documents.map((document) => [document.path, document])),
    areFresh: unknown.length === paths.length,
  };
}

/** Remembers what was written: who reserves settles soon, and whoever has sent a message sends another. */
function keep({ kept }: State, document: StoredDocument): void {
  kept.delete(document.path);
  kept.set(document.path, document);
  const [oldest] = kept.size > DOCUMENTS_KEPT_MAX ? kept.keys() : [];
  if (oldest !== undefined) kept.delete(oldest);
}

/** One try of a batch. `id` names it: where it is found, an earlier try was applied though its reply was lost. */
async function tryBatch(
  state: State,
  { uid, batch, id }: { uid: string; batch: readonly Waiting[]; id: string },
  { afresh }: { afresh: boolean },
): Promise<void> {
  const now = state.clock.now();
  const days = new Set(batch.flatMap((each) => each.days));
  const paths = new Set(batch.flatMap((each) => each.paths ?? []));
  const all = [...[...days].map((day) => usagePath(uid, day)), ...paths];
  const { documents, areFresh } = await readDocuments(state, all, { afresh });
  const isApplied = [...days].some((day) =>
    decodeUsage(documents.get(usagePath(uid, day))).batches.includes(id),
  );
  if (isApplied) return;
  const decided = decideAll(uid, batch, documents);
  // Nobody is refused by what another instance may have changed meanwhile.
  if (decided.isRefused && !areFresh) return tryBatch(state, { uid, batch, id }, { afresh: true });
  const figures = [...decided.usage].map(([day, usage]) => {
    const path = usagePath(uid, day);
    return usageWrite({ path, document: documents.get(path) }, withBatch(usage, id), now);
  });
  const writes = [...figures, ...decided.writes];
  if (writes.length === 0) return;
  for (const { path } of figures) state.kept.delete(path);
  const updateTimes = await state.store.commit(writes);
  for (const [index, { path, fields }] of figures.entries())
    keep(state, { path, fields, updateTime: updateTimes[index] ?? '' });
}

/** Writes what waits, batch after batch, until nothing does. */
async function writeAll(state: State, uid: string, queue: Waiting[]): Promise<void> {
  const { clock, randomness } = state;
  while (queue.length > 0) {
    const batch = queue.splice(0);
    const named = { uid, batch, id: randomness.uuid() };
    try {
      await retry((tries) => tryBatch(state, named, { afresh: tries > 1 }), {
        mostTries: TRIES,
        isRetryable: mayBeCommitted,
        // The first one may have failed for what was kept in memory.
        beforeNext: (tries) => clock.wait(Math.min(RETRY_MAX_MS, RETRY_MS * (tries - 1))),
      });
      for (const { tell } of batch) tell();
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
  state.queues.delete(uid);
}

export function createUsageDocuments(
  dependencies: Pick<State, 'store' | 'clock' | 'randomness'>,
): UsageDocuments {
  const state: State = { ...dependencies, queues: new Map(), kept: new Map() };
  return {
    read: async (uid, day) => {
      const [document] = await state.store.get([usagePath(uid, day)]);
      return decodeUsage(document);
    },
    change: (uid, change) => {
      const { waiting, promise } = waitingFor(change);
      const queue = state.queues.get(uid);
      if (queue) queue.push(waiting);
      else {
        const first = [waiting];
        state.queues.set(uid, first);
        void writeAll(state, uid, first);
      }
      return promise;
    },
  };
}
