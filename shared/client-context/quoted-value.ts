import { neutraliseTags } from '../compaction/snapshot/neutralise-tags.ts';

/** Line ends that JSON does not escape. */
const lineEnds = /[\u0085\u2028\u2029]/g;

/**
 * A value as JSON on one line, so that no text of it can pose as a line beside it; and without tags of the snapshot's
 * format.
 */
export const quotedValue = (value: string | object): string =>
  neutraliseTags(
    JSON.stringify(value).replaceAll(
      lineEnds,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
