import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { queueSeqs } from '#shared/conversation/start-decision.ts';
import { remedies, type Breach, type Invariant, type StoredConversation } from './load.ts';

/** Missing turns that are told one by one; of more it is told how many. */
const MISSING_TOLD_MAX = 20;

function missingTurns(stored: StoredConversation): Breach[] {
  const { conversationId, conversation, turns, unreadable } = stored;
  const { lastSeq } = conversation;
  const present = new Set([...turns, ...unreadable].map(({ path }) => path));
  const missing = Array.from({ length: lastSeq }, (_, i) => i + 1).filter(
    (seq) => !present.has(turnPath(conversationId, seq)),
  );
  const more = missing.length - MISSING_TOLD_MAX;
  return missing.slice(0, MISSING_TOLD_MAX).map((seq, i) => ({
    path: turnPath(conversationId, seq),
    is: `there is no turn ${seq}, lastSeq is ${lastSeq}${more > 0 && i === MISSING_TOLD_MAX - 1 ? `, and ${more} more are missing` : ''}`,
  }));
}

const turnOf = ({ turns }: StoredConversation, wanted: number | undefined) =>
  turns.find(({ turn: { seq } }) => seq === wanted)?.turn;

function endedOpenTurn(stored: StoredConversation): Breach[] {
  const { conversationId, conversation } = stored;
  const state = turnOf(stored, conversation.open?.seq)?.state;
  const isAnswered = state !== undefined && !isTerminal(state) && state !== 'queued';
  return conversation.open === undefined || isAnswered
    ? []
    : [
        {
          path: conversationPath(conversationId),
          is: `head.open names turn ${conversation.open.seq}, which is ${state ?? 'not there'}`,
        },
      ];
}

function repeatedMessages({ turns }: StoredConversation): Breach[] {
  const bySeq = turns.toSorted((one, other) => one.turn.seq - other.turn.seq);
  const ofMessage = Map.groupBy(bySeq, ({ turn }) => turn.messageId);
  return [...ofMessage.values()].flatMap(([first, ...others]) =>
    others.map(({ path }) => ({ path, is: `turn ${first?.turn.seq} has its message id` })),
  );
}

/** Turns and the guards of their messages. */
export const transcriptInvariants = {
  'turn-missing': {
    group: 'I1',
    shouldBe: 'a turn for each number from 1 to lastSeq',
    remedy: remedies.fromBackup,
    breaches: missingTurns,
  },
  'turn-beyond': {
    group: 'I1',
    shouldBe: 'no turn after lastSeq',
    remedy: 'delete it: while it is there the next message cannot be stored',
    breaches: ({ conversation: { lastSeq }, turns }) =>
      turns
        .filter(({ turn }) => turn.seq > lastSeq)
        .map(({ path }) => ({ path, is: `lastSeq is ${lastSeq}` })),
  },
  'turn-misplaced': {
    group: 'I1',
    shouldBe: 'each turn under the id that its seq gives',
    remedy: remedies.fromBackup,
    breaches: ({ conversationId, turns }) =>
      turns
        .filter(({ path, turn }) => path !== turnPath(conversationId, turn.seq))
        .map(({ path, turn }) => ({ path, is: `it says that it is turn ${turn.seq}` })),
  },
  'piece-missing': {
    group: 'I1',
    shouldBe: 'every piece that the turn names',
    remedy: remedies.fromBackup,
    breaches: ({ turns }) =>
      turns.flatMap(({ missingPieces }) =>
        missingPieces.map((path) => ({ path, is: 'it is not there' })),
      ),
  },
  'guard-missing': {
    group: 'I1',
    shouldBe: 'a guard of the message of each turn',
    remedy: 'write messages/{id} with the seq of the turn, or the id may be sent a second time',
    breaches: ({ turns, guards }) => {
      const guarded = new Set(guards.map(({ messageId }) => messageId));
      return turns
        .filter(({ turn }) => !guarded.has(turn.messageId))
        .map(({ path, turn }) => ({ path, is: `there is no messages/${turn.messageId}` }));
    },
  },
  'guard-misdirected': {
    group: 'I1',
    shouldBe: 'a guard that names the turn of its message',
    remedy: 'set its seq to that of the turn with this message id',
    breaches: ({ turns, guards }) => {
      const messageIds = new Map(turns.map(({ turn }) => [turn.seq, turn.messageId]));
      return guards
        .filter(({ seq, messageId }) => (messageIds.get(seq) ?? messageId) !== messageId)
        .map(({ path, seq }) => ({ path, is: `it names turn ${seq}, which has another message` }));
    },
  },
  'guard-dangling': {
    group: 'I1',
    shouldBe: 'a guard that names a turn that is there',
    remedy: remedies.fromBackup,
    breaches: ({ turns, guards }) => {
      const seqs = new Set(turns.map(({ turn }) => turn.seq));
      return guards
        .filter(({ seq }) => !seqs.has(seq))
        .map(({ path, seq }) => ({ path, is: `it names turn ${seq}, which is not there` }));
    },
  },
  'open-turn-ended': {
    group: 'I1',
    shouldBe:
      'head.open names a turn that runs or waits for the app, and the last but for queued ones',
    remedy: remedies.bySweep,
    breaches: endedOpenTurn,
  },
  'running-not-open': {
    group: 'I1',
    shouldBe: 'a turn that runs is the one that head.open names',
    remedy: 'end it by hand (state failed, finishTime): nobody closes a turn that is not open',
    breaches: ({ conversation: { open }, turns }) =>
      turns
        .filter(
          ({ turn: { seq, state } }) =>
            !isTerminal(state) && state !== 'queued' && seq !== open?.seq,
        )
        .map(({ path, turn }) => ({
          path,
          is: `it is ${turn.state}, and head.open is ${open ? `turn ${open.seq}` : 'absent'}`,
        })),
  },
  'queued-not-in-queue': {
    group: 'I1',
    shouldBe: 'a turn that waits stands in head.queue',
    remedy: 'end it by hand (state failed, finishTime), or send the message again under a new id',
    breaches: ({ conversation, turns }) => {
      const queue = new Set(queueSeqs(conversation));
      return turns
        .filter(({ turn: { seq, state } }) => state === 'queued' && !queue.has(seq))
        .map(({ path }) => ({ path, is: 'it waits and is not queued' }));
    },
  },
  'message-twice': {
    group: 'I5',
    shouldBe: 'a message id is one turn',
    remedy: 'delete the later message: `DELETE …/messages/{id}` of its answer',
    breaches: repeatedMessages,
  },
  'end-missing': {
    group: 'I5',
    shouldBe: 'an ended turn says when it ended, a failed one why',
    remedy: 'write finishTime, and for a failed one error',
    breaches: ({ turns }) =>
      turns
        .filter(
          ({ turn: { state, finishTime, error } }) =>
            (isTerminal(state) && !finishTime) || (state === 'failed' && !error),
        )
        .map(({ path, turn: { state, finishTime } }) => ({
          path,
          is: `it is ${state} without ${finishTime ? 'an error' : 'finishTime'}`,
        })),
  },
  'end-early': {
    group: 'I5',
    shouldBe: 'a turn has an error if, and only if, it failed or was cancelled',
    remedy: remedies.bySweep,
    breaches: ({ turns }) =>
      turns
        .filter(({ turn: { state, error } }) => error && (state === 'done' || state === 'running'))
        .map(({ path, turn }) => ({ path, is: `it is ${turn.state} and has an error` })),
  },
} as const satisfies Record<string, Invariant>;
