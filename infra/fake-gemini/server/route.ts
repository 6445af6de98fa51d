import { z } from 'zod';
import { type ModelRequestBody, contentText } from './request.ts';
import type { Vices } from './misbehaviour.ts';

const askedSchema = z.object({ message: z.object({ text: z.string() }) });

/** Words that stand for hard work. */
const HARD = /\b(?:plan|design|why|debug|prove|compare|step by step)\b/i;

/** From this length on a message is hard whatever it says, UTF-16 units. */
const LONG_CHARACTERS = 400;

/** Which model is to answer a message: `strong` for a long one and for one with a word of hard work, else `fast`. */
export function route(body: ModelRequestBody, vices: Vices): string {
  const text = contentText(body.contents?.at(-1));
  let message = text;
  try {
    message = askedSchema.parse(JSON.parse(text)).message.text;
  } catch {
    // Judged as it is.
  }
  const word = HARD.exec(message)?.[0];
  const isLong = message.length >= LONG_CHARACTERS;
  const reasoning = word ? `It asks to ${word}.` : `It is ${isLong ? 'long' : 'short and plain'}.`;
  const choice = word !== undefined || isLong ? 'strong' : 'fast';
  const answer = JSON.stringify({ reasoning, choice });
  return vices.malformed === true ? answer.slice(1) : answer;
}
