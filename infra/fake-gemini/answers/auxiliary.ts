import { z } from 'zod';
import { alterNumber, type Vices } from '#infra/fake-gemini/server/faults.ts';
import { contentText, type ModelRequestBody } from '../server/request.ts';
import { firstCodePoints, splitSentences } from './chat.ts';

/* What is said to requests beside the chat: condense a tool output, name a conversation, choose a model. */

/** Whether a request wants one tool output condensed: prompt id `…-condense-{n}`. */
export const isCondensing = (promptId: string): boolean => /-condense-\d+$/.test(promptId);

const limitLine = /at most ([\d,]+) characters/i;
/** A failure, an identifier or a path. */
const telling = /error|warning|exception|failed|\d{5,}|\/\w/i;
const FIRST_LINES = 5;

/** The lines between the boundary and its next occurrence, equal ones once. */
function outputLines(body: ModelRequestBody): string[] {
  const [boundary = '', ...lines] = contentText(body.contents?.[0]).split('\n');
  const end = lines.indexOf(boundary);
  return [...new Set(lines.slice(0, end < 0 ? undefined : end))].filter(
    (line) => line.trim() !== '',
  );
}

/**
 * A tool output in fewer lines, verbatim and in order: the first five, and those with failures, identifiers or paths, as
 * many as the limit of characters allows that the request states.
 */
export function condense(body: ModelRequestBody, vices: Vices): string {
  const stated = limitLine.exec(contentText(body.contents?.at(-1)))?.[1];
  let left = Number(stated?.replaceAll(',', '') ?? Number.POSITIVE_INFINITY);
  const chosen = outputLines(body).filter((line, index) => {
    if (index >= FIRST_LINES && !telling.test(line)) return false;
    if (line.length + 1 > left) return false;
    left -= line.length + 1;
    return true;
  });
  return (vices.inventive === true ? alterNumber(chosen) : chosen).join('\n');
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
