import { firstInboxWrites } from '#shared/conversation/documents/inbox.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Content } from '#shared/models/content.ts';
import {
  conversationSchema,
  type Conversation,
  pickSweepShard,
} from '#shared/conversation/documents/conversation.ts';
import {
  conversationPath,
  messageGuardPath,
  turnId,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import { encodeAnswer, encodeUser, type Turn } from '#shared/conversation/documents/turn.ts';
import { finishWrites, startWrites } from '#shared/conversation/writes/turn-writes.ts';
import type { DocumentFields, DocumentStore, Write } from '#shared/ports/ports.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { randomUUID } from 'node:crypto';

/** A finished turn to store. Text that is not given is made up: about 130 tokens a turn. */
export interface TurnToBuild {
  user?: string | Content;
  /** The answer as text, or as contents when tools took part. */
  answer?: string | readonly Content[];
  state?: Extract<Turn['state'], 'done' | 'failed' | 'cancelled'>;
  inContext?: boolean;
  /** The turn that took its place; then it is in no context. */
  replacedBy?: number;
  retention?: Turn['retention'];
  grounding?: Turn['grounding'];
  finishReason?: string;
}

export interface ConversationToBuild {
  conversationId?: string;
  /** How many turns, or which. */
  turns: number | readonly TurnToBuild[];
  conversation?: Partial<Conversation>;
  now?: Date;
  /** The model said of the last prompt that it had all of this, tool outputs whole; default: all is estimated. */
  isReported?: boolean;
}

/** Writes of one commit; turns have two documents each. */
const WRITES_PER_COMMIT = 200;

const RULE = 'character-class';

const places = ['a harbour', 'a market', 'a temple', 'a museum', 'a beach', 'a tea house'];
const placeOf = (seq: number) => places[seq % places.length] ?? 'a place';

export const userText = (text: string): Content => ({ role: 'user', parts: [{ text }] });
export const modelText = (text: string): Content => ({ role: 'model', parts: [{ text }] });

/** What the user says in turn `seq` when the test does not care. */
export const madeUpQuestion = (seq: number) =>
  `Question ${seq}: what do you know about ${placeOf(seq)} that is worth a visit on day ${seq} of the trip, and how long should we stay there?`;

export const madeUpAnswer = (seq: number) =>
  `Answer ${seq}: ${placeOf(seq)} is worth about two hours in the morning, when it is quiet and the light is soft; take the bus from the station, bring some water, and walk back along the river afterwards. `.repeat(
    2,
  );

function userOf({ user }: TurnToBuild, seq: number): Content {
  return typeof user === 'object' ? user : userText(user ?? madeUpQuestion(seq));
}

const contentsOf = (turn: TurnToBuild, seq: number): Content[] =>
  typeof turn.answer === 'object'
    ? [...turn.answer]
    : [modelText(turn.answer ?? madeUpAnswer(seq))];

const tokensOf = (contents: readonly Content[]) =>
  contents.reduce((sum, content) => sum + estimateContentTokens(content, RULE), 0);

interface PlacedTurn {
  conversationId: string;
  seq: number;
  turn: TurnToBuild;
  now: Date;
  /** Default: `now`. */
  finishTime?: Date;
}

/** The documents of one finished turn and its message guard. */
export function turnWrites({
  conversationId,
  seq,
  turn,
  now,
  finishTime = now,
}: PlacedTurn): Write[] {
  const user = userOf(turn, seq);
  const contents = contentsOf(turn, seq);
  const messageId = `message-${seq}`;
  const encodedUser = encodeUser({ conversationId, seq }, user);
  const encodedAnswer = encodeAnswer({ conversationId, seq, attempt: 1 }, contents);
  const fields: DocumentFields = {
    schemaVersion: 1,
    seq,
    messageId,
    state: turn.state ?? 'done',
    attempt: 1,
    producer: 'builder',
    leaseUntil: now,
    createTime: now,
    finishTime,
    tokens: { user: tokensOf([user]), answer: tokensOf(contents) },
    inContext: turn.inContext ?? (turn.state !== 'failed' && turn.replacedBy === undefined),
    ...(turn.replacedBy !== undefined && { replacedBy: { [turnId(turn.replacedBy)]: true } }),
    ...(turn.retention && { retention: turn.retention }),
    ...(turn.finishReason !== undefined && { finishReason: turn.finishReason }),
    ...(turn.grounding && { grounding: { ...turn.grounding } }),
    ...encodedUser.fields,
    ...encodedAnswer.fields,
  };
  return [
    { op: 'create', path: turnPath(conversationId, seq), fields },
    {
      op: 'create',
      path: messageGuardPath(conversationId, messageId),
      fields: { seq, bodyHash: 'built' },
    },
    ...encodedUser.writes,
    ...encodedAnswer.writes,
  ];
}

interface BuiltTurns {
  conversationId: string;
  turns: readonly TurnToBuild[];
  now: Date;
}

function storedConversation(
  options: ConversationToBuild,
  { conversationId, turns, now }: BuiltTurns,
): Conversation {
  const tokens = turns.reduce(
    (sum, turn, index) =>
      turn.inContext === false || turn.state === 'failed' || turn.replacedBy !== undefined
        ? sum
        : sum + tokensOf([userOf(turn, index + 1), ...contentsOf(turn, index + 1)]),
    0,
  );
  return conversationSchema.parse({
    schemaVersion: 1,
    epoch: randomUUID(),
    state: 'live',
    ownerUid: 'u1',
    model: 'gemini-2.5-flash',
    profile: 'assistant',
    settings: {},
    metadata: {},
    createTime: now,
    updateTime: now,
    generation: 0,
    coveredThrough: { seq: 0, contentIndex: 0 },
    lastSeq: turns.length,
    sweepShard: pickSweepShard(conversationId),
    changedIn: 0,
    context: {
      tokens,
      overheadTokens: 0,
      calibration: 1,
      source: options.isReported === true ? 'reported' : 'estimated',
      generation: 0,
      seq: turns.length,
    },
    pins: [],
    compactionRequests: {},
    ...options.conversation,
  });
}

/**
 * Stores a conversation: a conversation document and its finished turns, encoded as the service encodes them. Returns
 * its id (a new one unless given) and the conversation document as stored.
 */
export async function buildConversation(
  store: Pick<DocumentStore, 'commit'>,
  options: ConversationToBuild,
): Promise<{ conversationId: string; conversation: Conversation }> {
  const conversationId = options.conversationId ?? randomUUID();
  const now = options.now ?? new Date('2026-01-02T03:04:05.000Z');
  const turns: readonly TurnToBuild[] =
    typeof options.turns === 'number'
      ? Array.from({ length: options.turns }, () => ({}))
      : options.turns;
  const conversation = storedConversation(options, { conversationId, turns, now });
  await store.commit([
    { op: 'create', path: conversationPath(conversationId), fields: { ...conversation } },
    ...firstInboxWrites(conversationId, conversation, now),
  ]);
  const writes = turns.flatMap((turn, index) =>
    turnWrites({ conversationId, seq: index + 1, turn, now }),
  );
  for (let i = 0; i < writes.length; i += WRITES_PER_COMMIT)
    await store.commit(writes.slice(i, i + WRITES_PER_COMMIT));
  return { conversationId, conversation };
}

/** Starts and finishes one more turn through the batches that chat uses. Returns its seq. */
export async function addTurn(
  store: DocumentStore,
  conversationId: string,
  turn: { user: string; answer: string; now?: Date },
): Promise<number> {
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  const now = turn.now ?? conversation.value.updateTime;
  const seq = conversation.value.lastSeq + 1;
  const user = userText(turn.user);
  const contents = [modelText(turn.answer)];
  const userTokens = tokensOf([user]);
  await store.commit(
    startWrites({
      conversationId,
      messageId: `message-${seq}`,
      bodyHash: 'built',
      seq,
      user,
      userTokens,
      lease: { producer: 'builder', leaseUntil: new Date(now.getTime() + 20_000) },
      now,
      conversation,
    }),
  );
  const [started] = await readTurns(store, conversationId, [seq]);
  await store.commit(
    finishWrites({
      ownerUid: conversation.value.ownerUid,
      conversationId,
      seq,
      attempt: 1,
      turnUpdateTime: started?.updateTime ?? '',
      state: 'done',
      contents,
      answerTokens: tokensOf(contents),
      userTokens,
      inContext: true,
      now,
    }),
  );
  return seq;
}
