import type { Candidate, Line } from '../summaries/ledger-lines.ts';
import { weighFacts } from '../answers/facts.ts';
import { splitSentences } from '../answers/sentences.ts';

/** Lines that belong together, and the sentences that they are made of. */
interface Records {
  records: Candidate[];
  sentences: ReadonlySet<string>;
}

const field = /^\s*(?:[-*•]\s*|\d+\.\s+)?["*]*([\p{L}][\p{L}\p{N} _-]{1,30})["*]*:["*]*\s+\S/u;
const longestField = 100;
const longestHeading = 80;
const longestRecord = 250;
const fewestFields = 2;

interface OpenRecord {
  lines: Line[];
  keys: Set<string>;
  /** The key that its first record began with: where it comes again, another thing is told of. */
  starter: string;
}

const measureRecord = ({ lines }: OpenRecord): number =>
  lines.reduce((sum, { text }) => sum + text.trim().length + 2, 0);

const readKey = ({ text }: Line): string | undefined =>
  text.length <= longestField ? field.exec(text)?.[1] : undefined;

const isSameUtterance = (one: Line | undefined, other: Line): boolean =>
  one?.seq === other.seq && one?.saidBy === other.saidBy;

/** The record that a line goes on with, if it does: one that is full goes on in another, with the keys it has seen. */
function recordFor(line: Line, key: string, open: OpenRecord | undefined): OpenRecord | undefined {
  if (open === undefined || !isSameUtterance(open.lines[0], line)) return undefined;
  const { keys, starter } = open;
  if (keys.has(key) || key === starter) return { lines: [], keys: new Set(), starter };
  const isFull = measureRecord(open) + line.text.length > longestRecord;
  return isFull ? { lines: [], keys: new Set(keys), starter } : open;
}

function toCandidate({ lines }: OpenRecord): Candidate {
  const { saidBy, seq } = lines[0] ?? { saidBy: 'tool', seq: undefined };
  const text = lines
    .flatMap((line) => splitSentences(line.text.replace(/^\s*\d+\.\s+/u, '')))
    .map((part) => part.replaceAll('**', '').replace(/[,;:]$/u, ''))
    .join(', ');
  const sources = seq === undefined ? [] : [seq];
  return { text, quote: '', saidBy, sources, facts: weighFacts(text), isRule: false };
}

const isHeading = (above: Line, line: Line): boolean =>
  isSameUtterance(above, line) &&
  above.text.trim().length <= longestHeading &&
  /\p{L}/u.test(above.text);

/** Lines `price: 5` that follow each other, brought together with the heading above them: apart nobody knows whose they are. */
export function readRecords(lines: readonly Line[]): Records {
  const all: OpenRecord[] = [];
  let open: OpenRecord | undefined;
  let above: Line | undefined;
  for (const line of lines) {
    const key = readKey(line);
    if (key !== undefined && line.saidBy !== 'user') {
      const headed = above !== undefined && isHeading(above, line) ? [above] : [];
      const record = recordFor(line, key, open) ?? {
        lines: headed,
        keys: new Set<string>(),
        starter: key,
      };
      if (record !== open) all.push(record);
      open = record;
      open.lines.push(line);
      open.keys.add(key);
      above = undefined;
    } else if (line.text.trim() !== '') {
      open = undefined;
      above = line;
    }
  }
  const records = all.filter((record) => record.lines.length >= fewestFields);
  const sentences = records.flatMap((record) =>
    record.lines.flatMap(({ text }) => splitSentences(text)),
  );
  const byText = new Map(records.map(toCandidate).map((record) => [record.text, record]));
  return { records: [...byText.values()], sentences: new Set(sentences) };
}
