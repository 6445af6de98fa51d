import { AppError } from '../errors.ts';
import { JSON_DEPTH_MAX } from './limits.ts';

const badJson = (publicMessage: string, cause?: unknown) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_JSON',
    message: 'the body of a request is not usable JSON',
    publicMessage,
    cause,
  });

/** The deepest nesting of brackets outside strings; one pass, whatever the text is. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth--;
  }
  return deepest;
}

/** `__proto__` as a key would reach the prototype of whatever copies the object later. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw badJson('`__proto__` is not a field of this request. Remove it.');
  return value;
}

/** Where JSON breaks off, in the words of V8, whose messages may quote the text; '' where it does not say. */
function placeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  if (line !== undefined) return ` Look at line ${line}, column ${column}.`;
  return message.startsWith('Unexpected end') ? ' It ends too early.' : '';
}

/**
 * The value of a request body; an empty body is `{}`. Throws AppError BAD_JSON for what is not JSON, is
 * nested deeper than JSON_DEPTH_MAX, or names `__proto__`; the message repeats nothing of the text.
 */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === '') return {};
  if (nestingOf(text) > JSON_DEPTH_MAX)
    throw badJson(`The body is nested deeper than ${JSON_DEPTH_MAX} levels. Flatten it.`);
  try {
    const value: unknown = JSON.parse(text, refusePrototype);
    return value;
  } catch (error) {
    if (error instanceof AppError) throw error;
    const advice = 'Send one JSON object, encoded as UTF-8.';
    throw badJson(`The body is not valid JSON.${placeOf(error)} ${advice}`, error);
  }
}
