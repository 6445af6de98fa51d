import { bodyHash } from '#functions/chat/turns/start/read-start.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { endedTurnWrites } from '#shared/conversation/writes/turn-writes.ts';
import type { Sha256, Write } from '#shared/ports/ports.ts';
import { cutHead } from '#shared/text/cut.ts';
import { titleIn } from '#shared/titles/title.ts';
import { estimateContentTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { stableUuid } from '#shared/uuid.ts';
import type { SourceMessage } from './source-message.ts';

const EXTENSION = 'firestore-genai-chatbot';
const ERROR_CHARACTERS = 500;

/** The id of a conversation or a message: always the same for the path of its collection or document. */
export const importedId = (sha256: Sha256, path: string): string =>
  stableUuid(sha256, [EXTENSION, path]);

/** A turn of the extension as Recap stores it. */
export interface ImportedTurn {
  seq: number;
  writes: readonly Write[];
  /** Estimated, of what is in the context. */
  tokens: number;
  createTime: Date;
  finishTime: Date;
  isAnswered: boolean;
  /** What the conversation could be called after this message. */
  title: string | undefined;
}

const failed = (text: string) =>
  ({
    status: 'UNAVAILABLE',
    reason: text === '' ? 'MODEL_EMPTY_ANSWER' : 'MODEL_REFUSED_REQUEST',
    message: cutHead(text, ERROR_CHARACTERS) || 'The model gave no answer.',
    retryable: false,
  }) as const;

/** `now` stands in for times that the source does not have. */
export function importedTurn(
  { sha256, counting, now }: { sha256: Sha256; counting: TokenCounting; now: Date },
  place: { conversationId: string; seq: number },
  { path, prompt, answer, ...times }: SourceMessage,
): ImportedTurn {
  const createTime = times.createTime ?? times.finishTime ?? now;
  const finishTime = new Date(Math.max(createTime.getTime(), times.finishTime?.getTime() ?? 0));
  const user: Content = { role: 'user', parts: [{ text: prompt }] };
  const messageId = importedId(sha256, path);
  const isAnswered = 'text' in answer;
  const contents: Content[] = isAnswered ? [{ role: 'model', parts: [{ text: answer.text }] }] : [];
  const userTokens = estimateContentTokens(user, counting);
  const answerTokens = contents.reduce((sum, one) => sum + estimateContentTokens(one, counting), 0);
  const writes = endedTurnWrites({
    begun: {
      ...place,
      messageId,
      bodyHash: bodyHash(sha256, { message: { id: messageId, parts: user.parts } }),
      user,
      userTokens,
      lease: { producer: '', leaseUntil: finishTime },
      now: createTime,
    },
    ended: {
      contents,
      answerTokens,
      inContext: isAnswered,
      now: finishTime,
      ...(isAnswered
        ? { state: 'done', finishReason: 'STOP' }
        : { state: 'failed', error: failed(answer.failure) }),
    },
  });
  const tokens = isAnswered ? userTokens + answerTokens : 0;
  const title = titleIn(prompt.split('\n', 1)[0] ?? '');
  return { seq: place.seq, writes, tokens, createTime, finishTime, isAnswered, title };
}
