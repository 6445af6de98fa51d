import type { Content } from '#shared/conversation/documents/content.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
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
import { takenOverError } from '../answer/taken-over.ts';

/** An attempt at a turn, as its producer knows it. */
export interface Attempt {
  conversationId: string;
  seq: number;
  attempt: number;
  producer: string;
  /** Until when the turn is this producer's, as it last stored or read. */
  leaseUntil: Date;
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
  /** Called when the turn says that it shall be cancelled. */
  cancel: () => void;
  /** Fields that go with every write, once they are there. */
  noted: DocumentFields;
  /** No write has taken all of them along yet. */
  isNoteDue: boolean;
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

/** Writes the turn under its update time: its lease, what was noted, the rounds if there are new ones. */
export async function writeTurn(
  writing: Writing,
  leaseUntil = leaseFrom(writing.dependencies),
  rounds?: ReturnType<typeof roundsBatch>,
): Promise<void> {
  const { dependencies, own, noted } = writing;
  const turn: Write = {
    op: 'update',
    path: turnPath(own.conversationId, own.seq),
    fields: { leaseUntil, ...noted, ...rounds?.fields },
    guard: { updateTime: own.turnUpdateTime },
  };
  const [updateTime] = await dependencies.store.commit([turn, ...(rounds?.writes ?? [])]);
  own.turnUpdateTime = updateTime ?? own.turnUpdateTime;
  own.leaseUntil = leaseUntil;
  if (noted === writing.noted) writing.isNoteDue = false;
  if (rounds) noteStored(writing, rounds);
}

function noteStored(writing: Writing, rounds: ReturnType<typeof roundsBatch>): void {
  writing.storedStep = rounds.step;
  writing.pieces = rounds.pieces;
  writing.storedUsage = rounds.usage;
}

/** Reads the turn and goes on from what stands there. */
export async function recover(writing: Writing): Promise<Standing> {
  const { dependencies, own, cancel } = writing;
  const { conversationId, seq } = own;
  const [document] = await dependencies.store.get([turnPath(conversationId, seq)]);
  if (!document) return 'lost';
  const turn = readTurnDocument(conversationId, document);
  if (!isOwnAttempt(turn.value, own)) return 'lost';
  if (turn.value.state !== 'running') return 'ended';
  own.turnUpdateTime = turn.updateTime;
  own.leaseUntil = turn.value.leaseUntil;
  writing.storedStep = turn.value.rounds?.step ?? 0;
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
      return await serially(() => writeTurn(writing, leaseFrom(dependencies), batch));
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

/** Until when a turn is its producer's, or that of who waits with it, unless the lease is renewed. */
export const leaseFrom = (
  { clock, config }: Pick<ChatDependencies, 'clock' | 'config'>,
  now = clock.now(),
): Date => new Date(now.getTime() + config.TURN_LEASE_MS);
