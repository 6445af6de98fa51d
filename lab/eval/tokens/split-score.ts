/**
 * How often a split policy begins the tail where the topic changes. Places were marked by reading public
 * conversations; the file of marks names them by id and exchange alone. Without the data nothing is scored.
 *
 *   node lab/eval/tokens/split-score.ts [directory of the conversations, default ../shared/data]
 */
import {
  sizedTurn,
  type SizedTurn,
  tailStart,
  type TailLimits,
} from '#shared/compaction/split-by-tail.ts';
import { adaptiveStart } from '#shared/compaction/split-by-topic.ts';
import {
  contentSchema,
  hasFunctionResponse,
  type Content,
} from '#shared/conversation/documents/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { nothingCovered } from '#shared/conversation/writes/next-generation.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const marksSchema = z.array(
  z.object({
    file: z.string(),
    id: z.string(),
    /** As far as it was read; absent = all. */
    exchanges: z.number().int().positive().optional(),
    /** Exchanges (from 1) with which a new topic begins. */
    marks: z.array(z.number().int().positive()),
  }),
);
type Marked = z.infer<typeof marksSchema>[number];

const conversationSchema = z.object({ id: z.string(), turns: z.array(contentSchema) });

/** Exchanges that a tail of the target's size holds, on the average. */
const TAIL_EXCHANGES = 6;
/** As the defaults have it: 4,000 of 24,000, a cap of a quarter. */
const CAP_FACTOR = 1.5;
const MINIMUM_FRACTION = 0.25;

/** Dates and session numbers would tell where topics change. */
const isStamp = (text: string | undefined) => text !== undefined && /^\[[^\]]*\]$/.test(text);

const withoutStamps = (content: Content): Content => ({
  ...content,
  parts: content.parts.filter(({ text }) => !isStamp(text)),
});

function turnsOf(contents: readonly Content[]): Turn[] {
  const turns: Turn[] = [];
  for (const content of contents.map(withoutStamps)) {
    const last = turns.at(-1);
    if (last && (content.role === 'model' || hasFunctionResponse(content)))
      last.contents.push(content);
    else if (content.role === 'user')
      turns.push({
        schemaVersion: 1,
        seq: turns.length + 1,
        messageId: String(turns.length + 1),
        state: 'done',
        attempt: 1,
        producer: 'score',
        leaseUntil: new Date(0),
        createTime: new Date(0),
        tokens: { user: 0, answer: 0 },
        inContext: true,
        user: content,
        contents: [],
      });
  }
  return turns;
}

function readConversation(directory: string, { file, id, exchanges }: Marked): Turn[] {
  const lines = readFileSync(join(directory, file), 'utf8').split('\n');
  for (const line of lines) {
    if (!line.includes(JSON.stringify(id))) continue;
    const conversation = conversationSchema.parse(JSON.parse(line));
    if (conversation.id === id) return turnsOf(conversation.turns).slice(0, exchanges);
  }
  throw new Error(`${file} has no conversation ${id}`);
}

const policies: Record<
  string,
  (turns: readonly Turn[], sizes: readonly SizedTurn[], limits: TailLimits) => number
> = {
  'tail-tokens': (_, sizes, limits) => tailStart(sizes, limits),
  adaptive: adaptiveStart,
};

interface Score {
  splits: number;
  exact: number;
  /** One exchange away at most. */
  near: number;
  /** Sum of what a blind choice among the places between half of the target and the cap would get. */
  chance: number;
}

/** The share of the places that a policy may choose from which are marked. */
function chanceOf(
  sizes: readonly SizedTurn[],
  { limits, marks }: { limits: TailLimits; marks: ReadonlySet<number> },
): number {
  let tokens = 0;
  const places: number[] = [];
  for (const { seq, tokens: own } of sizes.toReversed()) {
    tokens += own;
    if (tokens > limits.capTokens) break;
    if (tokens >= limits.targetTokens / 2) places.push(seq);
  }
  return places.filter((seq) => marks.has(seq)).length / Math.max(1, places.length);
}

/** Splits the conversation as it stood at each of its ends, once it is longer than twice the cap. */
function scoreConversation(marked: Marked, turns: readonly Turn[]): Record<string, Score> {
  const marks = new Set(marked.marks);
  const options = { covered: nothingCovered, counting: { rule: 'character-class' } } as const;
  const all = turns.map((turn) => sizedTurn(turn, options));
  const meanTokens = all.reduce((sum, { tokens }) => sum + tokens, 0) / all.length;
  const targetTokens = TAIL_EXCHANGES * meanTokens;
  const limits = {
    targetTokens,
    capTokens: CAP_FACTOR * targetTokens,
    turnCapTokens: CAP_FACTOR * targetTokens,
    minimumTokens: MINIMUM_FRACTION * targetTokens,
  };
  const first = Math.ceil(2 * CAP_FACTOR * TAIL_EXCHANGES);
  const scores: Record<string, Score> = {};
  for (const [name, start] of Object.entries(policies)) {
    const score: Score = { splits: 0, exact: 0, near: 0, chance: 0 };
    for (let end = first; end <= turns.length; end++) {
      const sizes = all.slice(0, end);
      const seq = sizes[start(turns.slice(0, end), sizes, limits)]?.seq ?? 0;
      score.splits += 1;
      if (marks.has(seq)) score.exact += 1;
      if ([seq - 1, seq, seq + 1].some((place) => marks.has(place))) score.near += 1;
      score.chance += chanceOf(sizes, { limits, marks });
    }
    scores[name] = score;
  }
  return scores;
}

const percent = (part: number, whole: number) =>
  `${((100 * part) / whole).toFixed(0)} %`.padStart(6);

function main(directory: string): void {
  const marksFile = new URL('../marks/topic-changes.json', import.meta.url);
  const marked = marksSchema.parse(JSON.parse(readFileSync(marksFile, 'utf8')));
  const found = marked.filter(({ file }) => existsSync(join(directory, file)));
  if (found.length === 0) {
    console.log(`No conversations in ${directory}: nothing is scored.`);
    return;
  }
  const totals: Record<string, Score> = {};
  console.log('conversation          policy        splits  exact   ±1   blind');
  const print = (id: string, name: string, { splits, exact, near, chance }: Score) =>
    console.log(
      `${id.padEnd(21)} ${name.padEnd(12)} ${String(splits).padStart(7)} ${percent(exact, splits)} ${percent(near, splits)} ${percent(chance, splits)}`,
    );
  for (const conversation of found) {
    const scores = scoreConversation(conversation, readConversation(directory, conversation));
    for (const [name, score] of Object.entries(scores)) {
      print(conversation.id, name, score);
      const total = (totals[name] ??= { splits: 0, exact: 0, near: 0, chance: 0 });
      total.splits += score.splits;
      total.exact += score.exact;
      total.near += score.near;
      total.chance += score.chance;
    }
  }
  for (const [name, total] of Object.entries(totals)) print('all', name, total);
}

main(process.argv[2] ?? '../shared/data');
