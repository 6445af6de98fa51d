import { type ModelRequestBody, contentText } from '../server/request.ts';
import { textTokens } from '../answers/token-rule.ts';

/** How much a summary may say, and how that is measured. */
export interface Room {
  size: number;
  measure: (text: string) => number;
}

const limit = /(?:room for|must have|use) at most ([\d,]+) (tokens|characters)/iu;
const outputShare = 0.6;
const defaultMaxOutputTokens = 65_536;

function statedRoom(text: string): Room | undefined {
  const [, size = '', unit = ''] = limit.exec(text) ?? [];
  if (size === '') return undefined;
  return {
    size: Number(size.replaceAll(',', '')),
    measure: unit.toLowerCase() === 'tokens' ? textTokens : (said) => said.length,
  };
}

/** What the request asks for in its own words, in tokens or characters; else 60 % of maxOutputTokens. */
export function readRoom(body: ModelRequestBody): Room {
  return (
    statedRoom(contentText(body.systemInstruction)) ??
    statedRoom(contentText(body.contents?.at(-1))) ?? {
      size: outputShare * (body.generationConfig?.maxOutputTokens ?? defaultMaxOutputTokens),
      measure: textTokens,
    }
  );
}
