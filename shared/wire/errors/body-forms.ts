/* What fields of a message look like, for whoever sent something else. */

const TEXT_PART = '{"type":"text","text":"…"}';
const FILE_PART = '{"type":"file","mediaType":"image/png","data":"<base64>"}';

/** Where a message stands: our own requests have it, and the `data` of a callable. */
const PREFIX = String.raw`^(data\.)?`;

/** Fields, and what is given for each. */
const kinds: readonly [field: RegExp, kind: string][] = [
  [new RegExp(`${PREFIX}message$`), `an object such as {"id":"<UUID>","parts":[${TEXT_PART}]}`],
  [new RegExp(String.raw`${PREFIX}message\.id$`), 'a UUID that the app draws'],
  [new RegExp(`${PREFIX}conversationId$`), 'a UUID, version 4 or 7, that the app draws'],
  [new RegExp(String.raw`${PREFIX}message\.parts$`), `a list such as [${TEXT_PART}]`],
  [new RegExp(String.raw`${PREFIX}message\.parts\[\d+\]$`), `an object such as ${TEXT_PART}`],
];

/** What a field takes, more closely than its type says; undefined for most fields. */
export const kindByField = (field: string): string | undefined =>
  kinds.find(([pattern]) => pattern.test(field))?.[1];

const PART_TYPE = new RegExp(String.raw`${PREFIX}message\.parts\[\d+\]\.type$`);

/** A sentence with the forms of parts where `field` is the type of one; else ''. */
export const partForms = (field: string): string =>
  PART_TYPE.test(field) ? ` Parts are ${TEXT_PART} and, for pictures and files, ${FILE_PART}.` : '';
