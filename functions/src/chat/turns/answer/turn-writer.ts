import { ABORT_REASON } from '#functions/lib/async-iterators.ts';
import {
  encodeAnswer,
  type Rounds,
  type Turn,
  type TurnUsage,
  readTurnDocument,
} from '#shared/conversation/documents/turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import type { Content } from '#shared/models/content.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import {
  CHUNK_MAX_BYTES,
  type StreamEnd,
  frameBytes,
  streamChunkWrite,
} from '#shared/wire/stream-chunk.ts';
import { GuardLostError, mayBeCommitted } from '#shared/lib/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { Attempt, ProgressAtStart } from '../start/begun-turn.ts';
import { leaseFrom } from '../lease.ts';
import { takenOverError } from '../turn-errors.ts';

/** Frames wait this long for their chunk, ms: a producer that dies loses no more of them. */
const FLUSH_INTERVAL_MS = 600;

/** How often a producer looks at its turn, ms: it notices a cancellation at another instance within a second. */
const PRODUCED_LOOK_INTERVAL_MS = 800;

/** How often a release is tried: the process has little time left. */
const RELEASE_TRIES = 3;

/** How often a store of rounds is tried before the turn is left to its lease. */
const ROUNDS_TRIES = 5;
const ROUNDS_RETRY_MS = 100;

/**
 * What the producer read of its turn: still its own; ended, or paused, by its own commit; or another producer's, or
 * gone.
 */
type Standing = 'own' | 'ended' | 'paused' | 'lost';

/** What a turn with calls has come to, between two calls of the model. */
interface RoundsToStore {
  contents: readonly Content[];
  rounds: Rounds;
  tokens: Turn['tokens'];
  usage: TurnUsage | undefined;
  grounding: Turn['grounding'];
}

/**
 * Writes to a turn while it is answered. Appends chunks of its stream one after the other. Serialises the writes to the
 * turn, each guarded by the update time that the one before it left.
 */
export interface TurnWriter {
  /** Fires when the turn is found to be another producer's, or gone. */
  lost: AbortSignal;
  /** A frame to be stored with the next chunk. */
  add(frame: StreamFrame): void;
  /** Begins to store fields of the turn, and returns at once; every later write has them too. */
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
  /** Update time of the turn as it was last stored or read. */
  turnUpdateTime(): string;
  /** The account that had taken the conversation over by then; undefined: that of the start has it. */
  movedTo(): string | undefined;
  /** The usage that is stored with the contents of the turn. */
  storedUsage(): TurnUsage | undefined;
  /** Writes that delete the pieces of the answer that a finish replaces. */
  obsoletePieces(): Write[];
  /** The frames that are not stored yet and the closing ones, as writes for the finish. */
  last: ChunkBuffer['last'];
  /** After a commit whose outcome is not known: reads the turn and goes on from what stands there. */
  reread(): Promise<Standing>;
  /** Stores what waits and ends the lease, so that the next send takes over at once. */
  release(): Promise<void>;
}

