import type { Content, Part } from '../conversation/content.ts';

/** A part with something in it: any payload, known or not, except empty text. */
function hasPayload(part: Part): boolean {
  return Object.entries(part).some(([key, value]) => {
    if (value === undefined || key === 'thought' || key === 'thoughtSignature') return false;
    return key !== 'text' || (typeof value === 'string' && value.trim() !== '');
  });
}

function withoutThoughts(parts: readonly Part[]): Part[] {
  return parts
    .filter((part) => part.thought !== true && hasPayload(part))
    .map(({ thought: _thought, thoughtSignature: _signature, ...part }) => part);
}

function coalesce(contents: readonly Content[]): Content[] {
  const result: Content[] = [];
  for (const { role, parts } of contents) {
    if (parts.length === 0) continue;
    const previous = result.at(-1);
    if (previous?.role === role) previous.parts.push(...parts);
    else result.push({ role, parts: [...parts] });
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

function withWholePairs(contents: readonly Content[]): Content[] {
  let open = new Map<Part, Part>();
  return contents.map((content, index) => {
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
  const clean = contents.map(({ role, parts }): Content => ({
    role,
    parts: withoutThoughts(parts),
  }));
  return withWholePairs(coalesce(clean));
}
