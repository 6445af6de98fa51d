import { readStoredTurn } from '#shared/conversation/context/read-conversation.ts';
import type { TurnDocument } from '#shared/conversation/documents/turn.ts';
import { firstFrameId, textPartId } from '#shared/conversation/frame-ids.ts';
import type { PartialAnswer } from '#shared/conversation/writes/abandoned-turns.ts';
import type { Content } from '#shared/models/content.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { estimateContentTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { readFramesAfter } from './stream-chunk.ts';

/** The text of an attempt behind its stored rounds, from the chunks of its stream, and its last frame there. */
async function readStreamedText(
  store: Pick<DocumentStore, 'query'>,
  { conversationId, turn }: { conversationId: string; turn: TurnDocument['value'] },
): Promise<{ text: string; throughId: number }> {
  const { seq, attempt, rounds } = turn;
  const before = firstFrameId(attempt) - 1;
  const frames = await readFramesAfter(store, { conversationId, seq, attempt }, before);
  const partId = textPartId(attempt, rounds?.count ?? 0);
  const text = (frames ?? [])
    .map(({ chunk }) => (chunk.type === 'text-delta' && chunk.id === partId ? chunk.delta : ''))
    .join('');
  return { text, throughId: frames?.at(-1)?.id ?? before };
}

/**
 * What the last attempt at an abandoned turn has said, as its readers saw it: its rounds, and the text behind
 * them. `undefined` when there is no such text: then what is stored is all there is, or nothing was said, the
 * chunks are purged, or the message was erased.
 */
export async function readPartialAnswer(
  store: Pick<DocumentStore, 'get' | 'query'>,
  target: { conversationId: string; turn: TurnDocument; counting: TokenCounting },
): Promise<PartialAnswer | undefined> {
  const { conversationId, turn, counting } = target;
  const { attempt, tokens, rounds, state, eraseTime } = turn.value;
  if (state !== 'running' || eraseTime !== undefined) return undefined;
  const { text, throughId } = await readStreamedText(store, { conversationId, turn: turn.value });
  if (text === '') return undefined;
  const before = rounds ? (await readStoredTurn(store, conversationId, turn)).value.contents : [];
  const content: Content = { role: 'model', parts: [{ text }] };
  const textTokens = estimateContentTokens(content, counting);
  return {
    attempt,
    throughId,
    ...(rounds && { step: rounds.step + 1 }),
    contents: [...before, content],
    tokens: { user: tokens.user, answer: (rounds ? tokens.answer : 0) + textTokens },
  };
}
