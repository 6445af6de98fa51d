import { z } from 'zod';
import { contentText, type ModelRequestBody } from '../server/request.ts';
import { firstCodePoints, splitSentences } from './chat.ts';

/* What is said to requests beside the chat: condense a tool output, name a conversation, choose a model. */

/** Whether a request wants one tool output condensed: prompt id `…-condense-{n}`. */
export const isCondensing = (promptId: string): boolean => /-condense-\d+$/.test(promptId);

const limitLine = /at most ([\d,]+) characters/i;

/** The beginning of a tool output, verbatim: whole lines, as many as the limit of characters allows that the request states. */
export function condense({ contents = [] }: ModelRequestBody): string {
  const [boundary = '', ...lines] = contentText(contents[0]).split('\n');
  const output = lines.slice(0, lines.indexOf(boundary)).join('\n');
  const limit = limitLine.exec(contentText(contents.at(-1)))?.[1] ?? `${output.length}`;
  const start = output.slice(0, Number(limit.replaceAll(',', '')));
  return start === output ? output : start.slice(0, Math.max(0, start.lastIndexOf('\n')));
}

const messagesSchema = z.object({
  messages: z.array(z.object({ role: z.string(), text: z.string() })),
});

const TITLE_CODE_POINTS = 40;

/** A name for the messages of a request: how the user's first one begins, without its last mark. */
export function nameMessages(body: ModelRequestBody): string {
  const { messages } = messagesSchema.parse(JSON.parse(contentText(body.contents?.at(-1))));
  const asked = messages.find(({ role }) => role === 'user')?.text ?? '';
  const [sentence = 'Conversation'] = splitSentences(asked);
  return firstCodePoints(sentence, TITLE_CODE_POINTS).replace(/[\s.!?。！？,;:]+$/u, '');
}

const judgedSchema = z.object({ message: z.object({ text: z.string() }) });

/** Words that stand for hard work. */
const HARD = /\b(?:plan|design|why|debug|prove|compare|step by step)\b/i;

/** From this length on a message is hard whatever it says, UTF-16 units. */
const LONG_CHARACTERS = 400;

/** Which model is to answer a message: `strong` for a long one and for one with a word of hard work, else `fast`. */
export function route(body: ModelRequestBody): string {
  const { text } = judgedSchema.parse(JSON.parse(contentText(body.contents?.at(-1)))).message;
  const isHard = HARD.test(text) || text.length >= LONG_CHARACTERS;
  const reasoning = isHard ? 'It asks for hard work.' : 'It is short and plain.';
  return JSON.stringify({ reasoning, choice: isHard ? 'strong' : 'fast' });
}
