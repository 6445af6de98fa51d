import { z } from 'zod';
import { type ModelRequestBody, contentText } from './request.ts';
import { firstCodePoints, splitSentences } from '../answers/sentences.ts';

const messagesSchema = z.object({
  messages: z.array(z.object({ role: z.string(), text: z.string() })),
});

const TITLE_CODE_POINTS = 40;

/** A name for the messages of a request: how the user's first one begins, without its last mark. */
export function nameMessages(body: ModelRequestBody): string {
  const text = contentText(body.contents?.at(-1));
  let asked = text;
  try {
    const { messages } = messagesSchema.parse(JSON.parse(text));
    asked = messages.find(({ role }) => role === 'user')?.text ?? messages[0]?.text ?? '';
  } catch {
    // Named as it is.
  }
  const [sentence = 'Conversation'] = splitSentences(asked);
  return firstCodePoints(sentence, TITLE_CODE_POINTS).replace(/[\s.!?。！？,;:]+$/u, '');
}
