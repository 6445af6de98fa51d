import { GuardLostError } from '#shared/errors.ts';
import type { TurnUsage } from '#shared/conversation/documents/turn.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createChunkBuffer, type ChunkBuffer } from '../live/chunk-buffer.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import {
  createSerially,
  obsoletePieces,
  recover,
  storeRounds,
  writeTurn,
  type Attempt,
  type RoundsToStore,
  type Serially,
  type Standing,
  type Writing,
} from './turn-store.ts';
import type { ProgressAtStart } from './turn-progress.ts';
import { ABORT_REASON } from '#functions/lib/abortable.ts';

/** Frames wait this long for their chunk: a producer that dies takes no more with it. */
const FLUSH_INTERVAL_MS = 600;

/** The turn is looked at this often, so that a cancellation elsewhere is noticed in a second. */
const PRODUCED_LOOK_INTERVAL_MS = 800;

/** How often giving up is tried: the process has little time left. */
const RELEASE_TRIES = 3;

/**
 * The one who writes to a turn while it is answered. Chunks of its stream are appended by themselves, one after the other;
 * writes to the turn are serialised, each guarded by the update time that the one before it left.
 */
export interface TurnWriter {
  /** Fires when another instance has the turn. */
  lost: AbortSignal;
  /** A frame to be stored with the next chunk. */
  add(frame: StreamFrame): void;
  /** Fields of the turn to be stored at once; nobody waits for it, and every later write has them too. */
  note(fields: DocumentFields): void;
  /** Begins to renew the lease and to look. Does nothing after `stop`. */
  start(): void;
  /** Ends appending, renewing and looking; afterwards no write is under way. Throws what a crash point threw. */
  stop(): Promise<void>;
  /**
   * Appends until at most `bytes` of JSON wait and the outcome of no chunk is open. Throws GuardLostError,
   * StoreUnavailableError.
   */
  flushDownTo(bytes: number): Promise<void>;
  /** Stores what the turn has come to. Throws TURN_TAKEN_OVER, StoreUnavailableError. */
  storeRounds(progress: RoundsToStore): Promise<void>;
  /** The bill that stands with the stored contents of the turn. */
  storedUsage(): TurnUsage | undefined;
  /** Takes away the pieces of the answer that a finish replaces. */
  obsoletePieces(): Write[];
  /** What is left and the closing frames, as writes for the finish. */
  last: ChunkBuffer['last'];
  /** After a commit whose outcome is open: reads the turn and goes on from what stands there. */
  recover(): Promise<Standing>;
  /** Stores what waits and ends the lease, so that the next send takes over at once. */
  release(): Promise<void>;
}

interface Producing {
  writing: Writing;
  buffer: ChunkBuffer;
  serially: Serially;
  lost: AbortController;
  /** Fires when the turn is lost, or the writer is stopped. */
  over: AbortSignal;
  isFlushing: boolean;
}

const leaseLeftMs = ({ dependencies, own }: Writing) =>
  own.leaseUntil.getTime() - dependencies.clock.now().getTime();

/**
 * Stores the next chunk. Nothing guards it but its id, so it is begun in the first half of the lease, which is renewed
 * for it if need be: its commit ends within STORE_DEADLINE_MS, before anybody may take the turn over, and before an
 * erasure, which waits for the lease, looks for the last time. Throws GuardLostError, StoreUnavailableError.
 */
async function append({ writing, buffer, serially }: Producing): Promise<void> {
  const { clock, config, store } = writing.dependencies;
  if (leaseLeftMs(writing) < config.TURN_LEASE_MS / 2) await serially(() => writeTurn(writing));
  const chunk = buffer.next(clock.now());
  if (!chunk) return;
  try {
    await store.commit([chunk.write]);
  } catch (error) {
    // The id is this producer's own: an earlier try has stored it.
    if (!(error instanceof GuardLostError)) throw error;
  }
  // A process that stood still meanwhile: whether the chunk may stay is known when the lease is renewed, or is lost.
  if (leaseLeftMs(writing) > 0) buffer.stored();
}

async function readStanding({ writing, lost }: Producing): Promise<Standing> {
  const standing = await recover(writing);
  if (standing === 'lost') lost.abort();
  return standing;
}

/** A read that failed says nothing about the turn; the next one asks again. */
const look = (producing: Producing): Promise<Standing> =>
  producing.serially(() => readStanding(producing)).catch(() => 'own');

/** Whether it was done; a store that is away is asked again later. */
async function attempted(producing: Producing, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof GuardLostError) await look(producing);
    return false;
  }
}

