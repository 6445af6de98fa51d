import { tombstone } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { OVERDUE_MS } from './compaction.ts';
import {
  remedies,
  type Breach,
  type Invariant,
  type Stored,
  type StoredConversation,
  type StoredTurn,
} from './load.ts';
import { isDeepStrictEqual } from 'node:util';

/** Turns that were erased; what is under way is not finished yet. */
function erasedTurns({ conversation, turns }: StoredConversation): readonly StoredTurn[] {
  const pending = new Set(conversation.pendingErasure?.seqs);
  return turns.filter(({ turn }) => turn.eraseTime && !pending.has(turn.seq));
}

/** Those that something may cite: a failed turn without tool rounds was never in a context. */
const citableSeqs = (stored: StoredConversation): ReadonlySet<number> =>
  new Set(
    erasedTurns(stored)
      .filter(({ turn }) => turn.state !== 'failed' || turn.rounds !== undefined)
      .map(({ turn }) => turn.seq),
  );

function leftOfTurns(stored: StoredConversation): Breach[] {
  const hashes = new Map(stored.guards.map((guard) => [guard.messageId, guard]));
  return erasedTurns(stored).flatMap(({ path, turn, below }) => {
    const guard = hashes.get(turn.messageId);
    // An answer alone was erased where the question stays.
    const isHashLeft = turn.user.parts.length === 0 && guard !== undefined && guard.bodyHash !== '';
    return [
      ...(turn.contents.length > 0 ? [{ path, is: 'its answer is still there' }] : []),
      ...(isHashLeft ? [{ path: guard.path, is: 'the hash of its message is still there' }] : []),
      ...below.map((left) => ({ path: left, is: 'it was not erased' })),
    ];
  });
}

/** Turns that the statements of a history cite. */
function citedSeqs({ snapshot }: History): number[] {
  if (!snapshot) return [];
  const items = [...Object.values(snapshot.sections).flat(), ...snapshot.archive];
  return [...new Set(items.flatMap(({ sources }) => sources))].toSorted((a, b) => a - b);
}

/** An erasure ends, of the whole conversation too. */
export const endOfErasure = {
  'erasure-stuck': {
    group: 'I7',
    shouldBe: 'an erasure ends within minutes',
    remedy: remedies.bySweep,
    breaches: ({ conversationId, conversation, now }) => {
      const { state, updateTime, pendingErasure } = conversation;
      const since = state === 'erasing' ? updateTime : pendingErasure?.since;
      if (!since || now.getTime() - since.getTime() <= OVERDUE_MS) return [];
      const is = `it is under way since ${since.toISOString()}`;
      return [{ path: conversationPath(conversationId), is }];
    },
  },
} as const satisfies Record<string, Invariant>;

/** Of erased turns nothing is left. */
export const erasedTurnInvariants = {
  'erased-turn-tells': {
    group: 'I7',
    shouldBe: 'of an erased turn its place alone',
    remedy: 'delete the message again; what stands below the turn by hand',
    breaches: leftOfTurns,
  },
  'history-cites-erased': {
    group: 'I7',
    shouldBe: 'no statement of any history cites an erased turn',
    remedy: 'delete the message again: erasing mends every history',
    breaches: (stored) => {
      const erased = citableSeqs(stored);
      return stored.histories.flatMap(({ path, history }) => {
        const cited = citedSeqs(history).filter((seq) => erased.has(seq));
        return cited.length > 0
          ? [{ path, is: `its statements cite turn ${cited.join(', ')}` }]
          : [];
      });
    },
  },
  'index-tells-erased': {
    group: 'I7',
    shouldBe: 'the index of recall has nothing of an erased turn',
    remedy: 'delete the message again: erasing makes the index anew',
    breaches: (stored) => {
      const erased = new Set(erasedTurns(stored).map(({ turn }) => turn.seq));
      return stored.index.flatMap(({ path, seqs }) => {
        const found = seqs.filter((seq) => erased.has(seq));
        return found.length > 0
          ? [{ path, is: `it has passages of turn ${found.slice(0, 10).join(', ')}` }]
          : [];
      });
    },
  },
  'pin-of-erased': {
    group: 'I7',
    shouldBe: 'no pin comes of an erased turn',
    remedy: '`DELETE …/pins/{id}`',
    breaches: (stored) => {
      const erased = citableSeqs(stored);
      return stored.conversation.pins
        .filter(({ seq }) => seq !== undefined && erased.has(seq))
        .map(({ id, seq }) => ({
          path: conversationPath(stored.conversationId),
          is: `pin ${id} comes of turn ${seq}`,
        }));
    },
  },
} as const satisfies Record<string, Invariant>;

/** Nothing is left of a conversation that is erased or not there. */
export const remainsInvariants = {
  'below-missing-head': {
    group: 'I7',
    shouldBe: 'nothing below a conversation that is not there',
    remedy: remedies.eraseAgain,
    breaches: ({ conversation, remains }) =>
      conversation ? [] : remains.map((path) => ({ path, is: 'it has no conversation' })),
  },
  'below-erased-head': {
    group: 'I7',
    shouldBe: 'nothing below the tombstone of an erased conversation',
    remedy: remedies.eraseAgain,
    breaches: ({ conversation, remains }) =>
      conversation ? remains.map((path) => ({ path, is: 'it was not erased' })) : [],
  },
  'tombstone-tells': {
    group: 'I7',
    shouldBe: 'a tombstone says nothing of anybody',
    remedy: remedies.eraseAgain,
    breaches: ({ conversationId, conversation, fields }) => {
      if (!conversation) return [];
      const wanted: Record<string, unknown> = {
        ...tombstone(conversation.generation, conversation.updateTime),
      };
      return Object.keys(fields)
        .filter((name) => !isDeepStrictEqual(fields[name], wanted[name]))
        .map((name) => ({ path: conversationPath(conversationId), is: `it has a ${name}` }));
    },
  },
} as const satisfies Record<string, Invariant<Stored>>;
