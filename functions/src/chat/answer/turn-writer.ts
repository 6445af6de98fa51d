import { chunkPath, turnPath } from '../../../../shared/conversation/paths.ts';
import { decodeStreamChunk } from '../../../../shared/conversation/stream-chunk.ts';
import { isTerminal, readTurnDocument, type Turn } from '../../../../shared/conversation/turn.ts';
import { GuardLostError } from '../../../../shared/errors.ts';
import type { Write } from '../../../../shared/ports.ts';
import type { StreamFrame } from '../../../../shared/wire/stream.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { createChunkBuffer, type ChunkBuffer } from './chunk-buffer.ts';
import { passCrashPoint } from '../crash-points.ts';
import { createFlushSchedule, FLUSH_BYTES } from './flush-schedule.ts';

/** An attempt at a turn, as its producer knows it. */
export interface Attempt {
  conversationId: string;
  seq: number;
  attempt: number;
  producer: string;
  /** Update time of the turn document as last seen; guards the next write. */
  turnUpdateTime: string;
}

const isOwnAttempt = (turn: Pick<Turn, 'attempt' | 'producer'>, own: Attempt) =>
  turn.attempt === own.attempt && turn.producer === own.producer;

/** What a look at the turn found: still this producer's, its end already stored, or somebody else's. */
export type Standing = 'own' | 'ended' | 'lost';

/**
 * The one who writes to a turn while it is answered. Its writes are serialised: each is guarded by the
 * turn's update time that the one before it left.
 */
export interface TurnWriter {
  /** Fires when another instance has the turn. */
  lost: AbortSignal;
  /** A frame to be stored with the next flush. */
  add(frame: StreamFrame): void;
  /** Begins to flush, to renew the lease and to look. Does nothing after `stop`. */
  start(): void;
  /** Ends that; afterwards no write is under way. Throws what a crash point threw. */
  stop(): Promise<void>;
  /** Stores frames until at most `bytes` of JSON wait. Throws GuardLostError, StoreUnavailableError. */
  flushDownTo(bytes: number): Promise<void>;
  /** What is left and the closing frames, as writes for the finish. */
  last: ChunkBuffer['last'];
  /** After a commit whose outcome is open: reads turn and chunk and goes on from what stands there. */
  recover(): Promise<Standing>;
  /** Stores what waits and ends the lease, so that the next send takes over at once. */
  release(): Promise<void>;
}

interface Writing {
  dependencies: ChatDependencies;
  own: Attempt;
  buffer: ChunkBuffer;
  /** Called when the turn says that it shall be cancelled. */
  cancel: () => void;
}

/** One batch: the next chunk if frames wait, and the turn under its update time. */
async function store({ dependencies, own, buffer }: Writing, leaseUntil: Date): Promise<void> {
  const chunk = buffer.next(dependencies.clock.now());
  const turn: Write = {
    op: 'update',
    path: turnPath(own.conversationId, own.seq),
    fields: { leaseUntil, ...(chunk && { chunks: chunk.n }) },
    guard: { updateTime: own.turnUpdateTime },
  };
  const [updateTime] = await dependencies.store.commit(chunk ? [turn, chunk.write] : [turn]);
  own.turnUpdateTime = updateTime ?? own.turnUpdateTime;
  if (chunk) buffer.stored(chunk);
}

/** A chunk that stands there under our nonce was stored although its reply was lost. */
async function recover({ dependencies, own, buffer, cancel }: Writing): Promise<Standing> {
  const { conversationId, seq, attempt } = own;
  const n = buffer.storedCount() + 1;
  const [turnDocument, chunkDocument] = await dependencies.store.get([
    turnPath(conversationId, seq),
    chunkPath({ conversationId, seq }, { attempt, n }),
  ]);
  if (!turnDocument) return 'lost';
  const turn = readTurnDocument(conversationId, turnDocument);
  if (!isOwnAttempt(turn.value, own)) return 'lost';
  if (isTerminal(turn.value.state)) return 'ended';
  own.turnUpdateTime = turn.updateTime;
  const chunk = chunkDocument && decodeStreamChunk(chunkDocument);
  if (chunk?.producer === own.producer) buffer.stored(chunk);
  if (turn.value.cancelRequested) cancel();
  return 'own';
}

