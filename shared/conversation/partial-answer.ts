import { estimateContentTokens, type TokenCounting } from '../compaction/token-estimate.ts';
import type { DocumentStore } from '../ports.ts';
import { firstFrameId } from '../wire/frame-ids.ts';
import type { Content } from './content.ts';
import { readFramesAfter } from './stored-frames.ts';
import type { TurnDocument } from './turn.ts';
import type { PartialAnswer } from './end-abandoned.ts';

/**
 * What the last attempt at an abandoned turn has said, from the chunks of its stream: the text alone, as
 * its readers saw it. `undefined` when nothing was said, the chunks are purged, or the message was erased.
 */
export async function readPartialAnswer(
  store: Pick<DocumentStore, 'get'>,
  of: { conversationId: string; turn: TurnDocument['value']; counting: TokenCounting },
): Promise<PartialAnswer | undefined> {
  const { conversationId, turn, counting } = of;
  const { seq, attempt, chunks = 0, tokens } = turn;
  if (turn.state !== 'running' || chunks === 0 || turn.eraseTime !== undefined) return undefined;
  const before = firstFrameId(attempt) - 1;
  const frames = await readFramesAfter(store, { conversationId, seq, attempt, chunks }, before);
  const text = (frames ?? [])
    .map(({ chunk }) => (chunk.type === 'text-delta' ? chunk.delta : ''))
    .join('');
  if (text === '') return undefined;
  const content: Content = { role: 'model', parts: [{ text }] };
  const answer = estimateContentTokens(content, counting);
  return { attempt, contents: [content], tokens: { user: tokens.user, answer } };
}
