import { queueSeqs } from '#shared/conversation/decisions/queue-decision.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { finding, findingWhen, type Finding } from './finding.ts';
import {
  conversationOfPath,
  type Loaded,
  type StoredGuard,
  type StoredTurn,
} from './load/loaded.ts';

/** Numbers of one kind of finding that are told one by one; of more the first and how many. */
const TOLD_MAX = 20;

type Transcript = Pick<Loaded, 'conversationId' | 'turns' | 'guards'> & {
  conversation: Pick<Conversation, 'lastSeq' | 'open' | 'queue' | 'state'>;
  /** Turns that are there and cannot be read. */
  unreadable?: readonly { path: string }[];
};

/** I1: turns stand without a gap, under their own ids, and with all their pieces. */
export function checkTurns(transcript: Transcript): Finding[] {
  const { conversationId, conversation, turns, unreadable = [] } = transcript;
  const there = new Set([...turns, ...unreadable].map(({ path }) => path));
  const missing: number[] = [];
  for (let seq = 1; seq <= conversation.lastSeq; seq += 1)
    if (!there.has(turnPath(conversationId, seq))) missing.push(seq);
  const more = missing.length - TOLD_MAX;
  return [
    ...missing
      .slice(0, TOLD_MAX)
      .map((seq) =>
        finding(
          'turn-missing',
          turnPath(conversationId, seq),
          `there is no turn ${seq}, lastSeq is ${conversation.lastSeq}${more > 0 && seq === missing[TOLD_MAX - 1] ? `, and ${more} more are missing` : ''}`,
        ),
      ),
    ...turns.flatMap(({ path, fields: { seq }, missingPieces }) => [
      ...findingWhen(
        seq > conversation.lastSeq,
        'turn-beyond',
        path,
        `lastSeq is ${conversation.lastSeq}`,
      ),
      ...findingWhen(
        path !== turnPath(conversationId, seq),
        'turn-misplaced',
        path,
        `it says that it is turn ${seq}`,
      ),
      ...missingPieces.map((piece) => finding('piece-missing', piece, 'it is not there')),
    ]),
  ];
}

function checkGuard(guard: StoredGuard, turn: StoredTurn | undefined): Finding[] {
  const { path, seq, messageId, bodyHash } = guard;
  if (!turn) return [finding('guard-dangling', path, `it names turn ${seq}, which is not there`)];
  if (turn.fields.messageId !== messageId)
    return [finding('guard-misdirected', path, `it names turn ${seq}, which has another message`)];
  const isErased = turn.fields.eraseTime !== undefined && !turn.hasQuestion;
  return [
    ...findingWhen(!isErased && bodyHash === '', 'guard-without-hash', path, 'its hash is empty'),
    ...findingWhen(
      isErased && bodyHash !== '' && bodyHash !== 'not read',
      'erased-turn-tells',
      path,
      'the hash of the erased message is still there',
    ),
  ];
}

/** I1, both ways: each guard names the turn of its message, each turn's message has a guard. */
export function checkGuards({ turns, guards }: Pick<Transcript, 'turns' | 'guards'>): Finding[] {
  const bySeq = new Map(turns.map((turn) => [turn.fields.seq, turn]));
  const guarded = new Map(guards.map((guard) => [guard.messageId, guard]));
  return [
    ...guards.flatMap((guard) => checkGuard(guard, bySeq.get(guard.seq))),
    ...turns
      .filter(({ fields }) => !guarded.has(fields.messageId))
      .map(({ path, fields }) =>
        finding('guard-missing', path, `no messages/${fields.messageId} stands beside it`),
      ),
  ];
}

/** I1: the one turn that runs is the open one, those that wait are in the queue. */
export function checkOpen(transcript: Transcript): Finding[] {
  const { conversation, turns } = transcript;
  const queue = new Set(queueSeqs(conversation));
  const unended = turns.filter(({ fields }) => !isTerminal(fields.state));
  const open = turns.find(({ fields }) => fields.seq === conversation.open?.seq);
  const isOpenRunning =
    open !== undefined && !isTerminal(open.fields.state) && open.fields.state !== 'queued';
  return [
    ...findingWhen(
      conversation.open !== undefined && !isOpenRunning,
      'open-turn-ended',
      conversationOfPath(transcript),
      `head.open names turn ${conversation.open?.seq}, which is ${open?.fields.state ?? 'not there'}`,
    ),
    ...unended.flatMap(({ path, fields: { seq, state } }) =>
      state === 'queued'
        ? findingWhen(!queue.has(seq), 'queued-not-in-queue', path, 'it waits and is not queued')
        : findingWhen(
            conversation.open?.seq !== seq,
            'running-not-open',
            path,
            `it is ${state}, and head.open is ${conversation.open ? `turn ${conversation.open.seq}` : 'absent'}`,
          ),
    ),
  ];
}

const negative = (usage: Readonly<Record<string, number | undefined>>): string[] =>
  Object.entries(usage).flatMap(([name, value]) =>
    value !== undefined && value < 0 ? [name] : [],
  );

function checkEnd({ path, fields }: StoredTurn): Finding[] {
  const { state, finishTime, error, usage } = fields;
  const isEnded = isTerminal(state);
  const wrong = usage ? negative(usage) : [];
  return [
    ...findingWhen(
      isEnded && !finishTime,
      'end-missing',
      path,
      `it is ${state} without finishTime`,
    ),
    ...findingWhen(state === 'failed' && !error, 'end-missing', path, 'it failed without an error'),
    ...findingWhen(
      state === 'done' && error !== undefined,
      'end-early',
      path,
      'done with an error',
    ),
    ...findingWhen(
      state === 'running' && error !== undefined,
      'end-early',
      path,
      'it runs and has an error',
    ),
    ...findingWhen(wrong.length > 0, 'usage-wrong', path, `negative: ${wrong.join(', ')}`),
    ...findingWhen(
      usage !== undefined && usage.cachedTokens > usage.promptTokens,
      'usage-wrong',
      path,
      `${usage?.cachedTokens} cached tokens of a prompt of ${usage?.promptTokens}`,
    ),
  ];
}

/** I5: one turn for a message id, with one end and one bill. */
export function checkAnswers({ turns }: Pick<Transcript, 'turns'>): Finding[] {
  const firstOf = new Map<string, number>();
  const found: Finding[] = [];
  for (const turn of turns) {
    const { messageId, seq } = turn.fields;
    const first = firstOf.get(messageId);
    if (first === undefined) firstOf.set(messageId, seq);
    else found.push(finding('message-twice', turn.path, `turn ${first} has its message id`));
    found.push(...checkEnd(turn));
  }
  return found;
}