const leaseFrom = ({ clock, config }: ChatDependencies) =>
  new Date(clock.now().getTime() + config.TURN_LEASE_MS);

/** How often giving up is tried: the process has little time left. */
const RELEASE_TRIES = 3;

async function release(writing: Writing): Promise<void> {
  const { dependencies, buffer } = writing;
  for (let tries = 1; ; tries++) {
    try {
      do await store(writing, dependencies.clock.now());
      while (buffer.pendingBytes() > 0);
      return;
    } catch (error) {
      if (tries >= RELEASE_TRIES) throw error;
      if ((await recover(writing).catch(() => 'own' as const)) !== 'own') return;
    }
  }
}

function createLoop(writing: Writing, lost: AbortController) {
  const { dependencies, buffer } = writing;
  const schedule = createFlushSchedule(dependencies, buffer);
  const stopped = new AbortController();
  let wake = new AbortController();

  /** False: something changed meanwhile, plan anew. */
  const waited = async (ms: number) => {
    if (ms <= 0) return true;
    wake = new AbortController();
    await dependencies.clock.wait(ms, wake.signal);
    return !wake.signal.aborted;
  };
  const look = async () => {
    try {
      if ((await recover(writing)) !== 'own') lost.abort();
      schedule.looked();
    } catch {
      // A read that failed says nothing about the turn; the next one asks again.
      schedule.failed();
    }
  };
  const write = async () => {
    const hasFrames = buffer.pendingBytes() > 0;
    if (hasFrames) await passCrashPoint(dependencies, 'before-flush');
    try {
      await store(writing, leaseFrom(dependencies));
      schedule.written();
    } catch (error) {
      if (error instanceof GuardLostError) await look();
      else schedule.failed();
      return;
    }
    if (hasFrames) await passCrashPoint(dependencies, 'flushed');
  };
  return {
    run: async () => {
      while (!stopped.signal.aborted && !lost.signal.aborted) {
        const { isWrite, inMs } = schedule.next();
        if (!(await waited(inMs)) || stopped.signal.aborted) continue;
        await (isWrite ? write() : look());
      }
    },
    add: (frame: StreamFrame) => {
      const before = buffer.pendingBytes();
      buffer.add(frame);
      schedule.waits();
      if (before === 0 || (before < FLUSH_BYTES && buffer.pendingBytes() >= FLUSH_BYTES))
        wake.abort();
    },
    stop: () => {
      stopped.abort();
      wake.abort();
    },
  };
}

/**
 * A writer for a turn that this instance owns: chunks of frames every 500 ms or 1 KiB, in silence the
 * lease alone every quarter of its length. Frames that cannot be stored wait; readers of this instance
 * notice nothing of it. `cancel` is called when the turn asks for its cancellation.
 */
export function createTurnWriter(
  dependencies: ChatDependencies,
  own: Attempt,
  cancel: () => void,
): TurnWriter {
  const buffer = createChunkBuffer(own);
  const writing: Writing = { dependencies, own, buffer, cancel };
  const lost = new AbortController();
  const loop = createLoop(writing, lost);
  let running = Promise.resolve();
  return {
    lost: lost.signal,
    add: loop.add,
    start: () => {
      running = loop.run();
      running.catch(() => undefined); // told by `stop`
    },
    stop: async () => {
      loop.stop();
      await running;
    },
    flushDownTo: async (bytes) => {
      while (buffer.pendingBytes() > bytes) await store(writing, leaseFrom(dependencies));
    },
    last: (closing, now) => buffer.last(closing, now),
    recover: () => recover(writing),
    release: async () => {
      await passCrashPoint(dependencies, 'before-release');
      await release(writing);
      await passCrashPoint(dependencies, 'released');
    },
  };
}