/** The state of the writes to one turn. */
interface Writing {
  dependencies: ChatDependencies;
  own: Attempt;
  /** Of the turn as it was last stored or read; guards the next write. */
  turnUpdateTime: string;
  /** As read with it. */
  movedTo: string | undefined;
  /** Until when the turn is this producer's. */
  leaseUntil: Date;
  /** Called when the turn says that it shall be cancelled. */
  cancel: () => void;
  buffer: ChunkBuffer;
  isFlushing: boolean;
  /** Does one write to the turn after the other. */
  serially: Serially;
  lost: AbortController;
  /** Fires when the turn is lost, or the writer is stopped. */
  over: AbortSignal;
  /** Fields that go with every write, once they are there. */
  noted: DocumentFields;
  /** Not all of them are stored yet. */
  isNoteDue: boolean;
  /** The last store of contents that is known to stand. */
  storedStep: number;
  /** Paths of the overflow pieces of that store. */
  pieces: string[];
  /** The usage that is stored with the contents: the next attempt goes on from it. */
  storedUsage: TurnUsage | undefined;
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
  const lost = new AbortController();
  const stopped = new AbortController();
  const over = AbortSignal.any([lost.signal, stopped.signal]);
  const writing: Writing = {
    dependencies,
    own,
    turnUpdateTime: own.turnUpdateTime,
    movedTo: undefined,
    leaseUntil: own.leaseUntil,
    cancel,
    buffer: createChunkBuffer(own),
    isFlushing: false,
    serially: createSerially(),
    lost,
    over,
    noted: {},
    isNoteDue: false,
    storedStep: 0,
    pieces: [],
    storedUsage: stored.usage,
  };
  const { buffer, serially } = writing;
  let keeping: Promise<void> | undefined;
  let flushing: Promise<void> | undefined;
  return {
    lost: lost.signal,
    add: (frame) => {
      buffer.add(frame);
      if (writing.isFlushing || over.aborted) return;
      flushing = flush(writing);
      flushing.catch(() => undefined); // told by `stop`
    },
    note: (fields) => {
      writing.noted = { ...writing.noted, ...fields };
      writing.isNoteDue = true;
      void tryOnce(writing, () => serially(() => writeTurn(writing)));
    },
    start: () => void (keeping = keep(writing)),
    stop: async () => {
      stopped.abort(ABORT_REASON);
      await keeping;
      await Promise.allSettled([flushing, serially(() => Promise.resolve())]);
      await takeBack(writing).catch(() => undefined);
      await flushing;
    },
    flushDownTo: (bytes) => flushDownTo(writing, bytes),
    storeRounds: (progress) => storeRounds(writing, progress),
    turnUpdateTime: () => writing.turnUpdateTime,
    movedTo: () => writing.movedTo,
    storedUsage: () => writing.storedUsage,
    obsoletePieces: () => obsoletePieces(writing),
    last: (closing, at) => buffer.last(closing, at),
    reread: () => rereadTurn(writing),
    release: async () => {
      await passCrashPoint(dependencies, 'before-release');
      await release(writing);
      await passCrashPoint(dependencies, 'released');
    },
  };
}

type Serially = <T>(work: () => Promise<T>) => Promise<T>;

/** Does one thing after the other, also where an earlier one failed. */
function createSerially(): Serially {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

/* The turn: lease, look, rounds. */

/**
 * Looks at the turn at each interval. Where a quarter of its lease has passed, or noted fields are not stored yet,
 * writes the turn instead.
 */
async function keep(writing: Writing): Promise<void> {
  const { serially, over } = writing;
  const { clock, config } = writing.dependencies;
  const renewAtMs = (3 / 4) * config.TURN_LEASE_MS;
  const intervalMs = Math.min(PRODUCED_LOOK_INTERVAL_MS, config.TURN_LEASE_MS / 4);
  for (;;) {
    await clock.wait(intervalMs, over);
    if (over.aborted) return;
    if (writing.isNoteDue || leaseLeftMs(writing) <= renewAtMs)
      await tryOnce(writing, () => serially(() => writeTurn(writing)));
    else await look(writing);
  }
}

const leaseLeftMs = ({ dependencies, leaseUntil }: Writing) =>
  leaseUntil.getTime() - dependencies.clock.now().getTime();

/** Reads the turn after the writes that are under way. A read that failed says nothing: the next look reads again. */
const look = (writing: Writing): Promise<Standing> =>
  writing.serially(() => rereadTurn(writing)).catch(() => 'own');

/** Reads the turn and goes on from what stands there; fires `lost` where the turn is lost. */
async function rereadTurn(writing: Writing): Promise<Standing> {
  const { dependencies, own, cancel, lost } = writing;
  const { conversationId, seq } = own;
  const [document] = await dependencies.store.get([turnPath(conversationId, seq)]);
  const read = document && readTurnDocument(conversationId, document);
  if (read?.value.attempt !== own.attempt || read.value.producer !== own.producer) {
    lost.abort();
    return 'lost';
  }
  const { value: turn, updateTime } = read;
  if (turn.state === 'awaiting_tool') return 'paused';
  if (turn.state !== 'running') return 'ended';
  writing.turnUpdateTime = updateTime;
  writing.movedTo = turn.movedTo;
  writing.leaseUntil = turn.leaseUntil;
  writing.storedStep = turn.rounds?.step ?? 0;
  if (turn.cancelRequested) cancel();
  return 'own';
}

/** Does a write once. False: it failed, and a later one makes up for it. A lost guard makes it look at the turn. */
async function tryOnce(writing: Writing, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof GuardLostError) await look(writing);
    return false;
  }
}

