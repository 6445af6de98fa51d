import { type ModelRequestBody, textOf } from './request.ts';
import { textTokens } from './token-rule.ts';

/** How much a summary may say, and how that is measured. */
export interface Room {
  size: number;
  measure: (text: string) => number;
}

const limit = /at most ([\d,]+) (tokens|characters)/giu;
const outputShare = 0.6;
const defaultMaxOutputTokens = 65_536;

/** The largest limit of a text: a smaller one is that of a part. */
function statedRoom(text: string): Room | undefined {
  const rooms = [...text.matchAll(limit)].map(([, size = '', unit = '']): Room => ({
    size: Number(size.replaceAll(',', '')),
    measure: unit.toLowerCase() === 'tokens' ? textTokens : (said) => said.length,
  }));
  return rooms.toSorted((a, b) => b.size - a.size)[0];
}

/** What the request asks for in its own words, in tokens or characters; else 60 % of maxOutputTokens. */
export function readRoom(body: ModelRequestBody): Room {
  return (
    statedRoom(textOf(body.systemInstruction)) ??
    statedRoom(textOf(body.contents?.at(-1))) ?? {
      size: outputShare * (body.generationConfig?.maxOutputTokens ?? defaultMaxOutputTokens),
      measure: textTokens,
    }
  );
}
