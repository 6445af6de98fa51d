import { randomUUID } from 'node:crypto';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Profile } from '#shared/conversation/documents/snapshot.ts';
import { newConversation } from '#shared/conversation/documents/new-conversation.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { encodeAnswer, encodeUser } from '#shared/conversation/documents/encode-turn.ts';
import type { DocumentStore, Randomness, Write } from '#shared/ports/ports.ts';
import type { RecordedTurn } from './eval-turns.ts';

/** Turns of one commit; each is one document and its overflow. */
const turnsPerCommit = 100;

interface NewConversation {
  model: string;
  profile: Profile;
  systemInstruction?: string;
  now: Date;
}

const tokensOf = (contents: readonly Content[]): number =>
  contents.reduce((sum, content) => sum + estimateContentTokens(content, 'character-class'), 0);

/** Stores a conversation without turns, under ids that `randomness` draws. Returns its id. */
export async function storeConversation(
  store: DocumentStore,
  { model, profile, systemInstruction, now }: NewConversation,
  randomness: Randomness = { uuid: () => randomUUID() },
): Promise<string> {
  const conversationId = randomness.uuid();
  const instruction = { role: 'user' as const, parts: [{ text: systemInstruction ?? '' }] };
  const conversation = newConversation({
    epoch: randomness.uuid(),
    ownerUid: 'eval',
    model,
    profile,
    systemInstruction,
    now,
  });
  const overheadTokens = systemInstruction === undefined ? 0 : tokensOf([instruction]);
  conversation.context.overheadTokens = Math.ceil(overheadTokens);
  await store.commit([
    { op: 'create', path: conversationPath(conversationId), fields: { ...conversation } },
  ]);
  return conversationId;
}

function turnWrites(conversationId: string, seq: number, turn: RecordedTurn): Write[] {
  const { user, contents, at, finishedAt = at } = turn;
  const encodedUser = encodeUser({ conversationId, seq }, user);
  const encodedAnswer = encodeAnswer({ conversationId, seq, attempt: 1 }, contents);
  const fields = {
    schemaVersion: 1,
    seq,
    messageId: `message-${seq}`,
    state: 'done',
    attempt: 1,
    producer: 'eval',
    leaseUntil: at,
    createTime: at,
    finishTime: finishedAt,
    tokens: { user: tokensOf([user]), answer: tokensOf(contents) },
    inContext: true,
    ...encodedUser.fields,
    ...encodedAnswer.fields,
  };
  return [
    { op: 'create', path: turnPath(conversationId, seq), fields },
    ...encodedUser.writes,
    ...encodedAnswer.writes,
  ];
}

/** Stores finished turns behind the first `stored` ones. */
export async function appendTurns(
  store: DocumentStore,
  to: { conversationId: string; stored: number },
  turns: readonly RecordedTurn[],
): Promise<void> {
  const { conversationId, stored } = to;
  for (let start = 0; start < turns.length; start += turnsPerCommit) {
    const some = turns.slice(start, start + turnsPerCommit);
    await store.commit(
      some.flatMap((turn, index) => turnWrites(conversationId, stored + start + index + 1, turn)),
    );
  }
  await store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { lastSeq: stored + turns.length },
      guard: { exists: true },
    },
  ]);
}

/** Writes down that somebody asks for a compaction. */
export async function askForCompaction(
  store: DocumentStore,
  ask: { conversationId: string; requestId: string; since: Date },
): Promise<void> {
  const { conversationId, requestId, since } = ask;
  await store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { compactionRequests: { manual: { requestId, since } } },
      guard: { exists: true },
    },
  ]);
}
