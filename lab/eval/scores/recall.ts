import MiniSearch from 'minisearch';
import { turnSearch } from '#shared/search/rank-turns.ts';
import { withoutPause } from '#shared/steps.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { aligned, percentage } from '#infra/text-table.ts';
import { scriptOf, type Exchange, type Recording } from '../replay/recording.ts';
import { wantedRecordings, type Scorer } from '../scorer.ts';
import { evidenceOf, evidenceShares } from './recall-evidence.ts';

/** A question, and the turns that hold the evidence of its answer. */
interface RecallProbe {
  id: string;
  question: string;
  evidence: readonly number[];
}

/** A conversation as a search sees it, and what is looked up in it. */
interface RecallCase {
  id: string;
  turns: TurnTexts[];
  probes: RecallProbe[];
}

const maxPartBytes = 900_000;

function textsOf({ userTexts, answerTexts }: Exchange, index: number): TurnTexts {
  const seq = index + 1;
  const messages = [
    { id: `u_${seq}`, role: 'user' as const, text: userTexts.join('\n'), time: new Date(0) },
    { id: `m_${seq}`, role: 'model' as const, text: answerTexts.join('\n'), time: new Date(0) },
  ];
  return {
    seq,
    inContext: true,
    isReplaced: false,
    messages: messages.filter(({ text }) => text !== ''),
    tools: '',
  };
}

const tokensOf = ({ messages }: TurnTexts) =>
  messages.reduce(
    (sum, { role, text }) =>
      sum + estimateContentTokens({ role, parts: [{ text }] }, 'character-class'),
    0,
  );

/** The last turn before a tail of about that size; 0 where all is tail. */
function lastBeforeTail(turns: readonly TurnTexts[], tailTokens: number): number {
  let left = tailTokens;
  let last = turns.length;
  for (const turn of turns.toReversed()) {
    if (left <= 0) return last;
    left -= tokensOf(turn);
    last = turn.seq - 1;
  }
  return last;
}

/** Which turn (from 1) each content of the recording went into. */
const turnsOfContents = (exchanges: readonly Exchange[]): Map<number, number> =>
  new Map(
    exchanges.flatMap(({ recordedIndexes }, index) =>
      recordedIndexes.map((recordedIndex) => [recordedIndex, index + 1] as const),
    ),
  );

/**
 * The turns of a recording, and its probes whose evidence lies wholly before the tail. Those without an answer are left
 * out, and `adversarial` ones, which ask for what was never said.
 */
export function recallCaseOf(recording: Recording, tailTokens: number): RecallCase {
  const { exchanges } = scriptOf(recording, { maxPartBytes });
  const turns = exchanges.map(textsOf);
  const foldedThrough = lastBeforeTail(turns, tailTokens);
  const seqs = turnsOfContents(exchanges);
  const probes = (recording.probes ?? []).flatMap(
    ({ id, question, answer, category, evidenceTurnIndexes }) => {
      if (answer === undefined || answer === null || category === 'adversarial') return [];
      const evidence = (evidenceTurnIndexes ?? []).map((index) => seqs.get(index) ?? Infinity);
      if (evidence.length === 0 || evidence.some((seq) => seq > foldedThrough)) return [];
      return [{ id, question, evidence: [...new Set(evidence)] }];
    },
  );
  return { id: recording.id, turns, probes };
}

/** Makes a conversation searchable; the search gives turns, the best first. */
type Ranker = (turns: readonly TurnTexts[]) => (question: string) => number[];

/** Hits that figures are made of. */
const HITS = 10;

/** As the tool recall_history ranks turns. */
export const ownRanker: Ranker = (turns) => (question) => {
  const search = turnSearch(question, turns.at(-1)?.messages[0]?.time ?? new Date(0));
  for (const turn of turns) withoutPause(search.lookInto(turn));
  return withoutPause(search.hits(HITS)).map(({ seq }) => seq);
};

