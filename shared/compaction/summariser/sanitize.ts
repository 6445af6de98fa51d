import { readableParts, type Content, type Part } from '#shared/conversation/documents/content.ts';
import { repairContents } from '#shared/conversation/repair/repair-contents.ts';

/** A part with something in it: any payload, known or not, except empty text. */
function hasPayload(part: Part): boolean {
  if (part.text !== undefined && part.text.trim() !== '') return true;
  return Object.entries(part).some(
    ([key, value]) =>
      value !== undefined && key !== 'text' && key !== 'thought' && key !== 'thoughtSignature',
  );
}

function withoutThought(whole: Part): Part {
  if (!('thought' in whole || 'thoughtSignature' in whole)) return whole;
  const { thought: _thought, thoughtSignature: _signature, ...part } = whole;
  return part;
}

/** The content without thoughts and empty parts; nothing if that is all of it. */
function withoutThoughts(content: Content): Content[] {
  const parts = readableParts(content).filter(hasPayload).map(withoutThought);
  return parts.length === 0 ? [] : [{ role: content.role, parts }];
}

/** A call or response that lost its partner is told as text: a bare one is refused by the API. */
function told(part: Part): Part {
  const { functionCall, functionResponse } = part;
  if (functionCall !== undefined)
    return {
      text: `[The tool ${functionCall.name} was called with ${JSON.stringify(functionCall.args ?? {})}; no result is recorded.]`,
    };
  if (functionResponse !== undefined)
    return {
      text: `[The tool ${functionResponse.name} returned ${JSON.stringify(functionResponse.response ?? {})}; its call is not recorded.]`,
    };
  return part;
}

/**
 * Contents as the summariser gets them: without empty parts, thoughts and signatures, and mended; a lonely
 * call or response is told as text. Input is not changed. Only for the summariser: a chat call needs the
 * signatures back.
 */
export const sanitizeHistory = (contents: readonly Content[]): Content[] =>
  repairContents(contents.flatMap(withoutThoughts), told).contents;
