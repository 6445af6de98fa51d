import type { Content, Part } from '../conversation/content.ts';

/** A part with something in it: any payload, known or not, except empty text. */
function hasPayload(part: Part): boolean {
  if (part.text !== undefined && part.text.trim() !== '') return true;
  return Object.entries(part).some(
    ([key, value]) =>
      value !== undefined && key !== 'text' && key !== 'thought' && key !== 'thoughtSignature',
  );
}

/** Calls and responses become objects of their own: pairs are told by them, and a turn may be read twice. */
function withoutThought(whole: Part): Part {
  const isShared =
    whole.functionCall === undefined &&
    whole.functionResponse === undefined &&
    !('thought' in whole || 'thoughtSignature' in whole);
  if (isShared) return whole;
  const { thought: _thought, thoughtSignature: _signature, ...part } = whole;
  return part;
}

/** Neighbours of one role as one content; parts without payload and thoughts are left out. */
function coalesce(contents: readonly Content[]): Content[] {
  const result: Content[] = [];
  for (const { role, parts } of contents) {
    const kept: Part[] = [];
    for (const part of parts)
      if (part.thought !== true && hasPayload(part)) kept.push(withoutThought(part));
    if (kept.length === 0) continue;
    const previous = result.at(-1);
    if (previous?.role === role) previous.parts.push(...kept);
    else result.push({ role, parts: kept });
  }
  return result;
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

/** Which response answers which call: by id where both have one, else by name, in order. */
function pairUp(calls: readonly Part[], answers: readonly Part[]): Map<Part, Part> {
  const pairs = new Map<Part, Part>();
  const free = new Set(answers.filter((part) => part.functionResponse !== undefined));
  for (const call of calls) {
    if (call.functionCall === undefined) continue;
    const { id, name } = call.functionCall;
    for (const answer of free) {
      const response = answer.functionResponse;
      const sameId = id === undefined || response?.id === undefined || response.id === id;
      if (response?.name !== name || !sameId) continue;
      pairs.set(call, answer);
      free.delete(answer);
      break;
    }
  }
  return pairs;
}

const holdsTool = ({ parts }: Content): boolean =>
  parts.some(
    ({ functionCall, functionResponse }) => (functionCall ?? functionResponse) !== undefined,
  );

function withWholePairs(contents: readonly Content[]): Content[] {
  let open = new Map<Part, Part>();
  return contents.map((content, index) => {
    if (open.size === 0 && !holdsTool(content)) return content;
    if (content.role === 'model') {
      const next = contents[index + 1];
      open = pairUp(content.parts, next?.parts ?? []);
      return {
        role: content.role,
        parts: content.parts.map((part) => (open.has(part) ? part : told(part))),
      };
    }
    // Responses come first and in the order of their calls; what the user wrote meanwhile follows.
    const answers = [...open.values()];
    const isAnswer = new Set(answers);
    open = new Map();
    const others = content.parts.filter((part) => !isAnswer.has(part)).map(told);
    return { role: content.role, parts: [...answers, ...others] };
  });
}

/**
 * Contents as the summariser gets them: without empty parts, thoughts and signatures; neighbours of one
 * role joined; every function call followed by its responses, a lonely call or response told as text.
 * Input is not changed. Only for the summariser: a chat call needs the signatures back.
 */
export function curate(contents: readonly Content[]): Content[] {
  return withWholePairs(coalesce(contents));
}
