import type { Content } from '#shared/conversation/documents/content.ts';
import { chunkPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { readStreamChunk } from '#shared/conversation/documents/stream-chunk.ts';
import { encodeAnswer } from '#shared/conversation/documents/encode-turn.ts';
import {
  readTurnDocument,
  type Rounds,
  type Turn,
  type TurnUsage,
} from '#shared/conversation/documents/turn.ts';
import { mayBeCommitted } from '#shared/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { ChunkBuffer } from '../live/chunk-buffer.ts';
import { takenOverError } from '../answer/taken-over.ts';

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

/** What a look at the turn found: still this producer's, its end (or pause) already stored, or somebody else's. */
export type Standing = 'own' | 'ended' | 'lost';

/** What a turn with calls has come to, between two calls of the model. */
export interface RoundsToStore {
  contents: readonly Content[];
  rounds: Rounds;
  /** Estimated tokens of the contents. */
  answerTokens: number;
  userTokens: number;
  usage: TurnUsage | undefined;
  grounding: Turn['grounding'];
}

/** Where the writes to one turn stand. */
export interface Writing {
  dependencies: ChatDependencies;
  own: Attempt;
  buffer: ChunkBuffer;
  /** Called when the turn says that it shall be cancelled. */
  cancel: () => void;
  /** Fields that go with every write, once they are there. */
  noted: DocumentFields;
  /** The last store of contents that is known to stand. */
  storedStep: number;
  /** Paths of the overflow pieces that it made. */
  pieces: string[];
  /** The bill that stands with the stored contents: whoever goes on with them takes it over. */
  storedUsage: TurnUsage | undefined;
}

export type Serially = <T>(work: () => Promise<T>) => Promise<T>;

/** Does one thing after the other, whatever becomes of those before. */
export function createSerially(): Serially {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** How often a store of rounds is tried before the turn is left to its lease. */
const ROUNDS_TRIES = 5;
const ROUNDS_RETRY_MS = 100;

export const obsoletePieces = ({ pieces }: Writing): Write[] =>
  pieces.map((path) => ({ op: 'delete', path }));

/** The fields and pieces that store what a turn has come to. */
function roundsBatch(writing: Writing, progress: RoundsToStore) {
  const { contents, rounds, answerTokens, userTokens, usage, grounding } = progress;
  const { fields, writes } = encodeAnswer({ ...writing.own, step: rounds.step }, contents);
  return {
    fields: {
      ...fields,
      rounds: { ...rounds },
      tokens: { user: userTokens, answer: answerTokens },
      ...(usage && { usage: { ...usage } }),
      ...(grounding && { grounding: { ...grounding } }),
    },
    writes: [...writes, ...obsoletePieces(writing)],
    pieces: writes.map(({ path }) => path),
    step: rounds.step,
    usage,
  };
}

/** One batch: the next chunk if frames wait, the rounds if there are new ones, the turn under its update time. */
export async function store(
  writing: Writing,
  leaseUntil: Date,
  rounds?: ReturnType<typeof roundsBatch>,
): Promise<void> {
  const { dependencies, own, buffer } = writing;
  const chunk = buffer.next(dependencies.clock.now());
  const turn: Write = {
    op: 'update',
    path: turnPath(own.conversationId, own.seq),
    fields: { leaseUntil, ...writing.noted, ...(chunk && { chunks: chunk.n }), ...rounds?.fields },
    guard: { updateTime: own.turnUpdateTime },
  };
  const writes = [turn, ...(chunk ? [chunk.write] : []), ...(rounds?.writes ?? [])];
  const [updateTime] = await dependencies.store.commit(writes);
  own.turnUpdateTime = updateTime ?? own.turnUpdateTime;
  if (chunk) buffer.stored(chunk);
  if (rounds) noteStored(writing, rounds);
}

function noteStored(writing: Writing, rounds: ReturnType<typeof roundsBatch>): void {
  writing.storedStep = rounds.step;
  writing.pieces = rounds.pieces;
  writing.storedUsage = rounds.usage;
}

/** A chunk that stands there under our nonce was stored although its reply was lost. */
export async function recover(writing: Writing): Promise<Standing> {
  const { dependencies, own, buffer, cancel } = writing;
  const { conversationId, seq, attempt } = own;
  const n = buffer.storedCount() + 1;
  const [turnDocument, chunkDocument] = await dependencies.store.get([
    turnPath(conversationId, seq),
    chunkPath({ conversationId, seq }, { attempt, n }),
  ]);
  if (!turnDocument) return 'lost';
  const turn = readTurnDocument(conversationId, turnDocument);
  if (!isOwnAttempt(turn.value, own)) return 'lost';
  if (turn.value.state !== 'running') return 'ended';
  own.turnUpdateTime = turn.updateTime;
  writing.storedStep = turn.value.rounds?.step ?? 0;
  const chunk = chunkDocument && readStreamChunk(chunkDocument);
  if (chunk?.producer === own.producer) buffer.stored(chunk);
  if (turn.value.cancelRequested) cancel();
  return 'own';
}

/** A lost reply and a lost guard look the same from here: the turn itself says which step it is at. */
export async function storeRounds(
  writing: Writing,
  serially: Serially,
  progress: RoundsToStore,
): Promise<void> {
  const { dependencies, own } = writing;
  // Not `retry`: between two tries the turn itself says whether there is anything left to do.
  for (let tries = 1; ; tries++) {
    const batch = roundsBatch(writing, progress);
    try {
      return await serially(() => store(writing, leaseFrom(dependencies), batch));
    } catch (error) {
      if (!mayBeCommitted(error) || tries >= ROUNDS_TRIES) throw error;
      await dependencies.clock.wait(ROUNDS_RETRY_MS * (tries - 1));
      const standing = await serially(() => recover(writing)).catch(() => 'own' as const);
      if (standing !== 'own') throw takenOverError(own);
      if (writing.storedStep !== batch.step) continue;
      return noteStored(writing, batch);
    }
  }
}

/** How often giving up is tried: the process has little time left. */
const RELEASE_TRIES = 3;

export async function release(writing: Writing): Promise<void> {
  const { dependencies, buffer } = writing;
  // Not `retry`: between two tries the turn itself says whether it is still ours to release.
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

/** Until when a turn is its producer's, or that of who waits with it, unless the lease is renewed. */
export const leaseFrom = (
  { clock, config }: Pick<ChatDependencies, 'clock' | 'config'>,
  now = clock.now(),
): Date => new Date(now.getTime() + config.TURN_LEASE_MS);