/** Appends what waits, a chunk at each interval, until nothing does. */
async function flush(producing: Producing): Promise<void> {
  const { writing, buffer, over } = producing;
  const { dependencies } = writing;
  producing.isFlushing = true;
  while (buffer.pendingBytes() > 0) {
    await dependencies.clock.wait(FLUSH_INTERVAL_MS, over);
    if (over.aborted) return;
    await passCrashPoint(dependencies, 'before-flush');
    const isDone = await attempted(producing, () => append(producing));
    if (isDone) await passCrashPoint(dependencies, 'flushed');
  }
  producing.isFlushing = false;
}

/** Looks at the turn at each interval; after a quarter of its lease, or to store what was noted, writes it instead. */
async function keep(producing: Producing): Promise<void> {
  const { writing, serially, over } = producing;
  const { clock, config } = writing.dependencies;
  const renewAtMs = (3 / 4) * config.TURN_LEASE_MS;
  const intervalMs = Math.min(PRODUCED_LOOK_INTERVAL_MS, config.TURN_LEASE_MS / 4);
  for (;;) {
    await clock.wait(intervalMs, over);
    if (over.aborted) return;
    if (writing.isNoteDue || leaseLeftMs(writing) <= renewAtMs)
      await attempted(producing, () => serially(() => writeTurn(writing)));
    else await look(producing);
  }
}

/** Who went on with the turn, or erased it, knows nothing of a chunk that may have come too late. */
async function takeBack({ writing, buffer, lost }: Producing): Promise<void> {
  const chunk = buffer.begun();
  if (!lost.signal.aborted || !chunk) return;
  await writing.dependencies.store.commit([{ op: 'delete', path: chunk.path }]);
}

async function flushDownTo(producing: Producing, bytes: number): Promise<void> {
  const { buffer } = producing;
  while (buffer.begun() || buffer.pendingBytes() > bytes) await append(producing);
}

async function release(producing: Producing): Promise<void> {
  const { writing } = producing;
  // Not `retry`: between two tries the turn itself says whether it is still ours to release.
  for (let tries = 1; ; tries++) {
    try {
      await flushDownTo(producing, 0);
      return await writeTurn(writing, writing.dependencies.clock.now());
    } catch (error) {
      if (tries >= RELEASE_TRIES) throw error;
      if ((await look(producing)) !== 'own') return await takeBack(producing);
    }
  }
}

/**
 * A writer for a turn that this instance owns. Frames that cannot be stored wait; readers of this instance notice nothing
 * of it. `cancel` is called when the turn asks for its cancellation; `stored` stands in the turn already.
 */
export function createTurnWriter(
  dependencies: ChatDependencies,
  own: Attempt,
  { cancel, stored }: { cancel: () => void; stored: Pick<ProgressAtStart, 'usage'> },
): TurnWriter {
  const empty = { noted: {}, isNoteDue: false, storedStep: 0, pieces: [] };
  const writing: Writing = { dependencies, own, cancel, ...empty, storedUsage: stored.usage };
  const buffer = createChunkBuffer(own);
  const serially = createSerially();
  const lost = new AbortController();
  const stopped = new AbortController();
  const over = AbortSignal.any([lost.signal, stopped.signal]);
  const producing: Producing = { writing, buffer, serially, lost, over, isFlushing: false };
  let keeping: Promise<void> | undefined;
  let flushing: Promise<void> | undefined;
  return {
    lost: lost.signal,
    add: (frame) => {
      buffer.add(frame);
      if (producing.isFlushing || over.aborted) return;
      flushing = flush(producing);
      flushing.catch(() => undefined); // told by `stop`
    },
    note: (fields) => {
      writing.noted = { ...writing.noted, ...fields };
      writing.isNoteDue = true;
      void attempted(producing, () => serially(() => writeTurn(writing)));
    },
    start: () => void (keeping = keep(producing)),
    stop: async () => {
      stopped.abort(ABORT_REASON);
      await keeping;
      await Promise.allSettled([flushing, serially(() => Promise.resolve())]);
      await takeBack(producing).catch(() => undefined);
      await flushing;
    },
    flushDownTo: (bytes) => flushDownTo(producing, bytes),
    storeRounds: (progress) => storeRounds(writing, serially, progress),
    storedUsage: () => writing.storedUsage,
    obsoletePieces: () => obsoletePieces(writing),
    last: (closing, at) => buffer.last(closing, at),
    recover: () => readStanding(producing),
    release: async () => {
      await passCrashPoint(dependencies, 'before-release');
      await release(producing);
      await passCrashPoint(dependencies, 'released');
    },
  };
}
