import type { DocumentFields } from '#shared/ports/ports.ts';
import { segmentOfPassages, type Passage } from '#shared/recall/segment.ts';
import { shortened } from '#shared/recall/shorten-messages.ts';
import { DOCUMENT_BYTES, packSegment } from './segment-document.ts';

/**
 * UTF-16 units of all texts: what repeats itself compresses to next to nothing, and must be unpacked all the same. As JSON
 * at most six bytes each, so that every reader takes it (`UNPACKED_BYTES`).
 */
const SEGMENT_CHARACTERS = 4_000_000;

/** What is left out of too large a segment may compress better than what stays. */
const SAFETY = 0.9;
const TRIES = 6;

/** The passages as a document, the longest messages shortened until it fits. */
export function fittingSegment(passages: readonly Passage[], throughSeq: number): DocumentFields {
  let shown: readonly Passage[] = shortened(passages, SEGMENT_CHARACTERS);
  for (let tries = 1; ; tries++) {
    const { fields, bytes } = packSegment(segmentOfPassages(shown), throughSeq);
    if (bytes <= DOCUMENT_BYTES) return fields;
    // Never so: half of a MiB of random letters is left after the third.
    if (tries === TRIES) throw new RangeError(`a segment of recall takes ${bytes} bytes`);
    const characters = shown.reduce((sum, { text }) => sum + text.length, 0);
    shown = shortened(shown, Math.floor((SAFETY * characters * DOCUMENT_BYTES) / bytes));
  }
}
