import { GuardLostError } from '#shared/errors.ts';
import type { TurnUsage } from '#shared/conversation/documents/turn.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createChunkBuffer, type ChunkBuffer } from '../live/chunk-buffer.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { createFlushSchedule, FLUSH_BYTES } from '../live/flush-schedule.ts';
import {
  leaseFrom,
  createSerially,
  obsoletePieces,
  recover,
  release,
  store,
  storeRounds,
  type Attempt,
  type RoundsToStore,
  type Serially,
  type Standing,
  type Writing,
} from './turn-store.ts';
import type { ProgressAtStart } from './turn-progress.ts';
import { ABORT_REASON } from '#functions/lib/abortable.ts';

/**
 * The one who writes to a turn while it is answered. Its writes are serialised: each is guarded by the
 * turn's update time that the one before it left.
 */
export interface TurnWriter {
  /** Fires when another instance has the turn. */
  lost: AbortSignal;
  /** A frame to be stored with the next flush. */
  add(frame: StreamFrame): void;
  /** Fields of the turn to be stored at once; nobody waits for it, and every later write has them too. */
  note(fields: DocumentFields): void;
  /** Begins to flush, to renew the lease and to look. Does nothing after `stop`. */
  start(): void;
  /** Ends that; afterwards no write is under way. Throws what a crash point threw. */
  stop(): Promise<void>;
  /** Stores frames until at most `bytes` of JSON wait. Throws GuardLostError, StoreUnavailableError. */
  flushDownTo(bytes: number): Promise<void>;
  /** Stores what the turn has come to. Throws TURN_TAKEN_OVER, StoreUnavailableError. */
  storeRounds(progress: RoundsToStore): Promise<void>;
  /** The bill that stands with the stored contents of the turn. */
  storedUsage(): TurnUsage | undefined;
  /** Takes away the pieces of the answer that a finish replaces. */
  obsoletePieces(): Write[];
  /** What is left and the closing frames, as writes for the finish. */
  last: ChunkBuffer['last'];
  /** After a commit whose outcome is open: reads turn and chunk and goes on from what stands there. */
  recover(): Promise<Standing>;
  /** Stores what waits and ends the lease, so that the next send takes over at once. */
  release(): Promise<void>;
}

/** Flushes, renews the lease and looks, one after the other, until it is stopped or the turn is lost. */
interface Loop {
  writing: Writing;
  schedule: ReturnType<typeof createFlushSchedule>;
  serially: Serially;
  lost: AbortController;
  stopped: AbortController;
  /** Ends the wait for the next step. */
  wake: AbortController;
  /** There are fields that no write has taken along yet. */
  isHurried: boolean;
}

/** False: something changed meanwhile, plan anew. */
async function waited(loop: Loop, ms: number): Promise<boolean> {
  if (ms <= 0) return true;
  loop.wake = new AbortController();
  await loop.writing.dependencies.clock.wait(ms, loop.wake.signal);
  return !loop.wake.signal.aborted;
}

async function look({ writing, schedule, serially, lost }: Loop): Promise<void> {
  try {
    if ((await serially(() => recover(writing))) !== 'own') lost.abort();
    schedule.looked();
  } catch {
    // A read that failed says nothing about the turn; the next one asks again.
    schedule.failed();
  }
}

async function write(loop: Loop): Promise<void> {
  const { writing, schedule, serially } = loop;
  const { dependencies, buffer } = writing;
  const hasFrames = buffer.pendingBytes() > 0;
  if (hasFrames) await passCrashPoint(dependencies, 'before-flush');
  loop.isHurried = false;
  try {
    await serially(() => store(writing, leaseFrom(dependencies)));
    schedule.written();
    if (loop.isHurried) schedule.hurries();
  } catch (error) {
    if (error instanceof GuardLostError) await look(loop);
    else schedule.failed();
    return;
  }
  if (hasFrames) await passCrashPoint(dependencies, 'flushed');
}

async function run(loop: Loop): Promise<void> {
  const { schedule, stopped, lost } = loop;
  while (!stopped.signal.aborted && !lost.signal.aborted) {
    const { isWrite, inMs } = schedule.next();
    if (!(await waited(loop, inMs)) || stopped.signal.aborted) continue;
    await (isWrite ? write(loop) : look(loop));
  }
}

function add({ writing: { buffer }, schedule, wake }: Loop, frame: StreamFrame): void {
  const before = buffer.pendingBytes();
  buffer.add(frame);
  schedule.waits();
  if (before === 0 || (before < FLUSH_BYTES && buffer.pendingBytes() >= FLUSH_BYTES))
    wake.abort(ABORT_REASON);
}

function note(loop: Loop, fields: DocumentFields): void {
  loop.writing.noted = { ...loop.writing.noted, ...fields };
  loop.isHurried = true;
  loop.schedule.hurries();
  loop.wake.abort(ABORT_REASON);
}

/**
 * A writer for a turn that this instance owns: chunks of frames every 500 ms or 1 KiB, in silence the
 * lease alone every quarter of its length. Frames that cannot be stored wait; readers of this instance
 * notice nothing of it. `cancel` is called when the turn asks for its cancellation; `stored` stands in the turn already.
 */
export function createTurnWriter(
  dependencies: ChatDependencies,
  own: Attempt,
  { cancel, stored }: { cancel: () => void; stored: Pick<ProgressAtStart, 'chunks' | 'usage'> },
): TurnWriter {
  const buffer = createChunkBuffer(own, stored.chunks);
  const empty = { noted: {}, storedStep: 0, pieces: [], storedUsage: stored.usage };
  const writing: Writing = { dependencies, own, buffer, cancel, ...empty };
  const serially = createSerially();
  const loop: Loop = {
    writing,
    schedule: createFlushSchedule(dependencies, buffer),
    serially,
    lost: new AbortController(),
    stopped: new AbortController(),
    wake: new AbortController(),
    isHurried: false,
  };
  let running = Promise.resolve();
  return {
    lost: loop.lost.signal,
    add: (frame) => add(loop, frame),
    note: (fields) => note(loop, fields),
    start: () => {
      running = run(loop);
      running.catch(() => undefined); // told by `stop`
    },
    stop: async () => {
      loop.stopped.abort(ABORT_REASON);
      loop.wake.abort(ABORT_REASON);
      await running;
    },
    flushDownTo: async (bytes) => {
      while (buffer.pendingBytes() > bytes) await store(writing, leaseFrom(dependencies));
    },
    storeRounds: (progress) => storeRounds(writing, serially, progress),
    storedUsage: () => writing.storedUsage,
    obsoletePieces: () => obsoletePieces(writing),
    last: (closing, at) => buffer.last(closing, at),
    recover: () => recover(writing),
    release: async () => {
      await passCrashPoint(dependencies, 'before-release');
      await release(writing);
      await passCrashPoint(dependencies, 'released');
    },
  };
}
