import { AppError } from '#shared/lib/errors.ts';
import { JSON_DEPTH_MAX, JSON_FIELDS_MAX, JSON_VALUES_MAX } from '#shared/lib/limits.ts';

const badJson = (publicMessage: string, cause?: unknown) =>
  new AppError({
    reason: 'BAD_JSON',
    publicMessage,
    cause,
  });

/**
 * Refuses what would cost more memory and time than its bytes say: JSON that nests too deep, holds more values than
 * JSON_VALUES_MAX, or an object of more than JSON_FIELDS_MAX fields. One pass over the text, which ends at the bound. Every
 * value but the first of an array or object stands behind a comma, so commas and opening brackets are at least as many as
 * the values.
 */
function refuseUnbounded(text: string): void {
  let depth = 0;
  let values = 1;
  let inString = false;
  /** Colons behind each opening bracket that is not closed yet; those of an object are its fields. */
  const fields = [0];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === ',') values++;
    else if (character === ':') {
      const count = (fields[depth] ?? 0) + 1;
      fields[depth] = count;
      if (count > JSON_FIELDS_MAX)
        throw badJson(
          `The body holds an object of more than ${JSON_FIELDS_MAX} fields. Send fewer, or a list.`,
        );
    } else if (character === '}' || character === ']') depth = Math.max(0, depth - 1);
    else if (character === '{' || character === '[') {
      values++;
      depth++;
      fields[depth] = 0;
    }
    if (depth > JSON_DEPTH_MAX)
      throw badJson(`The body is nested deeper than ${JSON_DEPTH_MAX} levels. Flatten it.`);
    if (values > JSON_VALUES_MAX)
      throw badJson(
        `The body holds more than ${JSON_VALUES_MAX} values. Send fewer entries and fields in one request.`,
      );
  }
}

/** `__proto__` as a key would reach the prototype of whatever copies the object later. */
function refusePrototype(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__'))
    throw badJson('`__proto__` is not a field of this request. Remove it.');
  for (const inner of Object.values(value)) refusePrototype(inner);
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
 * nested deeper than JSON_DEPTH_MAX, holds more than JSON_VALUES_MAX values or JSON_FIELDS_MAX fields in one
 * object, or names `__proto__`; the message repeats
 * nothing of the text.
 */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === '') return {};
  refuseUnbounded(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const advice = 'Send one JSON object, encoded as UTF-8; files go through POST /v1/uploads.';
    throw badJson(`The body is not valid JSON.${placeOf(error)} ${advice}`, error);
  }
  refusePrototype(value);
  return value;
}