/** Writes the turn under its update time: its lease, what was noted, the rounds if there are new ones. */
async function writeTurn(
  writing: Writing,
  leaseUntil = leaseFrom(writing.dependencies),
  rounds?: ReturnType<typeof roundsBatch>,
): Promise<void> {
  const { dependencies, own, noted } = writing;
  const turn: Write = {
    op: 'update',
    path: turnPath(own.conversationId, own.seq),
    fields: { leaseUntil, ...noted, ...rounds?.fields },
    guard: { updateTime: writing.turnUpdateTime },
  };
  const [updateTime] = await dependencies.store.commit([turn, ...(rounds?.writes ?? [])]);
  writing.turnUpdateTime = updateTime ?? writing.turnUpdateTime;
  writing.leaseUntil = leaseUntil;
  if (noted === writing.noted) writing.isNoteDue = false;
  if (rounds) noteStored(writing, rounds);
}

/**
 * Stores rounds. A lost reply and a lost guard look the same from here: the turn says by its step whether they are
 * stored.
 */
async function storeRounds(writing: Writing, progress: RoundsToStore): Promise<void> {
  const { dependencies, serially } = writing;
  // Not `retry`: between two tries the turn itself says whether there is anything left to do.
  for (let tries = 1; ; tries++) {
    const batch = roundsBatch(writing, progress);
    try {
      return await serially(() => writeTurn(writing, leaseFrom(dependencies), batch));
    } catch (error) {
      if (!mayBeCommitted(error) || tries >= ROUNDS_TRIES) throw error;
      await dependencies.clock.wait(ROUNDS_RETRY_MS * (tries - 1));
      if ((await look(writing)) !== 'own') throw takenOverError();
      if (writing.storedStep !== batch.step) continue;
      return noteStored(writing, batch);
    }
  }
}

/** The fields and pieces that store what a turn has come to. */
function roundsBatch(writing: Writing, progress: RoundsToStore) {
  const { contents, rounds, tokens, usage, grounding } = progress;
  const { fields, writes } = encodeAnswer({ ...writing.own, step: rounds.step }, contents);
  return {
    fields: {
      ...fields,
      rounds: { ...rounds },
      tokens: { ...tokens },
      ...(usage && { usage: { ...usage } }),
      ...(grounding && { grounding: { ...grounding } }),
    },
    writes: [...writes, ...obsoletePieces(writing)],
    pieces: writes.map(({ path }) => path),
    step: rounds.step,
    usage,
  };
}

function noteStored(writing: Writing, batch: ReturnType<typeof roundsBatch>): void {
  writing.storedStep = batch.step;
  writing.pieces = batch.pieces;
  writing.storedUsage = batch.usage;
}

const obsoletePieces = ({ pieces }: Writing): Write[] =>
  pieces.map((path) => ({ op: 'delete', path }));

/* The chunks of its stream. */

/** Appends what waits, a chunk at each interval, until nothing does. */
async function flush(writing: Writing): Promise<void> {
  const { dependencies, buffer, over } = writing;
  writing.isFlushing = true;
  while (buffer.pendingBytes() > 0) {
    await dependencies.clock.wait(FLUSH_INTERVAL_MS, over);
    if (over.aborted) return;
    await passCrashPoint(dependencies, 'before-flush');
    const isDone = await tryOnce(writing, () => append(writing));
    if (isDone) await passCrashPoint(dependencies, 'flushed');
  }
  writing.isFlushing = false;
}

/**
 * Stores the next chunk. Only its id guards it, so its commit must end before the lease does: from then on a reader,
 * the next attempt or an erasure may take the chunks that it finds as final. A commit takes STORE_DEADLINE_MS at most,
 * so a lease that is more than half over is renewed first. Throws GuardLostError, StoreUnavailableError.
 */
async function append(writing: Writing): Promise<void> {
  const { buffer, serially } = writing;
  const { clock, config, store } = writing.dependencies;
  if (leaseLeftMs(writing) < config.TURN_LEASE_MS / 2) await serially(() => writeTurn(writing));
  const chunk = buffer.next(clock.now());
  if (!chunk) return;
  try {
    await store.commit([chunk.write]);
  } catch (error) {
    // The id is this producer's own: an earlier try has stored the chunk.
    if (!(error instanceof GuardLostError)) throw error;
  }
  // Over the lease: the chunk stays begun, and a renewal or `takeBack` settles it.
  if (leaseLeftMs(writing) > 0) buffer.stored();
}

