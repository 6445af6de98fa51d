import type { Part } from '../documents/content.ts';
import type { RepairCounter } from './repairs.ts';

/** Keys beside the payload of a part. */
const BESIDE: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'partMetadata',
]);

/** As declarations may be named (Gemini API, `FunctionDeclaration.name`). */
export const NAME = /^[A-Za-z_][\w.:-]{0,63}$/u;
/** Of a function name; later models take 128, every one takes these. */
const NAME_CHARACTERS = 64;

/** A name that the API takes; the same for the same name, so that pairs stay pairs. */
function repairedName(name: string): string {
  const known = name.replaceAll(/[^\w.:-]/gu, '_');
  return (/^[A-Za-z_]/u.test(known) ? known : `_${known}`).slice(0, NAME_CHARACTERS);
}

const payloadKeys = (part: Part): string[] =>
  Object.entries(part).flatMap(([key, value]) =>
    value === undefined || BESIDE.has(key) ? [] : [key],
  );

/**
 * Whether there is something in a part. A signature may come with an empty text, and goes back as it came.
 */
const hasPayload = (part: Part): boolean =>
  payloadKeys(part).some(
    (key) => key !== 'text' || part.text !== '' || part.thoughtSignature !== undefined,
  );

/** What a part is for, the most telling first: of two payloads one may stand. */
const PRECEDENCE = ['functionCall', 'functionResponse', 'text', 'inlineData', 'fileData'] as const;

function withOnePayload(part: Part, repairs: RepairCounter): Part {
  const found = PRECEDENCE.filter((key) => part[key] !== undefined);
  const [first] = part.text === '' ? found.filter((key) => key !== 'text') : found;
  if (found.length < 2 || first === undefined) return part;
  repairs.add('payload');
  const others = new Set<string>(found.filter((key) => key !== first));
  return Object.fromEntries(Object.entries(part).filter(([key]) => !others.has(key)));
}

function withName(part: Part, repairs: RepairCounter): Part {
  const { functionCall, functionResponse } = part;
  const name = (functionCall ?? functionResponse)?.name;
  if (name === undefined || NAME.test(name)) return part;
  repairs.add('name');
  const mended = repairedName(name);
  return {
    ...part,
    ...(functionCall && { functionCall: { ...functionCall, name: mended } }),
    ...(functionResponse && { functionResponse: { ...functionResponse, name: mended } }),
  };
}

/** Whether all strings in a value are whole characters, names of fields included. */
export function isWellFormedValue(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (!Object.keys(value).every((key) => key.isWellFormed())) return false;
  return Object.values(value).every(isWellFormedValue);
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]),
  );
}

function withWholeCharacters(part: Part, repairs: RepairCounter): Part {
  if (isWellFormedValue(part)) return part;
  repairs.add('surrogate');
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, wellFormed(value)]));
}

/**
 * A part as the API takes it: one payload, a possible function name, whole characters. Undefined for one
 * without payload; the same object where nothing is wrong.
 */
export function repairPart(part: Part, repairs: RepairCounter): Part | undefined {
  if (hasPayload(part))
    return withWholeCharacters(withName(withOnePayload(part, repairs), repairs), repairs);
  repairs.add('empty');
  return undefined;
}
