import { z } from 'zod';
import { type ModelRequestBody, contentText } from '../server/request.ts';
import { unwrapSnapshot } from '../answers/sentences.ts';

/** Something that a repair request wants to be placed. */
export interface Missing {
  text: string;
  /** Turns that say it; none: any. */
  turns: readonly number[];
}

const tagged = /<(\w+)>([^<]*)<\/\1>/g;
const listed = /^\s*[-*]\s+(.+)$/;
const jsonSchema = z.looseObject({
  id: z.undefined().optional(),
  text: z.string(),
  turns: z.array(z.number()).catch([]),
});

const anywhere = (text: string): Missing => ({ text, turns: [] });

function readJson(line: string): Missing[] {
  if (!line.startsWith('{')) return [];
  try {
    const parsed = jsonSchema.safeParse(JSON.parse(line));
    return parsed.success ? [{ text: parsed.data.text, turns: parsed.data.turns }] : [];
  } catch {
    return [];
  }
}

function readLine(line: string): Missing[] {
  const inTags = [...line.matchAll(tagged)].map((found) => unwrapSnapshot(found[2] ?? ''));
  if (inTags.length > 0) return inTags.map(anywhere);
  const item = listed.exec(line)?.[1];
  return item === undefined ? readJson(line) : [anywhere(item)];
}

/**
 * What a repair request (prompt id `…-repair`) says is missing, in its last content: tagged texts, list
 * items, or JSON lines `{turns, text}`. Otherwise nothing.
 */
export function missingTexts(body: ModelRequestBody, promptId: string): Missing[] {
  if (!promptId.endsWith('-repair')) return [];
  return contentText(body.contents?.at(-1))
    .split('\n')
    .flatMap(readLine)
    .map(({ text, turns }) => ({ text: text.trim(), turns }))
    .filter(({ text }) => text !== '');
}