async function flushDownTo(writing: Writing, bytes: number): Promise<void> {
  const { buffer } = writing;
  while (buffer.begun() || buffer.pendingBytes() > bytes) await append(writing);
}

async function release(writing: Writing): Promise<void> {
  // Not `retry`: between two tries the turn says whether it is still this producer's to release.
  for (let tries = 1; ; tries++) {
    try {
      await flushDownTo(writing, 0);
      return await writeTurn(writing, writing.dependencies.clock.now());
    } catch (error) {
      if (tries >= RELEASE_TRIES) throw error;
      if ((await look(writing)) !== 'own') return await takeBack(writing);
    }
  }
}

/** Deletes a chunk that may have been committed after the turn was lost: the next owner never saw it. */
async function takeBack({ dependencies, buffer, lost }: Writing): Promise<void> {
  const chunk = buffer.begun();
  if (!lost.signal.aborted || !chunk) return;
  await dependencies.store.commit([{ op: 'delete', path: chunk.path }]);
}

interface SizedFrame {
  frame: StreamFrame;
  bytes: number;
}

/** The next chunk of a stream, up to frame `lastId`. */
interface NextChunk {
  write: Write;
  lastId: number;
}

/** Frames of one attempt that are not known to be stored, and the chunks that they become. */
interface ChunkBuffer {
  add(frame: StreamFrame): void;
  /** JSON bytes that wait. */
  pendingBytes(): number;
  /** The chunk that the oldest pending frames make, the same one until it is stored; undefined when none waits. */
  next(now: Date): NextChunk | undefined;
  /** The write of a chunk that was begun and is not known to be stored. */
  begun(): Write | undefined;
  /** The chunk that was begun is stored. */
  stored(): void;
  /** All that waits, none of it begun, with the closing frames behind it; the last chunk says which end it is. */
  last(closing: readonly StreamFrame[], at: { end: StreamEnd; now: Date }): Write[];
}

const sized = (frame: StreamFrame): SizedFrame => ({ frame, bytes: frameBytes(frame) });

/** How many of `frames` fit one chunk document; a frame alone always does (see DELTA_MAX_CHARACTERS). */
function countOfNextChunk(frames: readonly SizedFrame[]): number {
  let bytes = 0;
  const tooMany = frames.findIndex((frame) => (bytes += frame.bytes) > CHUNK_MAX_BYTES);
  return tooMany === -1 ? frames.length : Math.max(1, tooMany);
}

function createChunkBuffer({ conversationId, seq, attempt, producer }: Attempt): ChunkBuffer {
  let pending: SizedFrame[] = [];
  let bytes = 0;
  let begun: NextChunk | undefined;
  const chunkWrite = (
    chunk: readonly SizedFrame[],
    at: { end: StreamEnd | undefined; now: Date },
  ): Write => {
    const frames = chunk.map(({ frame }) => frame);
    return streamChunkWrite({ ...at, conversationId, seq, attempt, producer, frames });
  };
  return {
    add: (frame) => {
      const added = sized(frame);
      pending.push(added);
      bytes += added.bytes;
    },
    pendingBytes: () => bytes,
    next: (now) => {
      if (begun) return begun;
      const frames = pending.slice(0, countOfNextChunk(pending));
      const lastId = frames.at(-1)?.frame.id;
      if (lastId === undefined) return undefined;
      begun = { write: chunkWrite(frames, { end: undefined, now }), lastId };
      return begun;
    },
    begun: () => begun?.write,
    stored: () => {
      const { lastId = -1 } = begun ?? {};
      begun = undefined;
      pending = pending.filter(({ frame }) => frame.id > lastId);
      bytes = pending.reduce((sum, frame) => sum + frame.bytes, 0);
    },
    last: (closing, { end, now }) => {
      let rest = [...pending, ...closing.map(sized)];
      const writes: Write[] = [];
      while (rest.length > 0) {
        const count = countOfNextChunk(rest);
        const isLast = count === rest.length;
        writes.push(chunkWrite(rest.slice(0, count), { end: isLast ? end : undefined, now }));
        rest = rest.slice(count);
      }
      return writes;
    },
  };
}
