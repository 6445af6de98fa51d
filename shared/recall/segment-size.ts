import { utf8Length } from '../store/names.ts';
import type { Segment } from './segment.ts';

/** Bytes of a passage and of a term beside their texts; generous. */
const PASSAGE_BYTES = 120;
const TERM_BYTES = 40;

/** About what a segment takes in memory, bytes. */
export const segmentSize = ({ passages, terms, packed }: Segment): number =>
  passages.reduce((sum, { text }) => sum + PASSAGE_BYTES + utf8Length(text), 0) +
  terms.length * TERM_BYTES +
  packed.length;