/** The library with its defaults: one document a turn, question and answer as one text. */
export const libraryRanker: Ranker = (turns) => {
  const index = new MiniSearch({ fields: ['text'] });
  index.addAll(
    turns.map(({ seq, messages }) => ({
      id: seq,
      text: messages.map(({ text }) => text).join('\n'),
    })),
  );
  return (question) =>
    index
      .search(question)
      .slice(0, HITS)
      .map(({ id }) => Number(id));
};

const DEPTHS = [5, 10] as const;
type Depth = (typeof DEPTHS)[number];

/** Probes of which one, and of which every turn of the evidence is among the first hits. */
interface RecallFigure {
  probes: number;
  one: Record<Depth, number>;
  all: Record<Depth, number>;
}

const nothing = (): RecallFigure => ({ probes: 0, one: { 5: 0, 10: 0 }, all: { 5: 0, 10: 0 } });

/** Looks every probe of the conversations up. */
export function recallOf(cases: readonly RecallCase[], ranker: Ranker): RecallFigure {
  const figure = nothing();
  for (const { turns, probes } of cases) {
    const search = ranker(turns);
    for (const { question, evidence } of probes) {
      const hits = search(question);
      figure.probes += 1;
      for (const depth of DEPTHS) {
        const first = new Set(hits.slice(0, depth));
        const found = evidence.filter((seq) => first.has(seq)).length;
        if (found > 0) figure.one[depth] += 1;
        if (found === evidence.length) figure.all[depth] += 1;
      }
    }
  }
  return figure;
}

interface RecallRow {
  name: string;
  own: RecallFigure;
  library: RecallFigure;
}

const isHeldOut = (index: number) => index % 2 === 1;

/** Figures of one file: of the conversations that weights were chosen on, of the held-out ones, of all. */
export function recallRows(
  file: string,
  cases: readonly RecallCase[],
  rankers: { own: Ranker; library: Ranker },
): RecallRow[] {
  const { own, library } = rankers;
  const parts = [
    { name: `${file}, chosen on`, cases: cases.filter((_, index) => !isHeldOut(index)) },
    { name: `${file}, held out`, cases: cases.filter((_, index) => isHeldOut(index)) },
    { name: `${file}, all`, cases },
  ];
  return parts
    .filter((part) => part.cases.length > 0)
    .map((part) => ({
      name: part.name,
      own: recallOf(part.cases, own),
      library: recallOf(part.cases, library),
    }));
}

const measures = DEPTHS.flatMap((depth) =>
  (['one', 'all'] as const).map((kind) => ({ title: `${kind}@${depth}`, depth, kind })),
);

/** One line a part: the share that is found, beside it the library's, and how many times as much that is. */
function recallText(rows: readonly RecallRow[]): string {
  const cells = ({ name, own, library }: RecallRow) => [
    name,
    String(own.probes),
    ...measures.flatMap(({ depth, kind }) => {
      const [mine, theirs] = [own[kind][depth], library[kind][depth]];
      return [
        percentage(mine, own.probes),
        percentage(theirs, own.probes),
        theirs === 0 ? '-' : `${(mine / theirs).toFixed(2)}x`,
      ];
    }),
  ];
  const titles = [
    'conversations',
    'probes',
    ...measures.flatMap(({ title }) => [title, 'library', '']),
  ];
  return aligned([titles, ...rows.map(cells)]);
}

/** How often a search for a question, and automatic recall, find the turns that hold the evidence. */
export const scoreRecall: Scorer = (settings, files) => {
  const rows: RecallRow[] = [];
  for (const file of files) {
    const cases = wantedRecordings(settings, [file])
      .map((recording) => recallCaseOf(recording, settings.tailTokens))
      .filter(({ probes }) => probes.length > 0);
    rows.push(...recallRows(file.name, cases, { own: ownRanker, library: libraryRanker }));
  }
  const found = evidenceOf(wantedRecordings(settings, files));
  const evidence = evidenceShares(found);
  const text = [
    recallText(rows),
    `automatic recall: evidence within 800 characters ${evidence[800]}, within 1,500 ${evidence[1500]} (${found.questions} questions)`,
  ].join('\n');
  return Promise.resolve({ text, figures: { rows, evidence }, isGood: true });
};
